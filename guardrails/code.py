"""Program text on a command line (`python -c …`, a here-document): what one sees of it.

Code can do anything and says so in no fixed way; what plainly names a forge, or a push, is asked
about as such.
"""

import re

from guardrails.actions import Words
from guardrails.classes import ActionClass
from guardrails.forges import write_classes
from guardrails.programs import is_python, names

_INTERPRETERS = names("node nodejs deno bun ruby perl php lua Rscript osascript pwsh tclsh")
_INLINE = frozenset({"-c", "-e", "-r", "-p", "-E", "-pe", "-ne", "--eval", "--print", "eval"})
_ADDRESS = re.compile(r"[\w.-]+\.[\w-]+(:\d+)?/[\w./?=&%~+-]*")
_WRITING = re.compile(r"\b(post|put|patch|delete|mutation|send|upload)\b", re.IGNORECASE)
_GIT_PUSH = re.compile(r"\bgit\W+push\b")


def classes_in(name: str, arguments: Words, stdin: str | None) -> set[ActionClass]:
    """The classes that the text of a program names, where it stands in the command itself."""
    if not (is_python(name) or name in _INTERPRETERS):
        return set()
    text = _text_of(arguments, stdin)
    found: set[ActionClass] = set()
    if _GIT_PUSH.search(text):
        found |= {ActionClass.GIT_PUSH, ActionClass.NETWORK_EGRESS}
    if _WRITING.search(text):
        for address in _ADDRESS.finditer(text):
            found |= write_classes(address[0], text)
    return found | {ActionClass.NETWORK_EGRESS} if found else found


def _text_of(arguments: Words, stdin: str | None) -> str:
    words = [word for word in arguments if word is not None]
    inline = any(word in _INLINE for word in words)
    return " ".join([*(words if inline else ()), stdin or ""])
