"""Take the wrappers off a command: `sudo env X=1 timeout 5 git push` is a `git push`.

A command can also carry others inside (`sh -c '…'`, `xargs rm`, `find -exec rm {} +`). What is
inside comes back as words or as text to be read in its turn; what only a running shell knows makes
the command opaque.
"""

import re
from dataclasses import dataclass, field

from guardrails.actions import Word, Words

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash"})


@dataclass(slots=True)
class Unwrapped:
    """`words` is what really runs; `lines` are shell texts inside, `inner` commands inside."""

    words: Words
    lines: list[str] = field(default_factory=list)
    inner: list[Words] = field(default_factory=list)
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """Options that take a value, options that take none, and positional words before the command.

    An option in neither list makes the command opaque, since the word after it may be its value.
    """

    valued: str = ""
    plain: str = ""
    positional: int = 0
    assigns: bool = False


_WRAPPERS = {
    "sudo": _Wrapper("-u -g -h -p -C -T -R -D -r -t -U --user --group --host --prompt --chdir",
                     "-E -H -n -S -k -b -i -s -A --preserve-env --login --non-interactive",
                     assigns=True),
    "doas": _Wrapper("-u -C", "-n -s"),
    "env": _Wrapper("-u --unset -C --chdir", "-i - -0 --ignore-environment -v", assigns=True),
    "nohup": _Wrapper(),
    "nice": _Wrapper("-n --adjustment"),
    "ionice": _Wrapper("-c -n --class --classdata", "-t"),
    "time": _Wrapper("-f -o --format --output", "-p -v -a"),
    "timeout": _Wrapper("-k -s --kill-after --signal", "-v --foreground --preserve-status",
                        positional=1),
    "stdbuf": _Wrapper("-i -o -e --input --output --error"),
    "setsid": _Wrapper("", "-c -f -w --fork --wait --ctty"),
    "command": _Wrapper("", "-p -v -V"),
    "builtin": _Wrapper(),
    "exec": _Wrapper("-a", "-c -l"),
    "coproc": _Wrapper(),
    "noglob": _Wrapper(),
    "nocorrect": _Wrapper(),
    "busybox": _Wrapper(),
    "toybox": _Wrapper(),
    "unbuffer": _Wrapper("", "-p"),
    "chronic": _Wrapper("", "-v -e"),
    "caffeinate": _Wrapper("-t -w", "-d -i -m -s -u"),
    "fakeroot": _Wrapper("", "--"),
    "eatmydata": _Wrapper(),
    "faketime": _Wrapper("-f", "", positional=1),
    "flock": _Wrapper("-w -E --wait --timeout", "-n -x -s -e -o --nonblock", positional=1),
    "chroot": _Wrapper("--userspec --groups", "", positional=1),
    "strace": _Wrapper("-e -o -p -s -u", "-f -ff -c -q -qq -t -tt -y"),
    "xvfb-run": _Wrapper("-n -s -e --server-args", "-a --auto-servernum"),
    "xargs": _Wrapper("-I -n -P -L -d -E -s -a --max-args --max-procs --replace --delimiter",
                      "-0 -r -t -x -p --null --no-run-if-empty"),
    "parallel": _Wrapper("-j -N -n --jobs --colsep --delay", "-0 -k -X -m --keep-order --null"),
    "dotenv": _Wrapper("-f -e", "--"),
    "direnv": _Wrapper("", "", positional=2),
}  # fmt: skip

# `tool run x …` runs x as it stands.
_RUNNERS: dict[str, _Wrapper | dict[str, _Wrapper]] = {
    "uv": {"run": _Wrapper("--with --python -p --extra --group --project --directory --env-file",
                           "--no-sync --frozen --locked --isolated --no-project -q --quiet")},
    "poetry": {"run": _Wrapper()},
    "pipenv": {"run": _Wrapper()},
    "pdm": {"run": _Wrapper()},
    "hatch": {"run": _Wrapper()},
    "bundle": {"exec": _Wrapper()},
    "npm": {"exec": _Wrapper("-p --package", "-y --yes --")},
    "pnpm": {"exec": _Wrapper(), "dlx": _Wrapper("-p --package")},
    "yarn": {"exec": _Wrapper(), "dlx": _Wrapper("-p --package", "-q")},
    "npx": _Wrapper("-p --package", "-y --yes --no-install -q --quiet"),
    "bunx": _Wrapper("-p --package", "--bun"),
    "uvx": _Wrapper("--from --with --python -p", "-q --quiet"),
}  # fmt: skip


