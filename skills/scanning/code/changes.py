"""What one command would change for good: git's settings, files, packages, guards, what starts."""

import re
from collections.abc import Callable

from ..ruleset import COMMANDS
from ..values import Severity
from . import consequences, lookalikes, names
from .shell import Command
from .where import Where


def _check_git(command: Command, words: tuple[str, ...], where: Where) -> None:
    if words[0] != "git":
        return
    settings = [word.partition("=")[0] for at, word in enumerate(words) if words[at - 1] == "-c"]
    if "config" in words:
        rest = [word for word in words[words.index("config") + 1 :] if not word.startswith("-")]
        reading = any(word in {"--get", "--get-all", "--list", "-l", "--unset"} for word in words)
        if len(rest) > 1 and not reading:
            settings.append(rest[0])
    for setting in settings:
        if names.GIT_SETTINGS.match(setting):
            harmless = names.GIT_HARMLESS.match(setting) and "!" not in words[-1]
            harmless = harmless or _keeps_safely(setting, words[-1])
            everywhere = any(word in {"--global", "--system"} for word in words)
            redirects = re.search(r"(?i)insteadof|pushurl|helper|proxy|extraheader", setting)
            if setting.lower().endswith("sslcainfo"):
                everywhere = False
            rule = "code.git-settings" if everywhere or redirects else "code.git-settings-local"
            where.tell(
                rule, command.line, command.text, severity=Severity.INFO if harmless else None
            )
    if "push" in words:
        where.can("network", command.line)


def _keeps_safely(setting: str, given: str) -> bool:
    """Whether git is told to keep credentials where the system keeps them."""
    is_helper = re.match(r"(?i)credential(\..*)?\.helper$", setting)
    if is_helper:
        return bool(_HELPERS.match(given)) or given == ""
    if re.match(r"(?i)http\..*proxy$", setting):
        return names.is_inner(given)
    if re.match(r"(?i)core\.hookspath$", setting):
        return bool(_OWN_HOOKS.fullmatch(given))
    if re.match(r"(?i)filter\.lfs\.", setting):
        return given.startswith("git-lfs ")
    # `url.git@github.com:.insteadOf https://github.com/` stays with the same host.
    hosts = set(_HOSTS.findall(f"{setting} {given}".lower()))
    return bool(re.search(r"(?i)insteadof$", setting)) and len(hosts) == 1


_OWN_HOOKS = re.compile(r"\.?(/)?\.?(githooks|hooks|husky(/_)?)/?")
_HOSTS = re.compile(r"(?:://|@)((?:[\w-]+\.)+[a-z]{2,})")
_HELPERS = re.compile(COMMANDS["credential_helpers"])
_EVERYTHING = re.compile(r"/|~|~/|/\*|~/\*|\.\./?|/(home|usr|etc|var|root|Users)/?\*?")


def _check_deletes(command: Command, words: tuple[str, ...], where: Where) -> None:
    name = words[0]
    if name in names.DELETERS or name == "find" and "-delete" in words:
        where.can("deletes", command.line)
        recursive = any(
            re.match(r"-[a-zA-Z]*[rR]|--recursive|--no-preserve-root", w) for w in words
        )
        if recursive and any(map(_EVERYTHING.fullmatch, words[1:])):
            where.tell("code.destructive", command.line, command.text)
    if name == "dd" and any(re.match(r"of=/dev/(sd|nvme|disk|hd|mmc)", word) for word in words):
        where.tell("code.destructive", command.line, command.text)
    if name.startswith("mkfs") or name in {"wipefs", "fdisk"} and len(words) > 1:
        where.tell("code.destructive", command.line, command.text, severity=Severity.WARN)


def _check_installs(command: Command, words: tuple[str, ...], where: Where) -> None:
    name, rest = words[0], words[1:]
    if name.startswith("python") and rest[:2] == ("-m", "pip"):
        name, rest = "pip", rest[2:]
    if name in names.RUNS_REMOTE or name in names.INSTALLERS and any(
        word in names.INSTALL_WORDS for word in rest[:4]
    ):  # fmt: skip
        where.can("installs", command.line)
        where.can("network", command.line)
        odd = name not in names.RUNS_REMOTE and _takes_from_elsewhere(name, rest)
        if odd:
            where.tell("code.install-source", command.line, command.text)
        packages = rest[:1] if name in names.RUNS_REMOTE else rest
        if any(lookalikes.resembles_another(name, word) for word in packages):
            where.tell("code.lookalike-package", command.line, command.text)


