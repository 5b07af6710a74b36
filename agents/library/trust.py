"""What a definition may not bring along: from a package, or from a repository without trust."""

from collections.abc import Mapping
from dataclasses import replace

from agents.library.definition import AgentDefinition, Posture
from agents.library.warning import LoadWarning, note
from agents.library.yamlread import Value
from outside.sentences import phrase as _

_PRIVILEGED = (Posture.ACCEPT_EDITS, Posture.CLASSIFIER, Posture.BYPASS)


def as_packaged(definition: AgentDefinition) -> AgentDefinition:
    """A package's agent without hooks, servers, posture and executor; each loss is noted."""
    lost = [
        word
        for word, value in (
            ("hooks", definition.hooks),
            ("mcpServers", definition.mcp),
            ("permissionMode", definition.posture),
            ("executor", definition.executor),
        )
        if value
    ]
    if not lost:
        return definition
    stripped = replace(
        definition, hooks={}, mcp={}, posture=None, posture_in_parent=False, executor={}
    )
    return stripped.with_warnings(*(_lost(word, _("in a package's agent")) for word in lost))


def as_untrusted(definition: AgentDefinition) -> AgentDefinition:
    """An agent of a repository that no admin trusts: nothing that executes, nothing privileged.

    Hooks, started MCP servers and the executor are taken out; a privileged posture becomes `ask`.
    """
    servers = {name: spec for name, spec in definition.mcp.items() if not _starts_process(spec)}
    privileged = definition.posture in _PRIVILEGED
    lost = [
        word
        for word, is_lost in (
            ("hooks", bool(definition.hooks)),
            ("mcpServers", len(servers) < len(definition.mcp)),
            ("permissionMode", privileged),
            ("executor", bool(definition.executor)),
        )
        if is_lost
    ]
    if not lost:
        return definition
    stripped = replace(
        definition,
        hooks={},
        mcp=servers,
        executor={},
        posture=Posture.ASK if privileged else definition.posture,
    )
    reason = _("until an admin trusts the repository")
    return stripped.with_warnings(*(_lost(word, reason) for word in lost))


def _starts_process(spec: Value) -> bool:
    """A server that is a program on the machine; whatever does not say is taken for one."""
    if not isinstance(spec, Mapping):
        return False
    return "command" in spec or spec.get("type", "stdio") == "stdio"


def _lost(word: str, reason: str) -> LoadWarning:
    return note(
        "field-stripped", _("`%(word)s` is ignored %(reason)s.") % {"word": word, "reason": reason}
    )
