"""`fork_tools` and the named restrictions of forks in `.qwen/fork-profiles/<name>.md`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from agents.library import frontmatter, yamlread
from agents.library.yamlread import FrontMatterError, Value

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
        raise ForkProfileError("The tools of a fork must be a list.")
    for entry in value:
        if not isinstance(entry, str) or entry != entry.strip():
            raise ForkProfileError(f"{entry!r} is no tool name without blanks around it.")
        pattern = _SERVER_PATTERN if entry.startswith("mcp__") else _TOOL
        if not pattern.match(entry):
            raise ForkProfileError(f"{entry!r} is neither a tool nor an MCP pattern.")
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
        raise ForkProfileError(f"The profile `{name}` is larger than 64 KiB.")
    parts = frontmatter.split(frontmatter.decode(data)[0])
    if parts.front is None:
        raise ForkProfileError(f"The profile `{name}` has no front matter.")
    if parts.body.strip():
        raise ForkProfileError(f"The profile `{name}` has text below its front matter.")
    try:
        values = yamlread.load(parts.front).values
    except FrontMatterError as fault:
        raise ForkProfileError(f"The profile `{name}` cannot be read: {fault.sentence}") from None
    if values.get("name") != name:
        raise ForkProfileError(f"The profile `{name}` calls itself {values.get('name')!r}.")
    if "tools" not in values:
        raise ForkProfileError(f"The profile `{name}` has no `tools`.")
    hint = values.get("promptHint", "")
    if not isinstance(hint, str) or len(hint) > MAX_HINT:
        raise ForkProfileError(f"`promptHint` must be text of at most {MAX_HINT} characters.")
    return ForkProfile(name, check_fork_tools(values["tools"]), hint)


def _bytes_of(folder: Path, name: str) -> bytes:
    if not _NAME.match(name):
        raise ForkProfileError(f"{name!r} is no name of a fork profile.")
    path = folder / f"{name}.md"
    try:
        real = path.resolve(strict=True)
        if real.parent != folder.resolve() or not real.is_file():
            raise ForkProfileError(f"The profile `{name}` is no regular file of its folder.")
        with real.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as fault:
        raise ForkProfileError(f"There is no fork profile `{name}`.") from fault


def _covers(entry: str, tool: str) -> bool:
    """`mcp__*`, `mcp__server` and `mcp__server__read_*` cover the tools of servers."""
    if not (entry.startswith("mcp__") and tool.startswith("mcp__")):
        return False
    if "*" in entry:
        return fnmatchcase(tool, entry)
    return tool.startswith(f"{entry}__")
