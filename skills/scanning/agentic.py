"""Files and texts that speak to agents, editors and build tools past the skill itself."""

import json
import re
from collections.abc import Iterator
from typing import Any

from .code import judge_code
from .code.names import is_known_origin, is_local
from .code.where import Where
from .examination import Artefact, Examination
from .values import Severity

_INSTRUCTIONS = re.compile(
    r"(?i)^((AGENTS|CLAUDE|GEMINI|QWEN|WARP|SOUL)(\.local|\.override)?\.md|\.cursorrules"
    r"|\.windsurfrules|\.clinerules|\.goosehints|copilot-instructions\.md|.*\.instructions\.md"
    r"|.*\.mdc|\.aider\.conf\.ya?ml|llms?\.txt|opencode\.jsonc?)$"
)
_TOOL_FOLDER = re.compile(
    r"(?i)(^|/)\.(claude|cursor|codex|gemini|opencode|qwen|agents|windsurf|continue|roo|kilocode|amp)"
    r"(/(agents|commands|skills|rules|hooks|plugins|memory|settings[^/]*|mcp[^/]*|config[^/]*))"
)
_MCP = re.compile(
    r"(?i)^(\.?mcp(\.[a-z]+)?\.json|claude_desktop_config\.json|mcp_config\.json|mcp[-_]servers?\.json)$"
)
_HOOKS = re.compile(r"(?i)^(hooks?\.json|.*hooks?\.(ya?ml|toml)|settings\.local\.json)$")
_AUTO_RUN = re.compile(
    r"(?i)^(tasks\.json|\.envrc|\.autoenv|\.pre-commit-config\.ya?ml|\.gitmodules|\.gitattributes"
    r"|\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.cjs|pip\.conf|\.pypirc|\.condarc|\.gitconfig|\.bashrc"
    r"|\.bash_profile|\.profile|\.zshrc|\.zshenv|\.inputrc|\.vimrc|\.exrc|\.lldbinit|\.gdbinit"
    r"|devcontainer\.json|\.tool-versions|\.mise\.toml|\.editorconfig-exec|conftest\.py|\.rspec"
    r"|\.bunfig\.toml|bunfig\.toml|\.irbrc|\.pryrc|\.Rprofile|\.sqliterc|\.psqlrc|\.nanorc)$"
)
_STARTS = re.compile(
    r"(?i)^(.*\.pth|sitecustomize\.py|usercustomize\.py|.*\.desktop|.*\.plist|.*\.service|.*\.timer|crontab)$"
)
_NATIVE_PACKAGES = {"setup.py", "build.rs", "binding.gyp", "extconf.rb", "configure"}
_INSTALL_SCRIPTS = ("preinstall", "install", "postinstall", "prepare", "prepublish", "preprepare",
                    "postprepare", "dependencies")  # fmt: skip
_RUN_ON_LOAD = re.compile(
    r"(?m)(?:^|[\s(])!`([A-Za-z$./~][^`\n]{1,500})`|^```!\s*\n(.*?)^```", re.DOTALL
)


_HOOK_PLACE = re.compile(
    r"(?i)(^|/)\.(claude|cursor|codex|gemini|kiro|opencode|windsurf|qwen|git|husky)/"
    r"(hooks?|plugins?|_)(/[^/]+|\.\w+)$|\.kiro\.hook$"
)
_GIT_HOOK = re.compile(
    r"^(pre-commit|pre-push|commit-msg|prepare-commit-msg|post-(checkout|merge|commit|rewrite)"
    r"|pre-(rebase|receive)|post-receive|update)$"
)
# Files for others, of the kind that the skill says it makes.
_TEMPLATE = re.compile(r"(?i)(^|/)(assets|templates?|examples?|references?|samples?)/")
_MADE = re.compile(
    r"(?i)systemd|\bservices?\b|\btimers?\b|launchd|\bcron|daemon|pre-?commit|dev ?containers?"
    r"|direnv|\bnpm\b|\bgit\b|\bhooks?\b|\bpush|desktop (entry|file)"
    r"|dotfiles|editor settings|git attributes"
)


def _is_wares(artefact: Artefact, exam: Examination) -> bool:
    about = exam.about.partition("\n")[2]
    return bool(_TEMPLATE.search(artefact.path) and _MADE.search(about))


