from django.db import migrations

from workspaces.fences import TenantTable


class Migration(migrations.Migration):
    """The room's tables behind their fences."""

    dependencies = [("guardrails", "0001_initial"), ("spaces", "0002_fences")]

    operations = [
        TenantTable("Rule"),
        TenantTable("Approval"),
        TenantTable("Autonomy"),
        TenantTable("ApprovalSettings"),
    ]
