"""The filled-in form that a dialect's reader works through: keys, values, what was said."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from agents.library.warning import LoadWarning, note, warn
from agents.library.yamlread import Value
from outside.sentences import phrase as _

_TRUE_LIKE = ("true", "yes", "on", "1")
_FALSE_LIKE = ("false", "no", "off", "0")
Say = Callable[[str, str], LoadWarning]


@dataclass(slots=True)
class Sheet:
    """Front matter as a reader asks for it. What is dropped is said by `drop`:
    `warn` in dialects that warn, `note` in those that drop silently.
    """

    values: Mapping[str, Value]
    source: Mapping[str, str]
    path: str
    body: str
    drop: Say = warn
    warnings: list[LoadWarning] = field(default_factory=list)

    def has(self, key: str) -> bool:
        """The key is in the front matter, whatever its value."""
        return key in self.values

    def text(self, key: str) -> str:
        """The value as trimmed text; numbers and booleans as they are written, with a note.

        Empty when the key is absent, empty or no text; the latter with a warning.
        """
        value = self.values.get(key)
        if isinstance(value, str):
            return value.strip()
        if value is None:
            return ""
        if isinstance(value, list | dict):
            self.say(warn(f"{dashed(key)}-wrong-type", _("`%(key)s` must be text.") % {"key": key}))
            return ""
        written = self.source.get(key, str(value)).strip()
        self.say(
            note(
                f"{dashed(key)}-not-text",
                _("`%(key)s` is %(written)s, read as text.") % {"key": key, "written": written},
            )
        )
        return written

    def choice(self, key: str, allowed: Collection[str]) -> str | None:
        """The value when it is one of `allowed`, else None with a word about it."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, str) and value.strip() in allowed:
            return value.strip()
        known = ", ".join(allowed)
        self.say(
            self.drop(
                f"{dashed(key)}-unknown",
                _("`%(key)s: %(value)s` is none of %(known)s.")
                % {"key": key, "value": value, "known": known},
            )
        )
        return None

    def positive_int(self, key: str) -> int | None:
        """The value when it is a whole number above 0, else None with a word about it."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, str) and value.strip().isdecimal() and len(value) < 10:
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self.say(
            self.drop(
                f"{dashed(key)}-invalid",
                _("`%(key)s` must be a whole number above 0.") % {"key": key},
            )
        )
        return None

    def flag(self, key: str) -> bool | None:
        """True or False when the value says so in any usual way, else None with a word."""
        value = self.values.get(key)
        if value is None or isinstance(value, bool):
            return value
        word = str(value).strip().lower()
        if word in _TRUE_LIKE or word in _FALSE_LIKE:
            return word in _TRUE_LIKE
        self.say(
            self.drop(
                f"{dashed(key)}-invalid", _("`%(key)s` must be true or false.") % {"key": key}
            )
        )
        return None

    def mapping(self, key: str) -> Mapping[str, Value]:
        """The value when it is a mapping, else an empty one with a word about it."""
        value = self.values.get(key)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.say(
                self.drop(
                    f"{dashed(key)}-wrong-type", _("`%(key)s` must be a mapping.") % {"key": key}
                )
            )
        return {}

    def say(self, *warnings: LoadWarning) -> None:
        """Keep these remarks for the definition."""
        self.warnings.extend(warnings)


def dashed(key: str) -> str:
    """`maxTurns` as `max-turns`, the way codes are written."""
    return "".join(f"-{char.lower()}" if char.isupper() else char for char in key).lstrip("-")
