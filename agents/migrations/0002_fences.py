from django.db import migrations

from workspaces.fences import TenantTable


class Migration(migrations.Migration):
    """The room's tables behind their fences."""

    dependencies = [("agents", "0001_initial"), ("skills", "0002_fences")]

    operations = [
        TenantTable("Agent"),
        TenantTable("AgentSkill"),
    ]
