"""Which action classes a shell line falls into, and what each of its commands touches.

`actions(line, …)` is what the policy resolves. It never raises: a line that cannot be parsed is
one opaque action, which asks. A program that nobody knows is `process_spawn`.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from guardrails import git_commands, programs, shell, unwrapping
from guardrails.actions import Action, Words
from guardrails.classes import ActionClass
from guardrails.programs import names

MOST_DEPTH = 8
MOST_COMMANDS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command: as typed, as it really runs, its classes and what it touches."""

    words: Words
    running: Words
    classes: frozenset[ActionClass]
    paths: tuple[str, ...] | None = None
    refs: tuple[str, ...] | None = None
    hosts: tuple[str, ...] | None = None
    rewrites: bool | None = False
    opaque: bool = False


OPAQUE = Command(
    words=(), running=(), classes=frozenset({ActionClass.PROCESS_SPAWN}), opaque=True
)  # fmt: skip


def actions(line: str, *, agent_id: str = "", space_id: str = "") -> tuple[Action, ...]:
    """One action per command of the line, for `policy.resolve_all`."""
    return tuple(
        Action(
            classes=frozenset(command.classes),
            agent_id=agent_id,
            space_id=space_id,
            paths=command.paths,
            refs=command.refs,
            hosts=command.hosts,
            spellings=_spellings(command),
            rewrites=command.rewrites,
            opaque=command.opaque,
        )
        for command in classify(line)
    )


def classify(line: str) -> tuple[Command, ...]:
    """Every command that the line may run, those inside others included; never empty."""
    found: list[Command] = []
    for command in _read_line(line, MOST_DEPTH):
        found.append(command)
        if len(found) > MOST_COMMANDS:
            return (*found, OPAQUE)
    return tuple(found) or (replace(OPAQUE, opaque=False),)


def classes_of(line: str) -> frozenset[ActionClass]:
    """All classes of all commands of a line."""
    return frozenset().union(*(command.classes for command in classify(line)))


def _spellings(command: Command) -> tuple[Words, ...]:
    return tuple(dict.fromkeys(words for words in (command.words, command.running) if words))


def _read_line(line: str, depth: int) -> Iterator[Command]:
    if depth <= 0:
        yield OPAQUE
        return
    try:
        script = shell.read(line)
    except shell.UnreadableLine:
        yield OPAQUE
        return
    moves = any(
        unwrapping.program(command.words) in ("cd", "pushd", "popd") for command in script.commands
    )
    for simple in script.commands:
        for command in _read_command(simple, depth):
            # A relative path means something else once the line has moved.
            yield replace(command, paths=None) if moves else command
    outside = tuple(word for word in script.writes if word is not None and is_outside(word))
    if outside:
        yield Command(
            words=(),
            running=(),
            classes=frozenset({ActionClass.FILE_WRITE_OUTSIDE_WORKTREE}),
            paths=outside,
        )


def _read_command(simple: shell.SimpleCommand, depth: int) -> Iterator[Command]:
    typed: Words = (*(f"{name}=" for name in simple.assigned), *simple.words)
    if not simple.words:
        return
    unwrapped = unwrapping.unwrap(simple.words, stdin=simple.stdin)
    command = _classify(unwrapped.words or simple.words)
    yield replace(command, words=typed, opaque=command.opaque or unwrapped.opaque)
    lines = [*unwrapped.lines, *_git_lines(unwrapped.words)]
    for line in lines:
        yield from _read_line(line, depth - 1)
    for inner in unwrapped.inner:
        if inner and inner != simple.words and depth > 1:
            yield from _read_command(shell.SimpleCommand(words=inner), depth - 1)


def _git_lines(words: Words) -> list[str]:
    return git_commands.read_git(words).lines if unwrapping.program(words) == "git" else []


def _classify(words: Words) -> Command:
    name = unwrapping.program(words)
    if name is None:
        return replace(OPAQUE, running=words)
    name = programs.canonical(name)
    if programs.is_python(name) and words[1:2] == ("-m",) and len(words) > 2:
        words = words[2:]
        name = programs.canonical(words[0] or "")
    running: Words = (name, *words[1:])
    command = Command(
        words=words, running=running, classes=frozenset({ActionClass.PROCESS_SPAWN}),
    )  # fmt: skip
    if name == "git":
        return _with_git(command)
    return _with_program(command, name)


def _with_git(command: Command) -> Command:
    facts = git_commands.read_git(command.running)
    arguments = command.running[1:]
    return replace(
        command,
        running=facts.words,
        classes=command.classes | facts.classes | programs.classes_of("git", arguments),
        refs=facts.refs,
        rewrites=facts.rewrites,
        opaque=facts.opaque,
        paths=_paths(facts.words[2:]) if ActionClass.FILE_DELETE in facts.classes else None,
    )


