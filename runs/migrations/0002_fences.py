from django.db import migrations

from workspaces.fences import TenantReference, TenantTable


class Migration(migrations.Migration):
    """The room's tables behind their fences."""

    dependencies = [("runs", "0001_initial"), ("spaces", "0002_fences")]

    operations = [
        TenantTable("Run"),
        TenantTable("RunCursor"),
        TenantTable("RunEvent", rights="SELECT, INSERT, DELETE"),
        TenantReference("spaces.Message", "run_id", "runs.Run", on_delete="SET NULL (run_id)"),
    ]
