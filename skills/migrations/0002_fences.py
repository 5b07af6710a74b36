from django.db import migrations

from workspaces.fences import TenantTable


class Migration(migrations.Migration):
    """The room's tables behind their fences."""

    dependencies = [("skills", "0001_initial"), ("workspaces", "0002_fences")]

    operations = [
        TenantTable("Skill"),
    ]
