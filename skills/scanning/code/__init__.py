"""Programs read by their own grammar: what would happen if somebody ran them."""

import re

from . import foreign, javascript, python
from .commands import judge_text
from .where import Where

_DATA = re.compile(r"[A-Za-z0-9+/=_-]{200,}")


def weight(text: str) -> int:
    """How much there is to parse: embedded data is one word to a parser."""
    return len(text) - sum(len(found[0]) for found in _DATA.finditer(text))


def judge_code(language: str, text: str, where: Where) -> None:
    """Reports what a text would do: `python`, `javascript` and `shell` by their grammar, others by
    what meets in them."""
    where.exam.spend("code", weight(text), where.file)
    if language == "python":
        python.read(text, where)
    elif language == "javascript":
        javascript.read(text, where)
    elif language == "shell":
        judge_text(text, where)
    elif language in foreign.NAMES:
        foreign.read(language, text, where)