def _takes_from_elsewhere(name: str, rest: tuple[str, ...]) -> bool:
    """Whether packages come from an address or an index that is not the language's own."""
    option = ""
    for word in rest:
        index, _, given = word.partition("=")
        address = given or word.rpartition(" @ ")[2]
        is_index = (index in _INDEX_SWITCHES or option in _INDEX_SWITCHES) and name in _INDEXED
        is_plain = not option.startswith("--") or option in _BARE_SWITCHES or is_index
        is_address = re.match(r"(?i)(git\+|https?://|git@|ssh://)", address)
        ours = names.is_local(address) or names.is_known_origin(address)
        if is_address and (is_plain or given) and not ours:
            return True
        option = word if word.startswith("-") and not given else ""
    return False


_INDEX_SWITCHES = {"--extra-index-url", "--index-url", "--registry", "--find-links", "-i", "-f",
                   "--default-index", "--index", "--source"}  # fmt: skip
_BARE_SWITCHES = {"--upgrade", "--user", "--quiet", "--pre", "--no-cache-dir", "--no-deps",
                  "--force-reinstall", "--break-system-packages", "--no-build-isolation",
                  "--editable", "--global", "--save", "--save-dev", "--save-exact", "--dev",
                  "--force", "--yes", "--system", "--no-audit", "--no-fund"}  # fmt: skip
_INDEXED = {"pip", "pip3", "npm", "pnpm", "yarn", "uv", "gem", "pipx", "poetry"}


def _check_brakes(command: Command, words: tuple[str, ...], where: Where) -> None:
    if command.words[:1] == ("sudo",) and "-S" in command.words[1:4]:
        where.tell("code.lowers-guard", command.line, command.text)
    if any(word in names.UNSAFE_SWITCHES for word in words):
        where.tell("agent.unsafe-switch", command.line, command.text)
    lighter = Severity.INFO if where.shown else None
    if words[0] in names.AGENTS and words[1:3] in {("mcp", "add"), ("config", "set")}:
        where.tell("agent.settings-file", command.line, command.text, severity=lighter)
    if _ADDS_SKILLS.search(command.text) and (not where.shown or _UNASKED.search(command.text)):
        where.tell("agent.settings-file", command.line, command.text)
    if consequences.matches(words, "decides_for_people"):
        is_body = where.file.lower() == "skill.md"
        where.tell(
            "agent.decides", command.line, command.text, severity=None if is_body else lighter
        )
    if consequences.matches(words, "lowers_guard") or words == ("unset", "HISTFILE"):
        where.tell("code.lowers-guard", command.line, command.text)


_ADDS_SKILLS = re.compile(r"\bskills (add|install)\b|\bplugin (install|marketplace add)\b")
_UNASKED = re.compile(r"(^|\s)(-y|--yes|-g|--global)\b")


def _check_persistence(command: Command, words: tuple[str, ...], where: Where) -> None:
    name = words[0]
    starts = {"/create", "load", "bootstrap"} & set(words)
    if (
        name == "crontab"
        and words[1:] not in {(), ("-l",), ("-e",)}
        or (name in {"schtasks", "launchctl"} and starts)
    ):
        where.tell("code.persistence", command.line, command.text)
    if name == "systemctl" and "enable" in words:
        where.tell("code.persistence", command.line, command.text, severity=Severity.INFO)
    for variable, content in command.assigned:
        _judge_variable(variable, content, command, where)
    if name in {"export", "declare", "setx"}:
        for word in words[1:]:
            variable, _, content = word.partition("=")
            _judge_variable(variable, content, command, where)


_RUN_SOMETHING = {
    "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "PROMPT_COMMAND", "PYTHONSTARTUP",
    "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_GLOBAL", "NODE_OPTIONS",
    "PERL5OPT", "RUBYOPT", "NODE_TLS_REJECT_UNAUTHORIZED", "PYTHONHTTPSVERIFY",
}  # fmt: skip


_PROXIES = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "PIP_INDEX_URL", "NPM_CONFIG_REGISTRY",
            "UV_INDEX_URL", "PIP_EXTRA_INDEX_URL", "GOPROXY", "CARGO_REGISTRIES_CRATES_IO_INDEX",
            "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"}  # fmt: skip


def _judge_variable(variable: str, content: str, command: Command, where: Where) -> None:
    if variable.upper() in _PROXIES and consequences.is_strange(content):
        where.tell("code.relay", command.line, command.text)
    if variable in _RUN_SOMETHING and content:
        if "ProxyCommand" in content or content.startswith("/tmp/"):
            where.tell("code.persistence", command.line, command.text)
        heavy = variable not in {"NODE_OPTIONS", "GIT_CONFIG_GLOBAL"} or "require" in content
        if heavy:
            lighter = Severity.INFO if where.shown else None
            where.tell("code.persistence", command.line, command.text, severity=lighter)


CHECKS: tuple[Callable[[Command, tuple[str, ...], Where], None], ...] = (
    _check_git,
    _check_deletes,
    _check_installs,
    _check_brakes,
    _check_persistence,
    consequences.check,
)