def unwrap(words: Words, *, stdin: str | None = None) -> Unwrapped:
    """The command inside all its wrappers, and whatever other commands it carries."""
    found = Unwrapped(words=words)
    while found.words and not found.opaque:
        name = program(found.words)
        if name is None:
            found.opaque = True
        elif name in SHELLS:
            _enter_shell(found, stdin)
            return found
        elif wrapper := _wrapper_of(name, found.words):
            _take_off(found, name, *wrapper)
        else:
            _find_inner(found, name)
            return found
    return found


def program(words: Words) -> str | None:
    """`/usr/bin/git` → `git`; None when the name itself is not known."""
    if not words or words[0] is None:
        return None
    return words[0].rstrip("/").rsplit("/", 1)[-1]


def _wrapper_of(name: str, words: Words) -> tuple[_Wrapper, int] | None:
    """The wrapper, and how many words name it."""
    if name in _WRAPPERS:
        return _WRAPPERS[name], 1
    runner = _RUNNERS.get(name)
    if isinstance(runner, _Wrapper):
        return runner, 1
    subcommand = words[1] if len(words) > 1 else None
    if runner and subcommand in runner:
        return runner[subcommand], 2
    return None


def _take_off(found: Unwrapped, name: str, wrapper: _Wrapper, length: int) -> None:
    rest = _after_options(found, found.words[length:], wrapper)
    rest = rest[wrapper.positional :]
    if wrapper.assigns:
        while rest and rest[0] is not None and re.match(r"\w+=", rest[0]):
            rest = rest[1:]
    if name == "flock" and len(rest) > 1 and rest[0] == "-c":
        _add_line(found, rest[1])
        rest = ()
    if name in ("xargs", "parallel") and rest:
        rest = (*rest, None)
    if not rest:
        found.inner.append(found.words)
    found.words = rest


def _after_options(found: Unwrapped, words: Words, wrapper: _Wrapper) -> Words:
    valued, plain = wrapper.valued.split(), wrapper.plain.split()
    while words and words[0] is not None and words[0].startswith("-"):
        option = words[0]
        if option == "--":
            return words[1:]
        if option in valued:
            words = words[2:]
            continue
        name = option.split("=", 1)[0]
        is_known = option in plain or (name in (*valued, *plain) and "=" in option)
        is_glued = not option.startswith("--") and option[:2] in (*valued, *plain)
        is_number = option[1:].isdecimal()
        if option == "-S" or not (is_known or is_glued or is_number):
            found.opaque = True
        words = words[1:]
    return words


def _enter_shell(found: Unwrapped, stdin: str | None) -> None:
    """`sh -c text`, `sh <<EOF`, `sh file`, or a shell that reads what nobody has seen."""
    rest = found.words[1:]
    while rest and rest[0] is not None and rest[0][:1] in "-+" and rest[0] not in ("-", "--"):
        option = rest[0]
        if option.startswith("-") and not option.startswith("--") and "c" in option:
            _add_line(found, rest[1] if len(rest) > 1 else None)
            return
        rest = rest[2:] if option in ("-o", "-O", "+o", "--rcfile", "--init-file") else rest[1:]
        if option == "-s":
            rest = ()
    if rest and rest[0] in ("-", "--"):
        rest = rest[1:]
    if not rest:
        _add_line(found, stdin)
    elif rest[0] is None or rest[0].startswith(("/dev/", "/proc/")):
        found.opaque = True


def _find_inner(found: Unwrapped, name: str) -> None:
    words = found.words
    match name:
        case "eval" | "watch" | "ssh-agent":
            text = [word for word in words[1:] if word is not None]
            _add_line(found, " ".join(text) if len(text) == len(words) - 1 else None)
        case "trap":
            _add_line(found, words[1] if len(words) > 1 else "")
        case "alias":
            for word in words[1:]:
                _add_line(found, None if word is None else word.partition("=")[2])
        case "su" | "script" | "runuser":
            for at, word in enumerate(words[:-1]):
                if word in ("-c", "--command"):
                    _add_line(found, words[at + 1])
        case "find" | "fd":
            found.inner += list(_found_files(words))


def _found_files(words: Words) -> list[Words]:
    """The commands of `-exec … ;`; a matched file's name is not known."""
    commands: list[Words] = []
    starts = [at for at, word in enumerate(words)
              if word in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X")]  # fmt: skip
    for start in starts:
        rest = words[start + 1 :]
        end = next((at for at, word in enumerate(rest) if word in (";", "+")), len(rest))
        command = tuple(None if word is None or "{}" in word else word for word in rest[:end])
        commands.append((*command, None))
    return commands


def _add_line(found: Unwrapped, text: Word) -> None:
    if text is None:
        found.opaque = True
    elif text.strip():
        found.lines.append(text)
