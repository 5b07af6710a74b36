"""What the workspace's own rules say to each thing that a skill can do."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from guardrails.actions import Action
from guardrails.decisions import Decision
from guardrails.forbidden import CLASS_OF
from guardrails.rules import judge

from ..rules import current
from ..scanning import CAPABILITIES


@dataclass(frozen=True, slots=True)
class Said:
    """One rule's answer in words, with its tone and icon."""

    sentence: str
    tone: str
    icon: str


def said() -> dict[str, Said]:
    """The answer to each capability: refused at the gate, or what an agent meets when it follows
    the skill. The gate's own rule speaks first."""
    denied = current().denied
    return {name: _refused() if name in denied else _met(name) for name in CAPABILITIES}


def _refused() -> Said:
    return Said(_("no skill here may do this"), "failed", "ban")


def _met(name: str) -> Said:
    answer = judge(
        [Action(classes=frozenset({CLASS_OF[name]}))], agent_id=None, space_id=None
    ).decision
    return {
        Decision.ALLOW: Said(_("allowed here"), "", "check"),
        Decision.ASK: Said(_("asks a person first"), "blocked", "hand"),
        Decision.DENY: Said(_("denied here"), "failed", "ban"),
    }[answer]
