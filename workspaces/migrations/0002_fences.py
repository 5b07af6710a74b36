from django.db import migrations

from workspaces.fences import USER, TenantTable

GRANTS = """
GRANT USAGE ON SCHEMA public TO cc_app, cc_system;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO cc_app, cc_system;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO cc_app, cc_system;
REVOKE INSERT, UPDATE, DELETE ON django_migrations FROM cc_app, cc_system;
ALTER DEFAULT PRIVILEGES IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO cc_app, cc_system;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO cc_app, cc_system;
"""

MINE = f"SELECT workspace_id FROM workspaces_membership WHERE user_id = {USER} AND is_active"


class Migration(migrations.Migration):
    """Who may touch what: grants for every table, fences for the tenant tables."""

    dependencies = [("workspaces", "0001_initial")]

    operations = [
        migrations.RunSQL(GRANTS, migrations.RunSQL.noop),
        TenantTable("Workspace", key="id", own=f"id IN ({MINE})"),
        TenantTable("Principal"),
        TenantTable("Membership", own=f"user_id = {USER}"),
        TenantTable("Invitation"),
        TenantTable("ApiToken", own=f"user_id = {USER}"),
        TenantTable("Credential"),
        TenantTable("ModelConnection"),
        TenantTable("AuditEntry", rights="SELECT, INSERT"),
        TenantTable("AuditSeal", rights="SELECT, INSERT"),
    ]
