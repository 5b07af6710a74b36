"""Sentences that are kept: English now, and for each later reader the own language.

A `Sentence` is its English text; it also remembers the template and the values that made it, so
that whoever shows it can ask a catalogue. Write `from outside.sentences import phrase as _` where a
sentence is stored, and go on as with gettext: `_("Stopped by @%(handle)s.") % {"handle": "ada"}`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

# Stands in stored text between the English and how it was made; typed text never has it.
MARK = "\x1e"
One = Callable[[str], str]
Many = Callable[[str, str, int], str]


class Sentence(str):
    """`str(sentence)` is English; `spoken` gives it in another language."""

    one: str
    many: str
    number: int
    values: Mapping[str, Any]

    def __new__(
        cls, one: str, many: str = "", count: int = 1, values: Mapping[str, Any] | None = None
    ) -> Self:
        template = many if many and count != 1 else one
        made = super().__new__(cls, template % values if values else template)
        made.one, made.many, made.number, made.values = one, many, count, dict(values or {})
        return made

    def __mod__(self, values: Any) -> "Sentence":
        return Sentence(self.one, self.many, self.number, values)

    def __str__(self) -> Self:
        return self

    def mapped(self, change: Callable[[str], str]) -> "Sentence":
        """The same sentence with each text among its values changed."""
        values = {
            key: value.mapped(change)
            if isinstance(value, Sentence)
            else change(value)
            if isinstance(value, str)
            else value
            for key, value in self.values.items()
        }
        return Sentence(self.one, self.many, self.number, values)

    def spoken(self, one: One, many: Many) -> str:
        """The sentence by this catalogue; English where its translation does not fit."""
        template = many(self.one, self.many, self.number) if self.many else one(self.one)
        values = {
            key: value.spoken(one, many) if isinstance(value, Sentence) else value
            for key, value in self.values.items()
        }
        try:
            return template % values if values else template
        except (KeyError, TypeError, ValueError):
            return "".join(self)

    def made(self) -> dict[str, Any]:
        """How it was made, as JSON; `remade` gives the sentence back."""
        found: dict[str, Any] = {"say": self.one}
        if self.many:
            found |= {"many": self.many, "n": self.number}
        if self.values:
            found["with"] = {
                key: value.made() if isinstance(value, Sentence) else _plain(value)
                for key, value in self.values.items()
            }
        return found


def phrase(template: str) -> Sentence:
    """The sentence of this template; `% values` fills its blanks."""
    return Sentence(template)


def phrase_many(one: str, many: str, count: int) -> Sentence:
    """The sentence of the template that fits the count; `% values` fills its blanks."""
    return Sentence(one, many, count)


def joined(parts: Sequence[str], between: str = " ") -> Sentence:
    """The parts as one sentence, each translated by itself."""
    names = [f"part{n}" for n in range(len(parts))]
    template = between.join(f"%({name})s" for name in names)
    return Sentence(template, values=dict(zip(names, parts, strict=True)))


def phrase_noop(template: str) -> str:
    """Names a template for the translators where it is not said yet."""
    return template


def remade(found: Mapping[str, Any]) -> Sentence:
    values = {
        key: remade(value) if isinstance(value, dict) else value
        for key, value in found.get("with", {}).items()
    }
    return Sentence(found["say"], found.get("many", ""), found.get("n", 1), values)


def pack(text: str) -> str:
    """The text as a column keeps it."""
    if isinstance(text, Sentence):
        return f"{''.join(text)}{MARK}{json.dumps(text.made(), ensure_ascii=False)}"
    return text.replace(MARK, " ") if MARK in text else text


def unpack(kept: str) -> str:
    """The text of a column again: a Sentence when it was one."""
    if MARK not in kept:
        return kept
    text, _mark, how = kept.rpartition(MARK)
    try:
        sentence = remade(json.loads(how))
    except (ValueError, KeyError, TypeError, AttributeError):
        return text
    return sentence if sentence == text else text


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | None) else str(value)
