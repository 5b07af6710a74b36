"""Pipelines of commands: what they would fetch, run, read, send, change and keep."""

import re
from collections.abc import Callable, Iterator, Sequence

from ..ruleset import COMMANDS
from ..values import Severity
from . import changes, consequences, names
from .shell import Command, Pipeline, is_unknown, read
from .shell_words import UNKNOWN
from .where import Where

_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_CODE_SWITCH = re.compile(
    r"^-[a-zA-Z]*[ce]$|^--(command|eval|execute|print)$|^-(r|encodedcommand|enc|ec)$"
)
_NUMBER = re.compile(r"^[\d.]+[smhd]?$")


def bare(words: Sequence[str]) -> tuple[str, ...]:
    """The command without what only wraps it: `sudo -E env A=1 /bin/bash -s` → `bash -s`."""
    rest = list(words)
    while len(rest) > 1 and (_ASSIGNMENT.match(rest[0]) or program(rest[0]) in names.WRAPPERS):
        wrapper = names.base_name(rest.pop(0))
        while rest and (
            rest[0].startswith("-") or _ASSIGNMENT.match(rest[0]) or _NUMBER.match(rest[0])
        ):
            option = rest.pop(0)
            if wrapper in {"sudo", "doas", "xargs", "timeout", "nice"} and option in {
                "-u", "-g", "-n", "-I", "-P", "-L", "-k", "-s",
            } and len(rest) > 1:  # fmt: skip
                rest.pop(0)
    return (program(rest[0]), *rest[1:]) if rest else ()


def program(word: str) -> str:
    """The program that a word names; a part that only a shell knows may well be empty."""
    whole = names.base_name(word.replace(UNKNOWN, ""))
    return whole if UNKNOWN in word and whole in names.INTERESTING else names.base_name(word)


def judge(pipelines: Iterator[Pipeline], where: Where) -> None:
    """Reports what a sequence of pipelines would do."""
    fetched: set[str] = set()
    for pipeline in pipelines:
        _judge_pipeline(pipeline, where, fetched)


def judge_text(text: str, where: Where) -> None:
    """Reports what a shell text would do."""
    judge(read(text, where.line), where)


def judge_words(words: Sequence[str], where: Where, line: int) -> None:
    """Reports what one command, given as its words, would do."""
    command = Command(tuple(words), " ".join(words)[:500], line, words[0] if words else "")
    _judge_pipeline((command,), where, set())


def _judge_pipeline(pipeline: Pipeline, where: Where, fetched: set[str]) -> None:
    stages = [(command, bare(command.words)) for command in pipeline]
    _judge_flow(stages, where, fetched)
    for command, words in stages:
        _judge_command(command, words, where, fetched)
        for inner in command.inner:
            _judge_pipeline(inner, where, fetched)
        for started in consequences.inner_commands(words):
            judge_words(started, where, command.line)


Stage = tuple[Command, tuple[str, ...]]


def _judge_flow(stages: list[Stage], where: Where, fetched: set[str]) -> None:
    """What one stage hands to the next."""
    carried: set[str] = set()
    address = ""
    for command, words in stages:
        if runs_input(words) or command.words[:1] == ("xargs",) and words[:1] in _SHELL_FIRST:
            if "download" in carried:
                tell_download_run(address, command, where)
            if "decode" in carried:
                where.tell("code.decode-run", command.line, _whole(stages))
            if command.fed or carried & {"text", "fed"}:
                for text in _fed(stages, command):
                    where.read_inside("shell", text, command.line)
        if "download" in carried and not names.is_known_installer(address):
            fetched.update(_targets(command, words))
            if words[:1] == ("tar",) and not _is_forge(address):
                fetched.add("./")
        _judge_sender(stages, command, words, carried, where)
        carried |= _carries(command, words)
        if carried & {"secret", "environment"}:
            where.exam.taint(where.file, _targets(command, words))
        address = _address(words) or address


_SHELL_FIRST = {(one,) for one in names.SHELLS}


