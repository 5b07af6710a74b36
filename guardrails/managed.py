"""Rules of the operator: one JSON file that no workspace can loosen.

The file is a list of `{"decision": "ask" | "deny", "action_class" | "command_prefix": …,
"constraint": {…}, "id": "…"}`. A file that cannot be read denies every class, until it can.
"""

import functools
import json
import logging
from pathlib import Path
from typing import Any

from django.conf import settings

from guardrails import constraints
from guardrails.classes import ActionClass
from guardrails.decisions import Decision, Level, Provenance, Scope
from guardrails.policy import RuleFacts

log = logging.getLogger(__name__)


def load() -> tuple[RuleFacts, ...]:
    """The operator's rules as they stand in the file now; none when no file is named."""
    name = settings.MANAGED_POLICY
    if not name:
        return ()
    path = Path(name)
    try:
        return _parse(path, path.stat().st_mtime_ns)
    except (OSError, ValueError, KeyError, TypeError):
        log.exception("the managed policy cannot be read, so every action is denied")
        return CLOSED


@functools.lru_cache(maxsize=4)
def _parse(path: Path, _mtime: int) -> tuple[RuleFacts, ...]:
    stored = json.loads(path.read_text())
    if not isinstance(stored, list):
        raise TypeError("A managed policy is a list of rules.")
    return tuple(_rule(number, row) for number, row in enumerate(stored))


def _rule(number: int, row: dict[str, Any]) -> RuleFacts:
    known = {"id", "decision", "action_class", "command_prefix", "constraint"}
    if set(row) - known:
        raise ValueError(f"Unknown keys in managed rule {number}.")
    prefix, class_name = row.get("command_prefix", ""), row.get("action_class", "")
    if bool(prefix) == bool(class_name):
        raise ValueError(f"Managed rule {number} needs a class or a command prefix.")
    return RuleFacts(
        id=str(row.get("id", f"managed-{number}")),
        scope=Scope.WORKSPACE,
        provenance=Provenance.MANAGED,
        decision=Decision(row["decision"]),
        action_class=ActionClass(class_name) if class_name else None,
        command_prefix=prefix,
        constraint=constraints.parse(row.get("constraint", {})),
        level=Level.HARD,
    )


CLOSED = tuple(
    RuleFacts(
        id="managed-unreadable",
        scope=Scope.WORKSPACE,
        provenance=Provenance.MANAGED,
        decision=Decision.DENY,
        action_class=action_class,
    )
    for action_class in ActionClass
)
