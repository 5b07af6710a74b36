"""What may be an agent's name, dialect by dialect, and how any name becomes a slug."""

import hashlib
import re
import unicodedata

MAX_SLUG = 63

_KEBAB = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}\Z")
_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def is_kebab(name: str) -> bool:
    """Lower-case letters and digits in words joined by single hyphens."""
    return bool(_KEBAB.match(name))


def is_slug(name: str) -> bool:
    """The name may be a path segment and a mention as it stands."""
    return bool(_SLUG.match(name))


def is_qwen_name(name: str) -> bool:
    """2–50 letters (of any script), digits, `-` and `_`."""
    return 2 <= len(name) <= 50 and all(char.isalnum() or char in "-_" for char in name)


def slugify(name: str) -> str:
    """An ASCII slug for any name, the same each time and never empty.

    Names that lose letters on the way (`新聞`, `Проект`) get a piece of their digest, so that two
    of them do not fall together.
    """
    if is_slug(name):
        return name
    decomposed = unicodedata.normalize("NFKD", name)
    ascii_only = "".join(char for char in decomposed if char.isascii()).lower()
    slug = _NOT_SLUG.sub("-", ascii_only).strip("-")
    lost = any(not char.isascii() and unicodedata.category(char)[0] == "L" for char in decomposed)
    if slug and not lost:
        return slug[:MAX_SLUG].rstrip("-")
    mark = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:8]
    return f"{slug[: MAX_SLUG - 9].rstrip('-') or 'agent'}-{mark}"


def readable(path: str) -> str:
    """The path as text that can be stored and shown: bytes that are no UTF-8 become U+FFFD."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def stem(path: str) -> str:
    """The file name of a path without `.md`, `.agent.md` or `.chatmode.md`."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    for ending in (".agent.md", ".chatmode.md", ".md", ".markdown"):
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name
