from django.db import migrations

from workspaces.fences import TenantTable


class Migration(migrations.Migration):
    """The tables of repository skills behind their fences."""

    dependencies = [
        ("repositories", "0004_repository_skills"),
    ]

    operations = [
        TenantTable("ActiveRepository"),
        TenantTable("SkillScan"),
        TenantTable("SkillVerdict"),
        TenantTable("SkillAcceptance"),
    ]
