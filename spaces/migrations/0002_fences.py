from django.db import migrations

from workspaces.fences import TenantTable


class Migration(migrations.Migration):
    """The room's tables behind their fences."""

    dependencies = [("spaces", "0001_initial"), ("agents", "0002_fences")]

    operations = [
        TenantTable("Space"),
        TenantTable("Participant"),
        TenantTable("Conversation"),
        TenantTable("Message"),
        TenantTable("Mention"),
    ]