def _is_forge(address: str) -> bool:
    """Whether an archive comes from somebody that pages of all kinds name."""
    return not consequences.is_strange(address)


def _judge_sender(
    stages: list[Stage], command: Command, words: tuple[str, ...], carried: set[str], where: Where
) -> None:
    """Private data that reaches a program which sends it."""
    if not words:
        return
    if words[0] in names.SENDERS:
        drop = names.DROP_SITES.search(command.text)
        strange = bool(drop) or any(map(consequences.is_strange, words))
        if carried & {"secret", "environment"} or "settings" in carried and strange:
            where.tell("code.secret-sent", command.line, _whole(stages))
    if words[0] in _CAPTURES:
        where.exam.taint(where.file, [word for word in words[1:] if "/" in word or "." in word])


def _targets(command: Command, words: tuple[str, ...]) -> list[str]:
    """Files that a command writes what it read to."""
    targets = [path for path in command.writes if path not in _STREAMS]
    if words and words[0] in {
        "tar",
        "zip",
        "cp",
        "mv",
        "install",
        "7z",
        "rsync",
        "gpg",
        "openssl",
        "tee",
        "dd",
    }:
        targets += [word.removeprefix("of=") for word in words[1:] if "/" in word or "." in word]
    return [path for path in targets if not names.SECRETS.search(f" {path}")]


_STREAMS = {"/dev/null", "/dev/stderr", "/dev/stdout", "1", "2", "&1", "&2"}


def _whole(stages: list[Stage]) -> str:
    return " | ".join(command.text for command, _ in stages)


def _fed(stages: list[Stage], command: Command) -> Iterator[str]:
    """Plain text that is piped or redirected into an interpreter."""
    for other, words in stages:
        if other.fed and (other is command or words[:1] in {("cat",), ("tee",)}):
            yield other.fed
        if words and words[0] in {"echo", "printf"}:
            yield " ".join(words[1:])


def _carries(command: Command, words: tuple[str, ...]) -> set[str]:
    """What a stage's output may hold."""
    out = _prints(command, words) if words else set()
    for inner in (*command.inner, *command.called):
        for one in inner:
            out |= _carries(one, bare(one.words))
    return out


def _prints(command: Command, words: tuple[str, ...]) -> set[str]:
    """What the program itself puts out."""
    name, out = words[0], _private(command, words)
    if name in names.DOWNLOADERS | _PIPES_IN and not is_only_local(words):
        out.add("download")
    if name in names.DECODERS and is_decoding(words):
        out.add("decode")
    if name in {"echo", "printf"}:
        out.add("text")
    if command.fed:
        out.add("fed")
    return out


def _private(command: Command, words: tuple[str, ...]) -> set[str]:
    """What is the user's own in it."""
    name, out = words[0], set[str]()
    if name in names.ENVIRONMENT and len(words) == 1 or words == ("export", "-p"):
        out.add("environment")
    if reads_secret(command, words) or name in _PRIVATE_PRINTERS:
        out.add("secret")
    if name in names.READERS and any(names.OWN_SETTINGS.search(f" {word}") for word in words[1:]):
        out.add("settings")
    if name in {"ls", "find", "echo", "printf"} and _names_secret(words):
        out.add("secret")
    return out


def _names_secret(words: tuple[str, ...]) -> bool:
    return any(names.SECRETS.search(f" {word}") for word in words[1:])


_CAPTURES = {"screencapture", "scrot", "gnome-screenshot", "grim", "arecord", "maim"}
_PRIVATE_PRINTERS = frozenset(COMMANDS["private_printers"])
_PIPES_IN = frozenset(COMMANDS["pipes_in"]) - {"openssl"}


def runs_input(words: tuple[str, ...]) -> bool:
    """Whether the command runs what is piped into it, as `sh`, `bash -s` and `python -` do."""
    if not words or words[0] not in names.INTERPRETERS:
        return words[:1] == ("tee",) and any(">(" in word for word in words)
    if words[0] in {"at", "batch", "iex", "invoke-expression"}:
        return True
    for word in words[1:]:
        if word in {"-", "-s", "/dev/stdin", "--"}:
            return True
        if _CODE_SWITCH.match(word) or word in {"-m", "--version", "-V", "-h", "--help"}:
            return False
        if not word.startswith("-"):
            return False
    return words[0] not in {"eval", "source", "."}


