"""Bytes and text of any origin, made fit to be stored, read by a model and shown on a page."""

import re
from typing import Any

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # OSC, bounded
    r"|[PX^_][^\x1b]{0,4096}\x1b\\"  # DCS, SOS, PM, APC
    r"|[ -/]*[0-~])"
)
_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"}
_CONTROLS[0x7F] = "\u2421"
LINE_SHOWN = 2_000  # characters of one line


def readable(data: bytes) -> str:
    """Text of program output: UTF-8 with replacement signs, no escape sequences, one kind of line
    end, other control characters as their pictures."""
    text = data.decode("utf-8", "replace")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isprintable() else text.translate(_CONTROLS)


def storable(value: Any) -> Any:
    """The same JSON value without what PostgreSQL cannot hold: NUL and lone surrogates."""
    if isinstance(value, str):
        return _storable_text(value)
    if isinstance(value, dict):
        return {_storable_text(key): storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable(inner) for inner in value]
    return value


def _storable_text(text: str) -> str:
    if text.isascii():
        return text.replace("\0", "\u2400") if "\0" in text else text
    return text.replace("\0", "\u2400").encode("utf-8", "replace").decode("utf-8")


def short_line(line: str, limit: int = LINE_SHOWN) -> str:
    if len(line) <= limit:
        return line
    return f"{line[:limit]} [… {len(line) - limit} more characters in this line]"


def head_and_tail(text: str, limit: int) -> str:
    """At most about `limit` characters: the beginning and the end, and what is missing between."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def one_line(text: str, limit: int = 200) -> str:
    """The text as one line, its end cut off when it is long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
