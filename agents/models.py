"""The agent: its row. Its directory on disk is written by `agents.mirror`."""

import re
from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from workspaces.models import Principal, handle_validator
from workspaces.tenancy import TenantKey, TenantModel, TenantOneToOne

from . import definitions  # noqa: F401 (the rows of the library)

BUILT_IN = "cc-harness"
MOST_CHARACTERS = 200_000  # of a persona or of instructions: they stand in every prompt


NOT_STORABLE = re.compile("[\0\ud800-\udfff]")
TEXTS = ("name", "title", "persona", "system_prompt", "adapter_id", "model_id", "effort")


def is_storable(value: object) -> bool:
    """Whether PostgreSQL and a UTF-8 file can hold the text, or all text in the mapping or list."""
    if isinstance(value, str):
        return not NOT_STORABLE.search(value)
    if isinstance(value, dict):
        return all(is_storable(key) and is_storable(inner) for key, inner in value.items())
    return all(map(is_storable, value)) if isinstance(value, list | tuple) else True


class Agent(TenantModel):
    """A name, a persona, a set of skills and an adapter. It stores no state of its own."""

    class Lifecycle(models.TextChoices):
        ACTIVE = "active", _("Active")
        PAUSED = "paused", _("Paused")
        ARCHIVED = "archived", _("Archived")

    principal = TenantOneToOne(
        Principal, null=True, blank=True, on_delete=models.PROTECT, related_name="agent"
    )
    name = models.CharField(max_length=63, blank=True, validators=[handle_validator])
    title = models.CharField(max_length=120, blank=True)
    persona = models.TextField(blank=True, validators=[MaxLengthValidator(MOST_CHARACTERS)])
    system_prompt = models.TextField(blank=True, validators=[MaxLengthValidator(MOST_CHARACTERS)])
    adapter_id = models.CharField(max_length=60, null=True, blank=True)  # noqa: DJ001 null means the built-in loop
    model_id = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 null means the default
    effort = models.CharField(max_length=20, null=True, blank=True)  # noqa: DJ001 null means the model's own
    context_size = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    silence_timeout_minutes = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(240)]
    )
    reports_to = TenantKey(
        Principal, null=True, blank=True, on_delete=models.SET_NULL, related_name="agent_reports"
    )
    lifecycle = models.CharField(max_length=8, choices=Lifecycle.choices, default=Lifecycle.ACTIVE)
    unknown_keys = models.JSONField(default=dict, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "created_at"]
        constraints = [
            models.UniqueConstraint(
                "workspace",
                Lower("name"),
                condition=~models.Q(name=""),
                name="agent_name_any_case",
            ),
            models.CheckConstraint(
                condition=models.Q(silence_timeout_minutes__isnull=True)
                | models.Q(silence_timeout_minutes__range=(1, 240)),
                name="agent_silence_1_to_240",
            ),
            models.CheckConstraint(
                condition=models.Q(context_size__isnull=True) | models.Q(context_size__gt=0),
                name="agent_context_size_positive",
            ),
            models.CheckConstraint(
                condition=(models.Q(name="") & models.Q(principal__isnull=True))
                | (~models.Q(name="") & models.Q(principal__isnull=False)),
                name="agent_named_has_principal",
            ),
        ]

    def __str__(self) -> str:
        return self.name or str(_("Unnamed agent"))

    def clean_fields(self, exclude: Collection[str] | None = None) -> None:
        """Also refuses a fraction, which Django would cut off in silence, and text that no
        database and no file can hold."""
        for name in ("context_size", "silence_timeout_minutes"):
            if isinstance(getattr(self, name), float | bool):
                raise ValidationError({name: _("A whole number, please.")})
        for name in (*TEXTS, "unknown_keys"):
            if not is_storable(getattr(self, name)):
                raise ValidationError({name: _("A character in it cannot be stored.")})
        super().clean_fields(exclude)

    @property
    def is_draft(self) -> bool:
        return not self.name

    @property
    def adapter(self) -> str:
        """The adapter that executes its runs; none chosen means the built-in loop."""
        return self.adapter_id or BUILT_IN

    @property
    def is_dispatchable(self) -> bool:
        return not self.is_draft and self.lifecycle == self.Lifecycle.ACTIVE


class AgentSkill(TenantModel):
    """A skill name that the agent holds; the same name in another case is the same member."""

    agent = TenantKey(Agent, on_delete=models.CASCADE, related_name="skill_names")
    key = models.CharField(max_length=64)
    display = models.CharField(max_length=64)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "key"]
        constraints = [models.UniqueConstraint(fields=["agent", "key"], name="agentskill_key")]

    def __str__(self) -> str:
        return self.display
