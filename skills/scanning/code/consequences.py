"""Commands that are spelled plainly and still cost others their work, their keys or their door."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from ..ruleset import COMMANDS, PLACES
from ..values import Severity
from . import names
from .shell import Command
from .where import Where

Words = tuple[str, ...]
_STATEMENTS = re.compile(COMMANDS["destroying_statements"])
_CLIENTS = frozenset(COMMANDS["database_clients"])
_COPIERS = {"cp", "mv", "scp", "rsync", "install", "ln", "tar", "zip", "dd", "tee"}
_ALIAS = re.compile(r"\balias\s+(sudo|su|ssh|scp|git|gh|curl|wget|pip|npm|login|gpg|kubectl|aws)=")
_TOPIC = {
    "psql": "postgres",
    "git": r"(git|repo|branch|commit|histor)",
    "gh": "git",
    "aws": "aws",
    "ssh": "ssh",
}
_KEY = re.compile(r"\$\{?([A-Z][A-Z0-9]*)_[A-Z0-9_]*(?:TOKEN|KEY|SECRET|PASSWORD|PAT)\b")
_HOME = re.compile(r"~(/|$)")
_SAFE_HOMES = re.compile(r"~/\.?(cache|local/share/|npm|tmp|config/)\S+|~/\S+/\S+/\S+")


def check(command: Command, words: Words, where: Where) -> None:
    """Reports what the command would cost; lighter where it is the skill's declared trade."""
    _check_destroys(command, words, where)
    _check_tunnels(command, words, where)
    _check_copies(command, words, where)
    _check_remote(command, words, where)
    _check_address(command, words, where)
    _check_container(command, words, where)
    _check_key(command, words, where)
    if _ALIAS.search(command.text) and any(map(names.PERSISTENCE.search, command.writes)):
        where.tell("code.persistence", command.line, command.text)


def inner_commands(words: Words) -> Iterator[tuple[str, ...]]:
    """What `find … -exec` starts, with what it sought in the place of `{}`."""
    if words[:1] != ("find",):
        return
    sought = " ".join(words[1:])
    for at, word in enumerate(words):
        if word in {"-exec", "-execdir", "-ok"}:
            end = next((i for i in range(at, len(words)) if words[i] in {";", "\\;", "+"}), None)
            yield tuple(one.replace("{}", _found(sought)) for one in words[at + 1 : end])


def _found(sought: str) -> str:
    """A path that the search would find, so that the reader of paths can judge it."""
    keys = re.search(r"\*?\.(pem|key|ppk|p12|pfx|kdbx|env)\b|id_[rd]sa|\.ssh|\.aws", sought)
    return "~/.ssh/id_rsa" if keys else "{}"


def _is_trade(words: Words, where: Where) -> bool:
    """Whether the skill says of itself that it works with this program."""
    about = where.exam.about.partition("\n")[2].lower()
    return bool(re.search(rf"\b{_TOPIC.get(words[0]) or re.escape(words[0])}", about))


def _tell(rule: str, command: Command, words: Words, where: Where) -> None:
    light = Severity.INFO if where.shown and _is_trade(words, where) else Severity.WARN
    where.tell(rule, command.line, command.text, severity=light)


def _check_destroys(command: Command, words: Words, where: Where) -> None:
    said = words[0] in _CLIENTS and any(map(_STATEMENTS.search, (*words[1:], command.fed)))
    if said or matches(words, "destroys") or _wipes_home(words):
        _tell("code.destructive", command, words, where)


def _wipes_home(words: Words) -> bool:
    """`find ~ -delete`, `rm -rf ~/projects`: a person's own files, not a cache below them."""
    if words[0] == "find":
        return "-delete" in words and bool(_HOME.match(words[1]) or words[1] == "/")
    recursive = any(re.match(r"-[a-zA-Z]*[rR]|--recursive", word) for word in words[1:])
    return words[0] == "rm" and recursive and any(
        _HOME.match(word) and not _SAFE_HOMES.match(word) and not word.startswith("~/.")
        for word in words[1:]
    )  # fmt: skip


def _check_tunnels(command: Command, words: Words, where: Where) -> None:
    if matches(words, "tunnels"):
        _tell("code.reverse-shell", command, words, where)
    if matches(words, "lets_in"):
        _tell("code.lets-in", command, words, where)
    if matches(words, "publishes"):
        _tell("code.secret-copied", command, words, where)


def _check_copies(command: Command, words: Words, where: Where) -> None:
    """Keys that are copied elsewhere, by name."""
    if words[0] in _COPIERS and any(names.SECRETS.search(f" {word}") for word in words[1:-1]):
        where.tell("code.secret-copied", command.line, command.text)


