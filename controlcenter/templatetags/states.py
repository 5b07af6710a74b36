"""The one table of states: each has a word, a tone and a mark. See requirements 6.23.

Three lists a person sees (an agent's live state, a run's state, presence) and what approvals and
verdicts say share these tones, so that a colour means one thing everywhere.
"""

from dataclasses import dataclass
from functools import lru_cache
from re import sub
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True)
class State:
    """tone is the colour class; icon a name in the sprite, or dot the class of a drawn dot."""

    word: "_StrPromise | str"
    tone: str
    icon: str = ""
    dot: str = ""


WORDS: dict[str, State] = {
    # an agent's live state
    "never_run": State(_("No runs yet"), "never", dot="never"),
    "running": State(_("Running"), "running", dot="running"),
    "failed": State(_("Failed"), "failed", "circle-x"),
    "blocked": State(_("Blocked"), "blocked", "hand"),
    "idle": State(_("Idle"), "idle", "moon"),
    # a run
    "queued": State(_("Queued"), "idle", "clock"),
    "parked": State(_("Parked"), "idle", "circle-pause"),
    "waiting": State(_("Waiting for approval"), "blocked", "hand"),
    "asking": State(_("Waiting for an answer"), "blocked", "hand"),
    "paused": State(_("Paused"), "idle", "circle-pause"),
    "delegating": State(_("Waiting for a subagent"), "running", "circle-pause"),
    "succeeded": State(_("Succeeded"), "succeeded", "circle-check"),
    "cancelled": State(_("Cancelled"), "idle", "ban"),
    # presence of agents and people
    "thinking": State(_("Thinking"), "running", "thinking", dot="running"),
    "done": State(_("Done"), "succeeded", "circle-check"),
    "online": State(_("Online"), "succeeded", dot="online"),
    "away": State(_("Away"), "idle", dot="away"),
    "offline": State(_("Offline"), "idle", dot="offline"),
    # an approval
    "open": State(_("Needs an answer"), "blocked", "hand"),
    "approved": State(_("Approved once"), "succeeded", "circle-check"),
    "approved_for": State(_("Approved for a time"), "succeeded", "circle-check"),
    "denied": State(_("Denied"), "failed", "circle-x"),
    "expired": State(_("Expired"), "idle", "hourglass"),
    # a decision of a rule
    "allow": State(_("Allow"), "succeeded", "circle-check"),
    "ask": State(_("Ask"), "blocked", "hand"),
    "deny": State(_("Deny"), "failed", "ban"),
    # a skill's verdict
    "pass": State(_("Pass"), "succeeded", "shield-check"),
    "warn": State(_("Warn"), "blocked", "shield-alert"),
    "held": State(_("Held"), "blocked", "hand"),
    "quarantine": State(_("Quarantine"), "failed", "shield-x"),
    "unscanned": State(_("Not scanned"), "idle", "circle-dashed"),
    # a person's or an agent's place in the workspace
    "active": State(_("Active"), "succeeded", dot="online"),
    "archived": State(_("Archived"), "idle", "archive"),
    "draft": State(_("Draft"), "idle", "circle-dashed"),
    # what a check found
    "ready": State(_("Ready"), "succeeded", "circle-check"),
    "found": State(_("Found"), "succeeded", "circle-check"),
    "missing": State(_("Not found"), "idle", "circle-dashed"),
    "warning": State(_("Look at this"), "blocked", "triangle-alert"),
}


@lru_cache(maxsize=256)
def _known(name: str) -> State:
    snake = sub(r"(?<=[a-z])([A-Z])", r"_\1", name).replace("-", "_").lower()
    return WORDS.get(snake) or State(snake.replace("_", " ").capitalize(), "idle", "circle-dashed")


def of(value: Any) -> State:
    """The state of a wire word (neverRun, never_run); an unknown one is shown as it is, in grey."""
    return _known(str(value or "idle"))


def dot(value: Any) -> str:
    """The class of the dot at an avatar's corner."""
    known = of(value)
    return known.dot or known.tone
