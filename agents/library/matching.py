"""What one entry of a tool list means in each dialect: pure, one function per dialect.

Each takes an entry, the pool of tools that are there and whether the entry blocks, and gives the
tools it means. Where a dialect is silent, an entry that allows matches nothing and an entry that
blocks matches as much as it could: closed beats open.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agents.library import toolnames
from agents.library.definition import Dialect
from agents.library.warning import LoadWarning, note, warn
from outside.sentences import phrase as _

_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Match:
    """The tools of the pool that an entry means, and what is to be said about it."""

    tools: frozenset[str] = frozenset()
    warning: LoadWarning | None = None


Matcher = Callable[[str, tuple[str, ...], bool], Match]


def jarvis(entry: str, pool: tuple[str, ...], _blocks: bool) -> Match:
    """Exact names, case-sensitively; globs for MCP tools only; all else never matches."""
    if entry.startswith("mcp__"):
        if _WILD & set(entry):
            return Match(_glob(entry, pool))
        if _server_and_tool(entry) is None:
            sentence = _(
                "`%(entry)s` is no full `mcp__server__tool` and matches nothing; "
                "use `%(entry)s__*`."
            )
            return _nothing("mcp-literal-incomplete", sentence % {"entry": entry})
        return Match(frozenset({entry}) & frozenset(pool))
    if _WILD & set(entry):
        sentence = _("`%(entry)s`: a wildcard outside `mcp__` matches nothing.") % {"entry": entry}
        return _nothing("wildcard-outside-mcp", sentence)
    return _named(entry, pool, Dialect.JARVIS)


def fuxi(entry: str, pool: tuple[str, ...], blocks: bool) -> Match:
    """Exact names and `Task` for `Agent`; `mcp__server` means the whole server."""
    return _claude_like(entry, pool, blocks=blocks, dialect=Dialect.FUXI)


def qwen(entry: str, pool: tuple[str, ...], blocks: bool) -> Match:
    """As Fuxi's, in either spelling of the names."""
    return _claude_like(entry, pool, blocks=blocks, dialect=Dialect.QWEN)


def opencode(entry: str, pool: tuple[str, ...], _blocks: bool) -> Match:
    """OpenCode's lower-case names, or a glob over them; an MCP tool is `server_tool` there."""
    if entry.startswith("mcp__"):
        return Match(_glob(entry, pool))
    words = toolnames.spellings(Dialect.OPENCODE)
    meant = {tool for word, tools in words.items() if fnmatchcase(word, entry) for tool in tools}
    of_servers = {tool for tool in _mcp(pool) if fnmatchcase(_as_opencode(tool), entry)}
    named = {tool for tool in pool if not tool.startswith("mcp__") and tool == entry}
    if meant or of_servers or named or entry == "*":
        return Match((frozenset(meant) | of_servers | named) & frozenset(pool))
    return _nothing("unknown-tool", _("No tool is called `%(entry)s` here.") % {"entry": entry})


def copilot(entry: str, pool: tuple[str, ...], _blocks: bool) -> Match:
    """Copilot's names without regard to case; `server/tool` and `server/*` for MCP tools."""
    words = {word.lower(): tools for word, tools in toolnames.spellings(Dialect.COPILOT).items()}
    if meant := words.get(entry.lower()):
        return Match(meant & frozenset(pool))
    server, slash, tool = entry.partition("/")
    of_server = _glob(f"mcp__{server}__{tool}", pool) if slash and server else frozenset()
    if of_server or entry in pool:
        return Match(of_server or frozenset({entry}))
    sentence = _("No tool is called `%(entry)s` here; Copilot ignores such names.") % {
        "entry": entry
    }
    return Match(warning=note("unknown-tool", sentence))


def _claude_like(entry: str, pool: tuple[str, ...], *, blocks: bool, dialect: Dialect) -> Match:
    if entry == "*":
        return Match(frozenset(pool))
    if entry.startswith("mcp__"):
        return _of_servers(entry, pool, blocks=blocks)
    name, bracket, _inside = entry.partition("(")
    if not bracket:
        return _named(entry, pool, dialect)
    match = _named(name.strip(), pool, dialect)
    if "agent" in match.tools or match.warning:
        return match
    if blocks:
        sentence = _(
            "`%(entry)s`: patterns in brackets are for permission rules, not for tool lists; "
            "all is blocked."
        )
        said = warn("pattern-not-supported", sentence % {"entry": entry})
        return Match(match.tools, said)
    sentence = _(
        "`%(entry)s`: patterns in brackets are for permission rules, not for tool lists; "
        "it allows nothing."
    )
    return _nothing("pattern-not-supported", sentence % {"entry": entry})


def _of_servers(entry: str, pool: tuple[str, ...], *, blocks: bool) -> Match:
    """`mcp__server`, `mcp__server__*` and single tools; `mcp__*` only blocks."""
    if entry in ("mcp__*", "mcp__"):
        if blocks:
            return Match(frozenset(_mcp(pool)))
        return _nothing(
            "mcp-all-only-blocks",
            _("`%(entry)s` allows nothing: name the servers.") % {"entry": entry},
        )
    if _server_and_tool(entry) is None:
        return Match(_glob(f"{entry.rstrip('_')}__*", pool))
    return Match(_glob(entry, pool))


def _named(entry: str, pool: tuple[str, ...], dialect: Dialect) -> Match:
    """The tools with this spelling; a tool that exists elsewhere but not in the pool is silent."""
    meant = toolnames.spellings(dialect).get(entry)
    if meant is None and entry in pool and entry not in toolnames.CANONICAL:
        meant = frozenset({entry})
    if meant is None:
        return _nothing("unknown-tool", _unknown(entry, dialect))
    return Match(meant & frozenset(pool))


def _unknown(entry: str, dialect: Dialect) -> str:
    """With what was meant, when only the case or the dialect of the name is wrong."""
    for other in (dialect, Dialect.QWEN, Dialect.OPENCODE):
        for word, tools in toolnames.spellings(other).items():
            if word.lower() == entry.lower():
                sentence = _("No tool is called `%(entry)s`; did you mean `%(meant)s`?")
                return sentence % {"entry": entry, "meant": toolnames.spelled(min(tools), dialect)}
    return _("No tool is called `%(entry)s`.") % {"entry": entry}


def _server_and_tool(entry: str) -> tuple[str, str] | None:
    server, _between, tool = entry.removeprefix("mcp__").partition("__")
    return (server, tool) if server and tool else None


def _as_opencode(tool: str) -> str:
    return "_".join(_server_and_tool(tool) or (tool,))


def _mcp(pool: Iterable[str]) -> list[str]:
    return [tool for tool in pool if tool.startswith("mcp__")]


def _glob(pattern: str, pool: Iterable[str]) -> frozenset[str]:
    return frozenset(tool for tool in _mcp(pool) if fnmatchcase(tool, pattern))


def _nothing(code: str, sentence: str) -> Match:
    return Match(warning=warn(code, sentence))


MATCHERS: dict[Dialect, Matcher] = {
    Dialect.CC: fuxi,
    Dialect.JARVIS: jarvis,
    Dialect.FUXI: fuxi,
    Dialect.QWEN: qwen,
    Dialect.OPENCODE: opencode,
    Dialect.COPILOT: copilot,
}
