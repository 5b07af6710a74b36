"""Programs read by their own grammar: what would happen if somebody ran them."""

from . import javascript, python
from .commands import judge_text
from .where import Where


def judge_code(language: str, text: str, where: Where) -> None:
    """Reports what a text in `python`, `javascript` or `shell` would do; others are left alone."""
    where.exam.spend("code", len(text), where.file)
    if language == "python":
        python.read(text, where)
    elif language == "javascript":
        javascript.read(text, where)
    elif language == "shell":
        judge_text(text, where)