def _check_remote(command: Command, words: Words, where: Where) -> None:
    """Remotes, servers and packages that come from an address of somebody's own."""
    if words[0] == "git" and {"remote", "submodule", "clone"} & set(words[1:3]):
        if any(word.startswith("ext::") for word in words):
            where.tell("code.git-settings", command.line, command.text)
        elif words[1:2] == ("remote",) and {"set-url", "add"} & set(words) and _strange(words):
            where.tell("code.git-settings-local", command.line, command.text)
    if words[0] in names.AGENTS and words[1:3] == ("mcp", "add") and _strange(words):
        where.tell("agent.settings-file", command.line, command.text)
    package = next((word for word in words[1:] if not word.startswith("-")), "")
    is_address = words[0] in names.RUNS_REMOTE and re.match(r"(?i)(git\+|https?://)", package)
    if is_address and not names.is_known_origin(package) and not names.is_local(package):
        where.tell("code.install-source", command.line, command.text)


_WELL_KNOWN = re.compile(PLACES["well_known"])


def _strange(words: Words) -> bool:
    return any(map(is_strange, words))


def is_strange(address: str) -> bool:
    """Whether it is an address, and one of nobody we know."""
    name = names.host(address) if "://" in address else ""
    return bool(name) and not _WELL_KNOWN.search(name) and not names.is_inner(address)


def _check_address(command: Command, words: Words, where: Where) -> None:
    """What is run or installed from an address that nobody knows."""
    runs = matches(words, "runs_address")
    remote = runs and any(_is_remote(word, words[0]) for word in words[1:])
    from_forge = words[0] in names.RUNS_REMOTE and _FORGE.search(" ".join(words[1:4]))
    if from_forge or remote:
        where.tell("code.install-source", command.line, command.text)


_FORGE = re.compile(r"(^| )(github|gitlab|bitbucket|gist):\S+/\S+")
_MODULE = re.compile(r"[\w-]+(\.[\w-]+)+/\S+")


def _is_remote(word: str, program: str) -> bool:
    """Whether the word is an address of nobody we know, with a scheme or as Go names modules."""
    address = word.partition("=")[2] if word.startswith("--") else word
    if "://" not in address and not (program == "go" and _MODULE.match(address)):
        return False
    name = names.host(address.removeprefix("git+"))
    ours = _WELL_KNOWN.search(name) or names.is_inner(name)
    return not (ours or names.is_known_origin(address))


def _check_container(command: Command, words: Words, where: Where) -> None:
    """A container that is given the machine: all rights, its own ruler, or a home directory."""
    runs = words[0] in {"docker", "podman", "nerdctl"} and {"run", "create"} & set(words[1:3])
    if runs and _MACHINE.search(" ".join(words)):
        _tell("code.lowers-guard", command, words, where)


_MACHINE = re.compile(
    r"--privileged|--(pid|net|network|userns|ipc)[= ]host|docker\.sock:|cap-add[= ](ALL|SYS_ADMIN)"
    r"|(-v|--volume)[= ](/|~/?|/root|/home|/etc|~/\.(ssh|aws|kube|gnupg)[^:]*):"
)


def _check_key(command: Command, words: Words, where: Where) -> None:
    """A key of a known service in a request to a host that is not that service's."""
    if words[0] not in names.SENDERS:
        return
    hosts = [names.host(word) for word in words[1:] if "://" in word]
    known: dict[str, list[str]] = PLACES["known_keys"]
    for service in _KEY.findall(command.text):
        if service in known and hosts and not any(
            part in host for host in hosts for part in known[service]
        ):  # fmt: skip
            where.tell("code.key-elsewhere", command.line, command.text)


def matches(words: Words, table: str) -> bool:
    """Whether the command begins as a row of the table and holds its further words in order."""
    rows = _BY_FIRST[table].get(words[0], ())
    return any(_in_order(words[1:], row) for row in rows)


def _by_first(table: Sequence[Sequence[str]]) -> dict[str, list[Sequence[str]]]:
    found: dict[str, list[Sequence[str]]] = {}
    for first, *rest in table:
        found.setdefault(first, []).append(rest)
    return found


_BY_FIRST = {
    name: _by_first(COMMANDS[name])
    for name in (
        "destroys",
        "tunnels",
        "lets_in",
        "publishes",
        "runs_address",
        "lowers_guard",
        "decides_for_people",
        "secret_printers",
    )  # fmt: skip
}


def _in_order(words: Words, wanted: Sequence[str]) -> bool:
    rest = iter(words)
    return all(any(_is_one_of(word, choices) for word in rest) for choices in wanted)


def _is_one_of(word: str, choices: str) -> bool:
    return any(fnmatchcase(word, choice) for choice in choices.split("|"))
