import django.db.models.deletion
from django.db import migrations, models

import workspaces.ids
import workspaces.tenancy
from workspaces.fences import TenantTable


class Migration(migrations.Migration):
    """What a child run was started as."""

    dependencies = [("runs", "0008_kept_sentences"), ("workspaces", "0004_api_tokens")]

    operations = [
        migrations.CreateModel(
            name="Subagent",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=workspaces.ids.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("call_id", models.CharField(max_length=200)),
                ("depth", models.PositiveSmallIntegerField(default=1)),
                ("name", models.CharField(max_length=200)),
                ("description", models.CharField(blank=True, max_length=300)),
                ("prompt", models.TextField()),
                ("background", models.BooleanField(default=False)),
                ("posture", models.CharField(blank=True, max_length=16)),
                ("isolation", models.CharField(blank=True, max_length=10)),
                ("dialect", models.CharField(max_length=12)),
                ("path", models.CharField(blank=True, max_length=400)),
                ("text", models.TextField(blank=True)),
                ("standing", models.CharField(blank=True, max_length=12)),
                ("session_agents", models.TextField(blank=True)),
                ("surface", models.JSONField(default=list)),
                ("worktrees", models.JSONField(default=list)),
                (
                    "parent",
                    workspaces.tenancy.TenantKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
                (
                    "run",
                    workspaces.tenancy.TenantOneToOne(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subagent",
                        to="runs.run",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="workspaces.workspace",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["parent", "call_id"], name="subagent_once_a_call"
                    )
                ],
            },
        ),
        TenantTable("Subagent"),
    ]
