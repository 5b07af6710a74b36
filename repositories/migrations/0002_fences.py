from django.db import migrations

from workspaces.fences import TenantTable


class Migration(migrations.Migration):
    """The room's tables behind their fences."""

    dependencies = [
        ("repositories", "0001_initial"),
        ("guardrails", "0002_fences"),
        ("spaces", "0002_fences"),
        ("workspaces", "0002_fences"),
    ]

    operations = [
        TenantTable("Repository"),
        TenantTable("SpaceRepository"),
        TenantTable("Checkout"),
        TenantTable("PushRequest"),
    ]
