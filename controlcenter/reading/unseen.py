"""Characters that a reader would not see, or that change what the reader sees, are named."""

import unicodedata
from re import Match, compile

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

# Controls and formats, line and paragraph separators, fillers that draw nothing, variation
# selectors and the tag block (text hidden from people). U+FE0F is how an emoji asks for colour and
# a joiner between two emoji is how they become one: both are ordinary and let through.
_DECEIVING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
    "\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Spaces that are not a space: ordinary in prose, a trap in code.
_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_LONE_JOINER = "(?<![\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d"
DECEIVING = compile(f"[{_DECEIVING}]|{_LONE_JOINER}")
HIDDEN = compile(f"[{_DECEIVING}{_SPACES}]|{_LONE_JOINER}")
NAMES = {"\x1b": "ESC", "\x00": "NUL", "\r": "CR", "\x08": "BS", "\x7f": "DEL", "\ufeff": "BOM"}


def show(text: str) -> SafeString:
    """The text escaped, each unseen character as a small named mark."""
    return mark_safe(HIDDEN.sub(named, str(escape(text))))


def count(text: str) -> int:
    return len(HIDDEN.findall(text))


def named(found: Match[str]) -> str:
    character = found.group()
    code = f"U+{ord(character):04X}"
    name = unicodedata.name(character, NAMES.get(character, "control"))
    return f'<span class="unseen" title="{code} {name}">{NAMES.get(character, code)}</span>'
