"""The skills that a workspace holds, each with the verdict that let it in."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from workspaces.models import handle_validator
from workspaces.tenancy import TenantModel


class Skill(TenantModel):
    """A skill directory `skills/<slug>/` of the workspace."""

    class Origin(models.TextChoices):
        SEEDED = "seeded", _("Came with the workspace")
        LOCAL = "local", _("Written here")
        SOURCE = "source", _("Installed from a source")

    slug = models.CharField(max_length=64, validators=[handle_validator])
    description = models.CharField(max_length=1024, blank=True)
    origin = models.CharField(max_length=8, choices=Origin.choices)
    verdict = models.CharField(max_length=12)
    digest = models.CharField(max_length=80)
    ruleset = models.CharField(max_length=80, blank=True)
    installed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["slug"]
        constraints = [models.UniqueConstraint(fields=["workspace", "slug"], name="skill_slug")]

    def __str__(self) -> str:
        return self.slug

    @property
    def is_usable(self) -> bool:
        """Whether its text may reach a directory or a prompt."""
        return self.verdict in {"pass", "warn"}