def is_decoding(words: tuple[str, ...]) -> bool:
    """Whether a program of the decoders really decodes here."""
    name, rest = words[0], words[1:]
    if name in {"base64", "base32", "basenc", "base58", "uudecode"}:
        return name == "uudecode" or any(re.match(r"-[a-z]*[dD]|--decode", word) for word in rest)
    if name == "openssl":
        return any(word in {"-d", "enc", "base64"} for word in rest)
    if name == "xxd":
        return any(re.match(r"-[a-z]*r", word) for word in rest)
    if name in {"gzip", "gpg"}:
        return any(re.match(r"-[a-z]*d|--decompress|--decrypt", word) for word in rest)
    return name != "tr" or len(rest) > 1 and not rest[0].startswith("-")


def reads_secret(command: Command, words: tuple[str, ...]) -> bool:
    """Whether the command reads sign-in data of the machine or of another program."""
    if words and consequences.matches(words, "secret_printers"):
        return True
    if any(names.SECRETS.search(path) for path in command.reads):
        return True
    opens = words and (words[0] in names.READERS or words[0] in names.SENDERS)
    return bool(opens) and any(names.SECRETS.search(f" {word}") for word in words[1:])


def is_only_local(words: tuple[str, ...]) -> bool:
    addresses = [
        word for word in words[1:] if "://" in word or re.match(r"\w[\w.@-]*(:\d+)?(/|$)", word)
    ]
    hosts = [word for word in addresses if "://" in word] or addresses[:1]
    return bool(hosts) and all(names.is_near(word) for word in hosts)


def _address(words: tuple[str, ...]) -> str:
    if not words or words[0] not in names.DOWNLOADERS:
        return ""
    plain = [word for word in words[1:] if not word.startswith("-")]
    return next((word for word in plain if "://" in word), plain[-1] if plain else "")


def tell_download_run(address: str, command: Command, where: Where) -> None:
    """A known publisher's page may show its installer; a file that runs has no such excuse."""
    if where.shown and not _PLACE.search(address):
        rule = "code.download-run-known"
    elif names.is_known_installer(address):
        rule = "code.download-run-known" if where.shown else "code.download-run-shown"
    elif where.shown and (names.is_local(address) or _is_plain(address)):
        rule = "code.download-run-shown"
    else:
        rule = "code.download-run"
    where.tell(rule, command.line, f"{address} → {command.text}")


def _is_plain(address: str) -> bool:
    return address.startswith("https://") and not _is_odd(address)


# `curl … | sh` without a place names a habit; nobody can run it.
_PLACE = re.compile(r"\w{2}|\$")


def _is_odd(address: str) -> bool:
    name = names.host(address)
    return bool(
        re.fullmatch(r"[\d.]+|\[.*", name)
        or "xn--" in name
        or names.DROP_SITES.search(address)
        or names.SHORT_LINKS.search(address)
    )


# ---------------------------------------------------------------------------------------------


def _judge_command(
    command: Command, words: tuple[str, ...], where: Where, fetched: set[str]
) -> None:
    _judge_files(command, words, where)
    if not words:
        return
    _judge_spelling(command, words, where)
    _judge_run_of_inner(command, words, where)
    _judge_staged(command, words, where, fetched)
    for check in _CHECKS:
        check(command, words, where)
    _judge_nested_code(command, words, where)


def _judge_spelling(command: Command, words: tuple[str, ...], where: Where) -> None:
    """A name that was cut by quotes, escapes or variables only to be put together again."""
    typed = command.typed_name
    name = program(command.words[0]) if command.words else ""
    if name not in names.INTERESTING or typed.lower().endswith(name) or typed == "":
        return
    plain = typed.strip("\"'").removeprefix("\\").lower()
    if (
        names.base_name(plain) == name
        or plain.endswith(name)
        or re.fullmatch(r"\"?\$\{?\w+\}?\"?", typed)
    ):
        return
    where.tell("code.obfuscated", command.line, f"{typed} → {name}")