def _with_program(command: Command, name: str) -> Command:
    arguments = command.running[1:]
    found = set(command.classes) | programs.classes_of(name, arguments)
    if name in ("gh", "glab", "hub", "tea", "jira", "acli", "linear"):
        found |= git_commands.forge_classes(name, arguments)
    if name in ("find", "fd") and "-delete" in arguments:
        found.add(ActionClass.FILE_DELETE)
    if name == "env" and not arguments:
        found.add(ActionClass.SECRET_ACCESS)
    if name in programs.WRITERS and any(map(is_outside, _targets(name, arguments))):
        found.add(ActionClass.FILE_WRITE_OUTSIDE_WORKTREE)
    hosts = _hosts(name, arguments) if ActionClass.NETWORK_EGRESS in found else None
    if name in ("curl", "wget", "http", "https", "xh") and _writes_to_forge(arguments):
        found |= git_commands.route_classes(" ".join(word or "" for word in arguments))
    rewrites = None if ActionClass.GIT_PUSH in found else False
    paths = _paths(arguments) if ActionClass.FILE_DELETE in found else None
    if name in ("find", "fd", "xargs"):
        paths = None
    return replace(
        command, classes=frozenset(found), hosts=hosts, paths=paths, rewrites=rewrites
    )  # fmt: skip


# ---------------------------------------------------------------- what is touched


def is_outside(path: str) -> bool:
    """Whether a path as spelled leaves the directory it starts from."""
    if path in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty") or path.startswith(
        "/dev/fd"
    ):
        return False
    return path.startswith(("/", "~")) or posixpath.normpath(path).split("/")[0] == ".."


def _paths(arguments: Words) -> tuple[str, ...] | None:
    if None in arguments:
        return None
    return tuple(word for word in arguments if word and not word.startswith("-")) or None


def _targets(name: str, arguments: Words) -> list[str]:
    plain = [word for word in arguments if word and not word.startswith("-")]
    if name == "dd":
        return [word[3:] for word in plain if word.startswith("of=")]
    if name == "sed":
        return plain[1:] if any(word and word.startswith("-i") for word in arguments) else []
    return plain[-1:] if name in ("cp", "ln", "install", "rsync") else plain


# Options of curl and wget after which no address follows; any other makes the hosts unknown.
_FLAGS = re.compile(
    r"-[sSfLvkIiOJgNqc#46G]+|--(silent|fail|location|show-error|verbose|insecure|head|compressed"
    r"|quiet|no-verbose|continue|no-check-certificate|remote-name|get|fail-with-body)"
)
_VALUED = names(
    "-H --header -d --data --data-raw --data-binary --data-urlencode --json -X --request -o"
    " --output -O -A --user-agent -u --user -m --max-time --connect-timeout --retry -F --form -T"
    " --upload-file -w --write-out -b --cookie -e --referer --post-data --method --body-data -P"
)


def _hosts(name: str, arguments: Words) -> tuple[str, ...] | None:
    """The hosts that are spelled out; None when there may be others."""
    if None in arguments or name not in ("curl", "wget"):
        return None
    found: list[str] = []
    words = iter(word for word in arguments if word is not None)
    for word in words:
        if word in _VALUED and not (name == "curl" and word == "-O"):
            next(words, None)
        elif word.startswith("-"):
            if not _FLAGS.fullmatch(word):
                return None
        else:
            host = _host(word)
            if host is None:
                return None
            found.append(host)
    return tuple(found) or None


def _host(url: str) -> str | None:
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host = parts.hostname
    except ValueError:
        return None
    is_plain = host is not None and re.fullmatch(r"[a-z0-9.:-]+", host)
    return host if is_plain and parts.username is None and "\\" not in url else None


_FORGE = re.compile(r"api\.github\.com|/api/v[34]/|gitlab\.[a-z.]+/api", re.IGNORECASE)
_WRITING = re.compile(
    r"(-X|--request|--method)[ =]?(POST|PUT|PATCH|DELETE)|(^| )(POST|PUT|PATCH|DELETE) "
    r"|(^| )(-d|--data\S*|--json|-F|--form|-T|--upload-file|--post-data|--post-file|--body-\S+)"
)


def _writes_to_forge(arguments: Words) -> bool:
    text = " ".join(word or "" for word in arguments)
    return bool(_FORGE.search(text)) and (None in arguments or bool(_WRITING.search(text)))
