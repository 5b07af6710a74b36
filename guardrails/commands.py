"""Which action classes a shell line falls into, and what each of its commands touches.

`actions(line, …)` is what the policy resolves. It never raises: a line that cannot be parsed is
one opaque action, which asks. A program that nobody knows is `process_spawn`.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace

from guardrails import code, forges, git_commands, http_commands, programs, shell, unwrapping
from guardrails.actions import Action, Words
from guardrails.classes import ActionClass

MOST_DEPTH = 8
MOST_COMMANDS = 400
NETWORK_FILES = ("/dev/tcp/", "/dev/udp/")  # bash opens a connection instead


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
    sockets = tuple(word for word in script.writes if word and word.startswith(NETWORK_FILES))
    if sockets:
        yield Command(words=(), running=(), classes=frozenset({ActionClass.NETWORK_EGRESS}))
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
    command = _classify(unwrapped.words or simple.words, simple.stdin)
    yield replace(command, words=typed, opaque=command.opaque or unwrapped.opaque)
    lines = [*unwrapped.lines, *_git_lines(unwrapped.words)]
    for line in lines:
        yield from _read_line(line, depth - 1)
    for inner in unwrapped.inner:
        if inner and inner != simple.words and depth > 1:
            yield from _read_command(shell.SimpleCommand(words=inner), depth - 1)


def _git_lines(words: Words) -> list[str]:
    return git_commands.read_git(words).lines if unwrapping.program(words) == "git" else []


def _classify(words: Words, stdin: str | None) -> Command:
    words = git_commands.undashed(words)
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
    if name in http_commands.PROGRAMS:
        return _with_http(command, name)
    return _with_program(command, name, stdin)


def _with_http(command: Command, name: str) -> Command:
    arguments = command.running[1:]
    call = http_commands.read(name, arguments)
    found = set(command.classes) | programs.classes_of(name, arguments)
    if call.writes:
        for address in call.addresses or ():
            found |= forges.write_classes(address, call.said)
    is_unknown = call.writes and call.addresses is None
    return replace(
        command,
        classes=frozenset(found | {ActionClass.NETWORK_EGRESS}),
        hosts=None if call.is_opaque else call.hosts,
        rewrites=None if ActionClass.GIT_PUSH in found else False,
        opaque=call.is_opaque or is_unknown,
    )


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


def _with_program(command: Command, name: str, stdin: str | None) -> Command:
    arguments = command.running[1:]
    found = set(command.classes) | programs.classes_of(name, arguments)
    found |= code.classes_in(name, arguments, stdin)
    if name in forges.PROGRAMS:
        found |= forges.forge_classes(name, arguments)
    if name in ("find", "fd") and "-delete" in arguments:
        found.add(ActionClass.FILE_DELETE)
    if name == "env" and not arguments:
        found.add(ActionClass.SECRET_ACCESS)
    if name in programs.WRITERS and any(map(is_outside, _targets(name, arguments))):
        found.add(ActionClass.FILE_WRITE_OUTSIDE_WORKTREE)
    rewrites = None if ActionClass.GIT_PUSH in found else False
    paths = _paths(arguments) if ActionClass.FILE_DELETE in found else None
    if name in ("find", "fd", "xargs"):
        paths = None
    return replace(
        command, classes=frozenset(found), paths=paths, rewrites=rewrites
    )  # fmt: skip


# ---------------------------------------------------------------- what is touched


def is_outside(path: str) -> bool:
    """Whether a path as spelled leaves the directory it starts from."""
    streams = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
    if path in streams or path.startswith(("/dev/fd", *NETWORK_FILES)):
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
