"""Packages whose names are one slip away from one that many use."""

import re

from ..ruleset import load

_LANGUAGES = {
    **dict.fromkeys(("pip", "pip3", "pipx", "uv", "uvx", "poetry", "pipenv"), "python"),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun", "bunx"), "javascript"),
}
SHORTEST = 6  # among shorter names honest neighbours are common
_NAME = re.compile(r"[a-z][a-z0-9-]*")
_VERSION = re.compile(r"(?<=.)[@=<>~!^;\[ ].*", re.DOTALL)


def resembles_another(installer: str, word: str) -> bool:
    """Whether the word is one slip away from a well-known package and none itself."""
    known = _KNOWN.get(_LANGUAGES.get(installer, ""), frozenset())
    name = _plain(_VERSION.sub("", word))
    if len(name) < SHORTEST or not _NAME.fullmatch(name) or name in known:
        return False
    return not known.isdisjoint(_meant(name)) or any(
        name == other[:at] + other[at + 1 :]
        for other in known
        if len(other) == len(name) + 1
        for at in range(1, len(other) - 1)
    )


def _plain(name: str) -> str:
    return re.sub(r"[._-]+", "-", name.lower())


_KNOWN = {
    language: frozenset(map(_plain, names)) for language, names in load("packages.yaml").items()
}


def _meant(name: str) -> set[str]:
    """What one wrote who exchanged two letters, doubled one or added an ending."""
    ends = {name.removesuffix(ending) for ending in ("-js", "-py", "s")}
    exchanged = {
        name[:at] + name[at + 1] + name[at] + name[at + 2 :] for at in range(len(name) - 1)
    }
    once = {name[:at] + name[at + 1 :] for at in range(1, len(name)) if name[at] == name[at - 1]}
    return ends | exchanged | once
