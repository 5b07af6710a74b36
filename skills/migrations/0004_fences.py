from django.db import migrations

from workspaces.fences import TenantReference, TenantTable


class Migration(migrations.Migration):
    """The new tables and references behind their fences."""

    dependencies = [("skills", "0003_sources_and_requests"), ("workspaces", "0002_fences")]

    operations = [
        TenantTable("SkillSource"),
        TenantTable("SkillListing"),
        TenantTable("SkillRequest"),
        TenantTable("SkillRules"),
        TenantReference("Skill", "source_id", "skills.SkillSource"),
        TenantReference("Skill", "accepted_by_id", "workspaces.Principal"),
    ]