def _judge_run_of_inner(command: Command, words: tuple[str, ...], where: Where) -> None:
    """`bash -c "$(curl …)"`, `eval $(… | base64 -d)`, `source <(curl …)`, `$(curl …)`."""
    runs = words[0] in names.INTERPRETERS | _READS_PROGRAM or is_unknown(words[0])
    if not runs or not command.inner:
        return
    if words[0] in names.INTERPRETERS and words[0] not in {"eval", "source", "."}:
        switches = [at for at, word in enumerate(words) if _CODE_SWITCH.match(word)]
        is_code = any(is_unknown(word) for at in switches for word in words[at + 1 : at + 2])
        is_file = len(words) > 1 and is_unknown(words[1])
        if not (is_code or is_file):
            return
    for inner in command.inner:
        for one in inner:
            found = _carries(one, bare(one.words))
            if "download" in found:
                tell_download_run(_address(bare(one.words)), command, where)
            if "decode" in found:
                where.tell("code.decode-run", command.line, command.text)


_INSTALLS_FILES = {"dpkg", "rpm", "apt", "apt-get", "dnf", "yum", "installer", "msiexec", "pip"}
_READS_PROGRAM = {"make", "gmake", "awk", "gawk", "vim", "vi", "psql", "ansible-playbook"}


def _judge_staged(
    command: Command, words: tuple[str, ...], where: Where, fetched: set[str]
) -> None:
    """Download to a file first, run that file later."""
    if words[0] in names.DOWNLOADERS and not is_only_local(words):
        targets = list(command.writes)
        for at, word in enumerate(words):
            if re.match(r"-[a-zA-Z]*o$|-O$|--output(-document)?$|-OutFile$", word):
                targets += words[at + 1 : at + 2]
        address = _address(words)
        if any(re.match(r"-[a-zA-Z]*O$|--remote-name", word) for word in words):
            targets.append(address.rpartition("/")[2])
        if words[0].startswith(("wget", "lwp-download", "aria2c", "axel")) and not targets:
            targets += [address.rpartition("/")[2], words[-1]]
        if not names.is_known_installer(address) and _PLACE.search(address.rpartition("://")[2]):
            fetched.update(target.removeprefix("./") for target in targets if target.strip("-"))
        return
    if words[:2] == ("git", "clone"):
        address = next((word for word in words if consequences.is_strange(word)), "")
        fetched.update({address.rstrip("/").rpartition("/")[2].removesuffix(".git") + "/"} - {"/"})
    if fetched:
        _judge_run_of_fetched(command, words, where, fetched)


def _judge_run_of_fetched(
    command: Command, words: tuple[str, ...], where: Where, fetched: set[str]
) -> None:
    """A fetched file, or one out of a fetched folder, that is started, allowed to start, or
    installed."""
    run = words[1:2] if words[0] in names.INTERPRETERS else (command.words[:1])
    made = (
        words[2:] if words[0] == "chmod" and any("x" in w or "7" in w for w in words[1:2]) else ()
    )
    installed = words[1:] if words[0] in _INSTALLS_FILES else ()
    for path in (*run, *made, *installed):
        plain = path.removeprefix("./")
        within = any(one.endswith("/") and plain.startswith(one) for one in fetched)
        if plain in fetched or within or path.startswith("./") and "./" in fetched:
            rule = "code.download-run-shown" if where.shown else "code.download-run"
            where.tell(rule, command.line, command.text)


def _judge_files(command: Command, words: tuple[str, ...], where: Where) -> None:
    """Where the output goes."""
    targets = [path for path in command.writes if path not in _STREAMS]
    if words and words[0] in names.WRITERS:
        targets += [word for word in words[1:] if not word.startswith("-")]
    if targets:
        where.can("writes", command.line)
    for path in targets:
        _judge_target(path, command, where)
    for path in command.reads + command.writes:
        if "/dev/tcp/" in path or "/dev/udp/" in path:
            where.tell("code.reverse-shell", command.line, command.text + " " + path)