def check_path(artefact: Artefact, exam: Examination) -> None:
    """What the name alone says."""
    path, name, report = artefact.path, artefact.name, exam.report
    if _MCP.match(name):
        report.add("agent.mcp-file", path)
    elif _HOOK_PLACE.search(path) or _GIT_HOOK.match(name):
        is_ware = bool(_GIT_HOOK.match(name)) and _is_wares(artefact, exam)
        report.add("agent.hook-file", path, severity=Severity.INFO if is_ware else Severity.WARN)
    elif (
        _HOOKS.match(name)
        or re.search(r"(?i)(^|/)\.?(hooks|claude/hooks)/[^/]+$", path)
        and name != "SKILL.md"
    ):
        if _HOOKS.match(name) or artefact.executable:
            report.add("agent.hook-file", path)
    elif _INSTRUCTIONS.match(name):
        template = re.search(
            r"(?i)(^|/)(assets|templates?|examples?|references?|samples?|fixtures)/", path
        )
        report.add("agent.instructions-file", path, severity=Severity.INFO if template else None)
    elif _TOOL_FOLDER.search(path) or re.search(
        r"(?i)(^|/)\.(vscode|idea|devcontainer|github/workflows|circleci|husky)/", path
    ):
        report.add("agent.settings-file", path)
    elif _AUTO_RUN.match(name):
        plain = name == ".gitattributes" and not re.search(rb"filter=(?!lfs)", artefact.data)
        wares = Severity.INFO if plain or _is_wares(artefact, exam) else None
        report.add("agent.auto-run", path, severity=wares)
    if _STARTS.match(name):
        severity = None if name.lower().endswith((".pth", "customize.py")) else Severity.WARN
        if severity and _is_wares(artefact, exam):
            severity = Severity.INFO
        report.add("code.start-hook", path, severity=severity)


def check_text(artefact: Artefact, text: str, exam: Examination) -> None:
    """What a settings file or a skill's body sets in motion."""
    if artefact.name == "package.json":
        _check_package(artefact, text, exam)
    if artefact.suffix in {"json", "jsonc", "toml", "yaml", "yml"}:
        _check_settings(artefact, text, exam)
    if re.fullmatch(r"(?i)(.*requirements.*\.(txt|in)|constraints\.txt)", artefact.name):
        _check_requirements(artefact, text, exam)
    if artefact.name in _LOCKS:
        _check_lock(artefact, text, exam)
    if artefact.name == "pyproject.toml" and "backend-path" in text:
        exam.report.add("code.install-hook", artefact.path, excerpt="a build backend of its own")
    if artefact.name in _NATIVE_PACKAGES:
        exam.report.can("installs", artefact.path)
        if artefact.name != "setup.py" or re.search(
            r"cmdclass|subprocess|os\.system|urlopen|requests", text
        ):
            exam.report.add("code.install-hook", artefact.path, line=1)
    if artefact.suffix == "md":
        for found in _RUN_ON_LOAD.finditer(text) if "!`" in text or "`!" in text else ():
            line = text.count("\n", 0, found.start()) + 1
            command = found[1] or found[2]
            exam.report.add("agent.load-command", artefact.path, line=line, excerpt=command)
            judge_code("shell", command, Where(exam, artefact.path, judge_code, line))


def _check_requirements(artefact: Artefact, text: str, exam: Examination) -> None:
    """Packages from an address or another index than PyPI."""
    exam.report.can("installs", artefact.path)
    for number, line in enumerate(text.split("\n"), start=1):
        entry = line.split("#")[0].strip()
        address = re.search(r"(?:git\+)?(?:https?|ssh|git)://\S+", entry)
        if address and not is_known_origin(address[0]) and not is_local(address[0]):
            exam.report.add("code.install-source", artefact.path, line=number, excerpt=entry)


_LOCKS = {"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
          "poetry.lock", "uv.lock", "Pipfile.lock"}  # fmt: skip
_LOCKED_FROM = re.compile(
    r"(?:resolved\"?:?\s*\"?|tarball:\s*|\burl\s*=\s*\"|registry\s*=\s*\")((?:git\+)?https?://[^\s\"',}]+)"
)
_REGISTRIES = re.compile(
    r"://(registry\.(npmjs\.org|yarnpkg\.com|npmmirror\.com)|files\.pythonhosted\.org|pypi\.org"
    r"|(codeload\.)?github\.com|npm\.pkg\.github\.com|download\.pytorch\.org|crates\.io|static\.crates\.io)/?"
)


