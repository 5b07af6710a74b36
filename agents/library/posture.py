"""How much a subagent may do without asking: its own word against its parent's (requirements 6.6).

A posture only decides what a rule of the workspace leaves open; none of them widens a rule.
"""

from agents.library.definition import AgentDefinition, Dialect, Posture

PRIVILEGED = frozenset({Posture.ACCEPT_EDITS, Posture.CLASSIFIER, Posture.BYPASS})


def resolve(parent: Posture, definition: AgentDefinition, *, trusted: bool) -> Posture:
    """The posture of a run of this definition that was started by a run of that posture."""
    found = _resolve(parent, definition, trusted=trusted)
    return Posture.ASK if found in PRIVILEGED and not trusted else found


def _resolve(parent: Posture, definition: AgentDefinition, *, trusted: bool) -> Posture:
    if parent is Posture.PLAN or parent in PRIVILEGED:
        return parent
    if definition.posture is not None:
        return definition.posture
    is_qwen = definition.dialect is Dialect.QWEN
    if is_qwen and parent is Posture.ASK and trusted:
        return Posture.ACCEPT_EDITS
    return parent
