"""`fork_tools` and the named restrictions of forks in `.qwen/fork-profiles/<name>.md`."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from agents.library import frontmatter, yamlread
from agents.library.yamlread import FrontMatterError, Value
from outside.sentences import phrase as _

MAX_BYTES = 64 * 1024
MAX_HINT = 200  # characters
_TOOL = re.compile(r"[A-Za-z0-9_.-]+\Z")
_SERVER_PATTERN = re.compile(r"mcp__(\*|[A-Za-z0-9_.-]+\*?)\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}\Z")


class ForkProfileError(Exception):
    """The restriction is not valid, so the fork must not be launched."""


@dataclass(frozen=True, slots=True)
class ForkProfile:
    """A restriction as it was at launch. `hint` is the project's own words, not ours."""

    name: str
    tools: tuple[str, ...]
    hint: str = ""


def check_fork_tools(value: Value) -> tuple[str, ...]:
    """The entries, each an exact tool name or an MCP pattern; an empty list denies every tool.

    Raises ForkProfileError for anything else, a lone `*` included.
    """
    if not isinstance(value, list):
        raise ForkProfileError(_("The tools of a fork must be a list."))
    for entry in value:
        if not isinstance(entry, str) or entry != entry.strip():
            raise ForkProfileError(
                _("%(entry)s is no tool name without blanks around it.") % {"entry": repr(entry)}
            )
        pattern = _SERVER_PATTERN if entry.startswith("mcp__") else _TOOL
        if not pattern.match(entry):
            raise ForkProfileError(
                _("%(entry)s is neither a tool nor an MCP pattern.") % {"entry": repr(entry)}
            )
    return tuple(str(entry) for entry in value)


def admits(entries: Iterable[str], tool: str) -> bool:
    """A fork with these entries may call the tool (in the dialect's spelling). Asking the user
    is never among a fork's tools.
    """
    if tool == "ask_user_question":
        return False
    return any(tool == entry or _covers(entry, tool) for entry in entries)


def read_fork_profile(folder: Path, name: str) -> ForkProfile:
    """The profile `name` of `.qwen/fork-profiles`; raises ForkProfileError when it is not valid."""
    return parse_fork_profile(_bytes_of(folder, name), name=name)


def parse_fork_profile(data: bytes, *, name: str) -> ForkProfile:
    """The profile in these bytes; raises ForkProfileError when it is not valid."""
    if len(data) > MAX_BYTES:
        raise ForkProfileError(_("The profile `%(name)s` is larger than 64 KiB.") % {"name": name})
    parts = frontmatter.split(frontmatter.decode(data)[0])
    if parts.front is None:
        raise ForkProfileError(_("The profile `%(name)s` has no front matter.") % {"name": name})
    if parts.body.strip():
        raise ForkProfileError(
            _("The profile `%(name)s` has text below its front matter.") % {"name": name}
        )
    try:
        values = yamlread.load(parts.front).values
    except FrontMatterError as fault:
        raise ForkProfileError(
            _("The profile `%(name)s` cannot be read: %(sentence)s")
            % {"name": name, "sentence": fault.sentence}
        ) from None
    if values.get("name") != name:
        raise ForkProfileError(
            _("The profile `%(name)s` calls itself %(other)s.")
            % {"name": name, "other": repr(values.get("name"))}
        )
    if "tools" not in values:
        raise ForkProfileError(_("The profile `%(name)s` has no `tools`.") % {"name": name})
    hint = values.get("promptHint", "")
    if not isinstance(hint, str) or len(hint) > MAX_HINT:
        raise ForkProfileError(
            _("`promptHint` must be text of at most %(most)s characters.") % {"most": MAX_HINT}
        )
    return ForkProfile(name, check_fork_tools(values["tools"]), hint)


def _bytes_of(folder: Path, name: str) -> bytes:
    if not _NAME.match(name):
        raise ForkProfileError(_("%(name)s is no name of a fork profile.") % {"name": repr(name)})
    path = folder / f"{name}.md"
    try:
        real = Path(os.path.realpath(path, strict=True))
        if real.parent != Path(os.path.realpath(folder)) or not real.is_file():
            raise ForkProfileError(
                _("The profile `%(name)s` is no regular file of its folder.") % {"name": name}
            )
        with real.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise ForkProfileError(
            _("There is no fork profile `%(name)s`.") % {"name": name}
        ) from fault


def _covers(entry: str, tool: str) -> bool:
    """`mcp__*`, `mcp__server` and `mcp__server__read_*` cover the tools of servers."""
    if not (entry.startswith("mcp__") and tool.startswith("mcp__")):
        return False
    if "*" in entry:
        return fnmatchcase(tool, entry)
    return tool.startswith(f"{entry}__")
