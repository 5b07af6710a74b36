"""Write plain values as YAML that every parser reads back as the same values.

Deterministic and small on purpose: bare words only where no YAML version could take them for
anything else, double quotes otherwise, literal blocks for text of several lines.
"""

import json
import re
from collections.abc import Iterable

from agents.library.frontmatter import normalise
from agents.library.yamlread import Value

_BARE = re.compile(r"[A-Za-z_][\w./@()+,'-]*(?: [A-Za-z0-9_(][\w./@()+,'-]*)*\Z", re.ASCII)
_BARE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")
_RESERVED = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"])
_NOT_PRINTABLE = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_LONG = 200


def as_kept(value: Value) -> Value:
    """The value as a file keeps it: LF line ends and nothing that UTF-8 cannot hold."""
    if isinstance(value, str):
        return normalise(value)
    if isinstance(value, list):
        return [as_kept(item) for item in value]
    if isinstance(value, dict):
        return {normalise(key): as_kept(item) for key, item in value.items()}
    return value


def emit(pairs: Iterable[tuple[str, Value]]) -> str:
    """The pairs as a block mapping, each on lines of its own, LF at the end of each."""
    return "".join(emit_pair(key, value) for key, value in pairs)


def emit_pair(key: str, value: Value, *, indent: int = 0) -> str:
    """One `key: value` with everything that hangs below it."""
    return f"{' ' * indent}{_key(key)}:{_behind(value, indent=indent)}"


def _behind(value: Value, *, indent: int) -> str:
    """What follows the colon of a key or the dash of an item that stands at `indent`."""
    if isinstance(value, dict) and value:
        return "\n" + "".join(emit_pair(k, v, indent=indent + 2) for k, v in value.items())
    if isinstance(value, list) and value:
        pad = " " * (indent + 2)
        return "\n" + "".join(f"{pad}-{_behind(item, indent=indent + 2)}" for item in value)
    if isinstance(value, str):
        return " " + _text(value, indent=indent) + "\n"
    return " " + json.dumps(value) + "\n"


def _key(key: str) -> str:
    if _BARE_KEY.match(key) and key.lower() not in _RESERVED:
        return key
    return _quoted(key)


def _text(text: str, *, indent: int) -> str:
    if "\n" in text and not _NOT_PRINTABLE.search(text) and text.strip():
        return _block(text, indent=indent)
    if _BARE.match(text) and text.lower() not in _RESERVED and len(text) <= _LONG:
        return text
    return _quoted(text)


def _block(text: str, *, indent: int) -> str:
    """A literal block: every character is kept, also white space at the end of lines."""
    content = text.rstrip("\n")
    ends = len(text) - len(content)
    chomp = ("-", "")[ends] if ends < 2 else "+"
    hint = "2" if content[0] in " \t\n" else ""
    pad = " " * (indent + 2)
    lines = [pad + line if line else "" for line in content.split("\n")]
    return f"|{hint}{chomp}\n" + "\n".join(lines) + "\n" * max(ends - 1, 0)


def _quoted(text: str) -> str:
    """Double quotes; whatever is not printable is escaped (JSON's escapes are YAML's)."""
    return _NOT_PRINTABLE.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return "\ufffd" if 0xD800 <= code < 0xE000 else f"\\u{code:04x}"