def _judge_target(path: str, command: Command, where: Where) -> None:
    if names.FOREIGN_KEYS.search(path):
        blank = Severity.WARN if _BLANK_KEY.search(command.text) else None
        where.tell("code.foreign-key", command.line, command.text, severity=blank)
    elif re.search(r"\.ssh/(config|rc|environment)\b", path):
        if re.search(r"(?i)ProxyCommand|LocalCommand|Match exec", command.text + command.fed):
            where.tell("code.persistence", command.line, command.text)
    elif names.PERSISTENCE.search(path):
        harmless = where.shown and re.search(r"(PATH|alias|eval \"\$|source|HOME)", command.text)
        where.tell(
            "code.persistence",
            command.line,
            command.text,
            severity=Severity.INFO if harmless else None,
        )
    if path == "/etc/hosts" and _KNOWN_HOST.search(command.text):
        where.tell("code.relay", command.line, command.text)
    if _PACKAGE_SETTINGS.search(path) and any(map(consequences.is_strange, _words(command))):
        where.tell("code.install-source", command.line, command.text)
    is_body = where.file.lower() == "skill.md"
    if names.AGENT_MEMORY.search(f" {path}") and (is_body or not where.shown):
        where.tell("agent.writes-memory", command.line, command.text)
        if is_body and _POLICY.search(command.text + command.fed):
            where.tell("prose.memory", command.line, command.text)


# What is put into a memory file as a rule about asking, checking or obeying.
_POLICY = re.compile(
    r"(?i)\bwithout (asking|confirm\w*|review|approval|telling)|\b(pre-?approved|auto-?approve"
    r"|trusted|bypass|--no-verify|skip (the )?(tests?|hooks?|review|checks?)|never ask|do not ask"
    r"|don't ask|(may|can) be (committed|ignored|skipped)|obey|ignore (the |all )?(warnings?"
    r"|findings?|failures?|scanner|instructions)|(do not|don't|never) (mention|tell|report))\b"
)
_BLANK_KEY = re.compile(r"(?i)ssh-\w+ (AAAA)?(\.\.\.|…|<|\$|your)")
_PACKAGE_SETTINGS = re.compile(
    r"^/etc/apt/|(^|/)(pip\.conf|pip\.ini|\.npmrc|\.yarnrc(\.yml)?|\.condarc|uv\.toml|\.gemrc"
    r"|\.cargo/config(\.toml)?|NuGet\.config|settings\.xml)$"
)


def _words(command: Command) -> list[str]:
    """The words of a command; of text with `\\n` in it, those of each line."""
    return re.sub(r"\\n", " ", command.text).split()


_KNOWN_HOST = re.compile(
    r"(?i)\b(github|gitlab|pypi|npmjs|anthropic|openai|googleapis|microsoft|docker)\.(com|org|io)\b"
)


