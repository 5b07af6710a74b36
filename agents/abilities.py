"""What an adapter can do, in words, and how much of what it does passes our rules."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from harness.adapters.base import Capabilities

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

WORDS: dict[str, "_StrPromise"] = {
    "gates_all_tools": _("Every tool call passes the rules"),
    "gates_shell": _("Shell commands pass the rules"),
    "gates_mcp": _("MCP tools pass the rules"),
    "structural_modes": _("Modes take tools away"),
    "steering": _("Can be steered while it works"),
    "pause": _("Can be paused"),
    "resumable": _("Goes on after a crash"),
    "subagents": _("Has subagents"),
    "usage": _("Reports tokens and cost"),
}


@dataclass(frozen=True, slots=True)
class Honesty:
    """How far the rules reach: a badge and a sentence."""

    badge: "_StrPromise"
    tone: str
    icon: str
    sentence: "_StrPromise"


def honesty(abilities: Capabilities) -> Honesty:
    """What to say about an adapter, as it is and never embellished."""
    if abilities.gates_all_tools:
        sentence = _("Every tool call passes the rules before it happens.")
        return Honesty(_("Everything gated"), "succeeded", "shield-check", sentence)
    if abilities.gates_shell or abilities.gates_mcp:
        sentence = _(
            "What is marked below passes the rules. Its other tools run unseen, inside the sandbox"
            " where there is one; pushes are held all the same."
        )
        return Honesty(_("Partly gated"), "blocked", "shield-alert", sentence)
    sentence = _(
        "Its tools run unseen; only the sandbox bounds them, where there is one. Pushes are held"
        " all the same."
    )
    return Honesty(_("Not gated"), "failed", "shield-x", sentence)


def matrix(adapters: dict[str, Capabilities]) -> list[tuple["_StrPromise", list[bool]]]:
    """One row an ability, one column an adapter."""
    return [
        (word, [bool(getattr(abilities, name)) for abilities in adapters.values()])
        for name, word in WORDS.items()
    ]
