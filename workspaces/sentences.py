"""Stored sentences, shown to each reader in the own language. See `outside.sentences`."""

from typing import Any

from django.db import models
from django.utils.translation import gettext, ngettext, override

from outside.sentences import Sentence, pack, phrase, unpack


def translated(text: str) -> str:
    """A Sentence in the language that is spoken now; any other text as it is."""
    return text.spoken(gettext, ngettext) if isinstance(text, Sentence) else text


def in_english(label: object) -> Sentence:
    """The Sentence of a lazily translated label, to be a value in another."""
    with override("en"):
        return phrase(str(label))


class SentenceField(models.TextField):  # type: ignore[type-arg]
    """Text that may be a Sentence, and then comes back as one; the column begins in English."""

    def from_db_value(self, value: str | None, *_args: Any) -> str | None:
        return None if value is None else unpack(value)

    def get_prep_value(self, value: Any) -> Any:
        return pack(value) if isinstance(value, str) else super().get_prep_value(value)

    def value_to_string(self, obj: models.Model) -> str:
        return pack(self.value_from_object(obj))

    def to_python(self, value: Any) -> Any:
        return unpack(value) if isinstance(value, str) else super().to_python(value)