def _check_network(command: Command, words: tuple[str, ...], where: Where) -> None:
    name = words[0]
    if name in names.DOWNLOADERS | names.SENDERS and not (
        name == "openssl" and "s_client" not in words
    ):
        where.can("network", command.line)
        where.did("network", command.line, " ".join(words)[:200])
        sends_file = any(
            re.match(r"@|-F|--form|-T|--upload|-d@|--data|--post-file", word) for word in words
        )
        names_secret = any(
            names.SECRETS.search(word) or sends_file and re.search(r"@[^ ]*\.env\b", word)
            for word in words[1:]
        )
        if where.exam.is_tainted(where.file, words[1:]):
            where.tell("code.secret-sent", command.line, command.text)
        if names_secret and name not in {"ssh", "scp", "rsync", "sftp"} or _inner_secret(command):
            where.tell("code.secret-sent", command.line, command.text)
        if any("169.254.169.254" in word for word in words):
            where.did("secret-file", command.line, "the cloud's metadata service")
    if (
        name in names.RESOLVERS
        and any(is_unknown(word) for word in words[1:])
        and command.inner
        or _inner_secret(command)
        and any(_IN_HOST.search(word) for word in words)
    ):
        whole = any(word.strip("\0") == "" for word in words[1:])
        weight = Severity.WARN if whole else None
        where.tell("code.name-lookup", command.line, command.text, severity=weight)
    if name == "ssh" and any(re.match(r"-[A-Za-z]*R", word) for word in words):
        where.tell("code.reverse-shell", command.line, command.text, severity=Severity.WARN)
    if name in {"nc", "ncat", "netcat", "socat"} and re.search(
        r"(^| )-[a-z]*[ec]\b|EXEC:|exec:|SYSTEM:", " ".join(words)
    ):
        # The switch alone, with nobody to call, is spoken of rather than used.
        weight = Severity.INFO if where.shown and len(words) < FEWEST_TO_CALL else None
        where.tell("code.reverse-shell", command.line, command.text, severity=weight)


FEWEST_TO_CALL = 4
_IN_HOST = re.compile(r"\x00[\w.-]*\.[a-z]{2,}|://[^ ]*\x00")


def _inner_secret(command: Command) -> bool:
    carried: set[str] = set()
    for inner in command.inner:
        for one in inner:
            words = bare(one.words)
            carried |= _carries(one, words)
            if words and words[0] in names.READERS and any(
                names.OWN_SETTINGS.search(f" {word}") for word in words[1:]
            ):  # fmt: skip
                carried.add("secret")
    return bool(carried & {"secret", "environment"})


def _check_secret(command: Command, words: tuple[str, ...], where: Where) -> None:
    if reads_secret(command, words):
        where.can("secrets", command.line)
        where.did("secret-file", command.line, " ".join(words)[:200])
        if not where.shown:
            where.tell("code.secret-read", command.line, command.text)
    if words[0] in names.ENVIRONMENT and len(words) == 1 and words[0] in {"env", "printenv"}:
        where.did("environment-dump", command.line, words[0])


_CHECKS: tuple[Callable[[Command, tuple[str, ...], Where], None], ...] = (
    _check_network,
    _check_secret,
    *changes.CHECKS,
)


def _judge_nested_code(command: Command, words: tuple[str, ...], where: Where) -> None:
    """Code given as a word or a here-document to an interpreter."""
    if words[0] in names.INTERPRETERS:
        where.can("shell", command.line)
    for language, text in nested_code(words, command):
        if text:
            where.read_inside(language, text, command.line)


def nested_code(words: tuple[str, ...], command: Command) -> Iterator[tuple[str, str]]:
    """(language, text) of the code that a command carries in its words."""
    name = words[0]
    if name in {"awk", "gawk", "vim", "vi"}:
        yield "words", " ".join(words[1:])
    if name not in names.INTERPRETERS:
        if command.fed and command.writes and name in {"cat", "tee"}:
            suffix = command.writes[-1].rpartition(".")[2]
            yield (
                {"py": "python", "js": "javascript", "sh": "shell"}.get(suffix, "words"),
                command.fed,
            )
        return
    language = language_of(name)
    for at, word in enumerate(words[1:-1], start=1):
        if _CODE_SWITCH.match(word) and not is_unknown(words[at + 1][:1]):
            yield language, words[at + 1]
    if name in {"eval", "iex"}:
        yield "shell", " ".join(words[1:])
    if command.fed and runs_input(words):
        yield language, command.fed


def language_of(name: str) -> str:
    """The language that an interpreter runs."""
    if name.startswith(("python", "pypy", "ipython")):
        return "python"
    if name in {"node", "nodejs", "deno", "bun", "tsx", "ts-node"}:
        return "javascript"
    if name in {"pwsh", "powershell", "iex"}:
        return "powershell"
    if name in {"ruby", "perl", "php", "lua"}:
        return name
    return "shell" if name in names.SHELLS else "words"
