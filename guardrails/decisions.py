"""The words of a rule: what it decides, where, how firmly, and how freely an agent acts."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Decision(models.TextChoices):
    ALLOW = "allow", _("Allow")
    ASK = "ask", _("Ask first")
    DENY = "deny", _("Deny")

    @classmethod
    def parse(cls, value: str) -> "Decision":
        """The decision of that name; a word that nobody knows asks."""
        return cls(value) if value in cls.values else cls.ASK

    @property
    def strictness(self) -> int:
        """0 allow, 1 ask, 2 deny."""
        return _STRICTNESS[self]


_STRICTNESS = {Decision.ALLOW: 0, Decision.ASK: 1, Decision.DENY: 2}


class Scope(models.TextChoices):
    """Where a stored rule holds, narrowest first: the order in which scopes are asked."""

    SPACE = "space", _("Space")
    AGENT = "agent", _("Agent")
    WORKSPACE = "workspace", _("Workspace")


class Level(models.TextChoices):
    """How firmly a rule binds.

    A *hard* deny holds in every narrower scope. A *soft* one yields to a rule of a narrower
    scope. An *advisory* rule never decides; that it would have is recorded.
    """

    ADVISORY = "advisory", _("Advisory")
    SOFT = "soft", _("Soft")
    HARD = "hard", _("Hard")


class Provenance(models.TextChoices):
    USER = "user", _("Written by a person")
    REMEMBERED = "remembered", _("From an approval")
    MANAGED = "managed", _("From the operator")


class AutonomyLevel(models.TextChoices):
    PROPOSE_ONLY = "propose_only", _("Propose only")
    ACT_WITH_APPROVAL = "act_with_approval", _("Act with approval")
    ACT_FREELY = "act_freely", _("Act freely")

    @property
    def freedom(self) -> int:
        """0 propose only … 2 act freely."""
        return _FREEDOM[self]


_FREEDOM = {
    AutonomyLevel.PROPOSE_ONLY: 0,
    AutonomyLevel.ACT_WITH_APPROVAL: 1,
    AutonomyLevel.ACT_FREELY: 2,
}


def narrower(first: AutonomyLevel, second: AutonomyLevel) -> AutonomyLevel:
    """The less free of two: a delegate has no more freedom than who delegated to it."""
    return min(first, second, key=lambda level: level.freedom)
