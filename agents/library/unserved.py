"""What a definition asks for that is read and kept, and that the built-in loop does not run yet."""

from agents.library.definition import AgentDefinition
from outside.sentences import Sentence
from outside.sentences import phrase as _


def unserved(definition: AgentDefinition) -> tuple[tuple[str, Sentence], ...]:
    """A code and a sentence for each."""
    found = []
    if definition.hooks:
        found.append(("no_hooks", _("Its hooks are not run: the built-in loop has none.")))
    if definition.mcp:
        words = _("Its MCP servers are not connected: the built-in loop has none.")
        found.append(("no_mcp", words))
    if definition.memory:
        words = _("It remembers nothing from run to run: the built-in loop has no memory.")
        found.append(("no_memory", words))
    return tuple(found)