def _check_lock(artefact: Artefact, text: str, exam: Examination) -> None:
    """A lock that takes a package from elsewhere than its registry."""
    for found in _LOCKED_FROM.finditer(text):
        if not _REGISTRIES.search(found[1]):
            line = text.count("\n", 0, found.start()) + 1
            exam.report.add("code.install-source", artefact.path, line=line, excerpt=found[1])


def _check_package(artefact: Artefact, text: str, exam: Examination) -> None:
    data = _json(text)
    _check_dependencies(artefact, text, data, exam)
    scripts = data.get("scripts") if isinstance(data, dict) else None
    if not isinstance(scripts, dict):
        return
    for name, command in scripts.items():
        if isinstance(command, str) and name not in _INSTALL_SCRIPTS:
            line = _line(text, command)
            judge_code("shell", command, Where(exam, artefact.path, judge_code, line))
    for name in _INSTALL_SCRIPTS:
        command = scripts.get(name)
        if isinstance(command, str):
            line = text.count("\n", 0, max(0, text.find(f'"{name}"'))) + 1
            exam.report.can("installs", artefact.path, line)
            harmless = re.fullmatch(
                r"(husky( install)?|npm run build|tsc|lefthook install)", command.strip()
            )
            exam.report.add(
                "code.install-hook", artefact.path, line=line, excerpt=f"{name}: {command}",
                severity=Severity.INFO if harmless else None,
            )  # fmt: skip
            judge_code("shell", command, Where(exam, artefact.path, judge_code, line))


def _check_dependencies(artefact: Artefact, text: str, data: Any, exam: Examination) -> None:
    """Packages that an address gives instead of the registry."""
    for group in _DEPENDENCIES:
        listed = data.get(group) if isinstance(data, dict) else None
        for name, source in listed.items() if isinstance(listed, dict) else ():
            if _is_elsewhere(source):
                exam.report.add(
                        "code.install-source", artefact.path, line=_line(text, source),
                        excerpt=f"{name}: {source}",
                    )  # fmt: skip


_DEPENDENCIES = (
    "dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides",
    "resolutions",
)  # fmt: skip


def _is_elsewhere(source: object) -> bool:
    is_address = isinstance(source, str) and re.match(r"(git\+|https?:|ssh:|git:)", source)
    return bool(is_address) and not is_known_origin(str(source)) and not is_local(str(source))


def _check_settings(artefact: Artefact, text: str, exam: Examination) -> None:
    """Hooks, tool servers and permissions under whatever name the file bears."""
    data = _json(text)
    for key, value, trail in _pairs(data):
        if key == "mcpServers" and isinstance(value, dict) and value:
            exam.report.add("agent.mcp-file", artefact.path, excerpt=f"{key}: {sorted(value)}",
                            severity=Severity.WARN)  # fmt: skip
        elif key in _EVENTS and isinstance(value, list):
            exam.report.add("agent.hook-file", artefact.path, excerpt=f"{trail}: {value}"[:200])
        elif key == "permissions" and isinstance(value, dict) and "allow" in value:
            exam.report.add("agent.settings-file", artefact.path, excerpt=f"{trail}: {value}"[:200])
        elif key in {"command", "run", "script"} and isinstance(value, str) and len(value) > 2:
            judge_code(
                "shell",
                value,
                Where(exam, artefact.path, judge_code, _line(text, value), shown=True),
            )


_EVENTS = {"PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop",
           "SubagentStop", "PreCompact", "Notification", "beforeShellExecution", "afterFileEdit",
           "beforeSubmitPrompt", "PermissionRequest"}  # fmt: skip


def _line(text: str, value: str) -> int:
    return text.count("\n", 0, max(0, text.find(value[:40]))) + 1


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _pairs(data: Any) -> Iterator[tuple[str, Any, str]]:
    stack: list[tuple[Any, str]] = [(data, "")]
    seen = 0
    while stack and seen < 20_000:
        value, trail = stack.pop()
        seen += 1
        if isinstance(value, dict):
            for key, inner in value.items():
                yield key, inner, f"{trail}.{key}".strip(".")
                stack.append((inner, f"{trail}.{key}"))
        elif isinstance(value, list):
            stack += [(inner, trail) for inner in value]
