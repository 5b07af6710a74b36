"""The front matter of a SKILL.md, read strictly: what lenient readers would guess is a finding."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from .limits import Limits
from .report import Report
from .values import Severity, Source

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
ESCAPES = re.compile(r"[/\\\x00-\x1f\x7f]|^\.|\.$|^~|:|^\s*$")
DEVICES = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(\..*)?$")
BLANKET = re.compile(r"(?i)^(\*|all|bash|shell|execute|run_shell_command|computer|terminal)$")
BARE_SHELL = re.compile(r"(?i)^(bash|shell|execute|run_shell_command|terminal)$")
BLANKET_ARGUMENT = re.compile(r"^\s*(:?\*(:\*)?|\*\*|/\*\*|~/\*\*)\s*$")
MOST_BRACKETS = 500
SPECIFIED = {
    "name": str,
    "description": str,
    "license": str,
    "compatibility": str,
    "metadata": dict,
    "allowed-tools": str,
}
KNOWN_ELSEWHERE = {
    "version", "author", "tags", "argument-hint", "arguments", "model", "context", "agent",
    "user-invocable", "disable-model-invocation", "when_to_use", "title", "category", "keywords",
    "paths", "globs", "homepage", "repository", "effort", "tools", "disallowed-tools", "shell",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands above the body: the fields as read, and the line on which the body begins."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    body_line: int = 1

    @property
    def name(self) -> str:
        name = self.fields.get("name")
        return name if isinstance(name, str) else ""

    @property
    def description(self) -> str:
        text = self.fields.get("description")
        return text if isinstance(text, str) else ""

    def texts(self) -> Iterator[str]:
        """Every string in the fields, keys included, as a reader gets them after unescaping."""
        yield from _texts(self.fields)


def read(text: str, file: str, report: Report, limits: Limits) -> FrontMatter:
    """The front matter of a SKILL.md; what is wrong with it goes to the report."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[0].rstrip() != "---":
        report.add("frontmatter.missing", file, line=1)
        return FrontMatter()
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() in {"---", "..."}), 0)
    if not end:
        report.add("frontmatter.unreadable", file, line=1, excerpt="the block is never closed")
        return FrontMatter()
    block = "\n".join(lines[1:end])
    if len(block.encode("utf-8", "replace")) > limits.front_matter:
        report.add("frontmatter.too-long", file, line=1)
        return FrontMatter(body_line=end + 2)
    return FrontMatter(_parse(block, file, report, limits), end + 2)


def judge(front: FrontMatter, file: str, source: Source, report: Report) -> None:
    """Holds the fields against agentskills.io and against the folder."""
    _judge_name(front, file, source, report)
    description = front.fields.get("description")
    if not isinstance(description, str) or not description.strip() or len(description) > 1024:
        report.add("frontmatter.description", file, line=1, excerpt=str(description)[:60])
    for key, value in front.fields.items():
        _judge_field(key, value, file, report)


def _judge_name(front: FrontMatter, file: str, source: Source, report: Report) -> None:
    name = front.fields.get("name")
    if not isinstance(name, str):
        report.add("frontmatter.name", file, line=1, excerpt=f"name: {name!r}")
        return
    if ESCAPES.search(name) or ".." in name or DEVICES.match(name):
        report.add("frontmatter.name-escape", file, line=1, excerpt=f"name: {name}")
    elif not NAME.fullmatch(name) or len(name) > 64:
        loose = LOOSE_NAME.fullmatch(name) and _slug(name) == _slug(source.folder or name)
        report.add(
            "frontmatter.name", file, line=1, excerpt=f"name: {name}",
            severity=Severity.INFO if loose else None,
        )  # fmt: skip
    if source.folder and name != source.folder:
        report.add(
            "frontmatter.name-folder", file, line=1, excerpt=f"{name} in folder {source.folder}",
            severity=Severity.INFO if _is_same(name, source.folder) else None,
        )  # fmt: skip


# A title instead of a slug, which readers turn into one.
LOOSE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.+,'-]{0,63}")


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _is_same(name: str, folder: str) -> bool:
    """Whether both are one name, spelled loosely or with a catalogue's words beside it."""
    one, other = _slug(name), _slug(folder)
    few, many = sorted((one.split("-"), other.split("-")), key=len)
    inside = f"-{'-'.join(few)}-" in f"-{'-'.join(many)}-"
    return one == other or len(few) > 1 and inside and bool(LOOSE_NAME.fullmatch(name))


def _judge_field(key: str, value: object, file: str, report: Report) -> None:
    folded = key.lower().replace("_", "-")
    if folded == "hooks":
        report.add("frontmatter.hooks", file, line=1, excerpt=str(value)[:120])
    elif folded in {"mcp-servers", "mcpservers", "mcp"}:
        report.add("agent.mcp-file", file, line=1, excerpt=str(value)[:120], severity=Severity.WARN)
    elif folded in {"allowed-tools", "tools"}:
        _judge_tools(key, value, file, report)
    elif key not in SPECIFIED:
        if folded not in KNOWN_ELSEWHERE:
            report.add("frontmatter.field", file, line=1, excerpt=key)
    elif key not in {"name", "description"} and not isinstance(value, SPECIFIED[key]):
        report.add("frontmatter.field", file, line=1, excerpt=f"{key}: {value!r}")
    if key == "compatibility" and len(str(value)) > 500:
        report.add("frontmatter.field", file, line=1, excerpt=f"{key} has over 500 characters")


def _judge_tools(key: str, value: object, file: str, report: Report) -> None:
    tools = _tools(value)
    if any(map(BARE_SHELL.match, tools)):
        report.can("shell", file, 1)
    blanket = [tool for tool in tools if is_blanket(tool)]
    if blanket:
        # A bare `Bash` names the tool; what a workspace lets it do is a question of policy.
        bare = all(map(BARE_SHELL.match, blanket))
        report.add(
            "frontmatter.blanket-tools", file, line=1, excerpt=f"{key}: {value}",
            severity=Severity.INFO if bare else None,
        )  # fmt: skip
    elif not isinstance(value, str):
        report.add("frontmatter.field", file, line=1, excerpt=f"{key} is a list")


# A program that runs whatever it is given is every command under another name.
_ANY_COMMAND = re.compile(
    r"(/\S+/)?(ba|z|da|k|fi)?sh\b|(sudo|doas|su|eval|exec|env|xargs|command|nohup)\b"
    r"|(/\S+/)?(python[\d.]*|node|deno|bun|perl|ruby|php|osascript|pwsh|powershell)(\s*:?\s*\*)?$"
    r"|rm\s+-\w*[rf]|(dd|mkfs|shred)\b|(/|~/)\*\*?$|~?/?$"
)


def is_blanket(tool: str) -> bool:
    """Whether a tool entry allows any command or every tool: `Bash`, `Bash(*)`, `Write(*)`, `*`."""
    name, opened, argument = tool.partition("(")
    if opened:
        inside = argument.removesuffix(")").strip()
        return bool(BLANKET_ARGUMENT.match(inside) or _ANY_COMMAND.match(inside))
    return bool(BLANKET.match(name.strip()))


def _tools(value: object) -> list[str]:
    if isinstance(value, str):
        return re.findall(r"[^\s,(\[\]\"']+(?:\([^)]*\))?", value)
    if isinstance(value, list):
        return [str(one) for one in value]
    return [str(one) for one in value] if isinstance(value, dict) else []


def _parse(block: str, file: str, report: Report, limits: Limits) -> dict[str, Any]:
    try:
        if not _is_plain(block, file, report, limits):
            return {}
        data = yaml.load(block, Loader=_Strict)
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        return _repair(block, file, report, error)
    if data is None:
        data = {}
    if not isinstance(data, dict):
        report.add("frontmatter.unreadable", file, line=1, excerpt="it is not a map of fields")
        return {}
    for key in _doubled(block):
        report.add("frontmatter.duplicate-key", file, line=1, excerpt=key)
    return {str(key): value for key, value in data.items()}


def _is_plain(block: str, file: str, report: Report, limits: Limits) -> bool:
    """Walks the parser's events before anything is built from them."""
    depth = anchors = 0
    if max(block.count("["), block.count("{")) > MOST_BRACKETS:
        report.add("frontmatter.bomb", file, line=1, excerpt="deep nesting")
        return False
    for event in yaml.parse(block, Loader=yaml.CSafeLoader):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1
        anchors += isinstance(event, yaml.AliasEvent)
        tag = getattr(event, "tag", None)
        if tag and not (tag.startswith("tag:yaml.org,2002:") and tag[18:] in _PLAIN_TAGS):
            report.add("frontmatter.tag", file, line=_line_of(event), excerpt=str(tag))
            return False
        if depth > limits.yaml_depth or anchors:
            what = "aliases" if anchors else "deep nesting"
            report.add("frontmatter.bomb", file, line=_line_of(event), excerpt=what)
            return False
    return True


def _line_of(event: yaml.Event) -> int:
    """The line of the file: the block begins on its second one."""
    return event.start_mark.line + 2 if event.start_mark is not None else 1


_PLAIN_TAGS = {"str", "int", "bool", "float", "null", "map", "seq"}


class _Strict(yaml.CSafeLoader):
    """Dates stay text: a date is no reason to read two files differently."""


def _as_written(loader: yaml.CSafeLoader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


_Strict.add_constructor("tag:yaml.org,2002:timestamp", _as_written)


def _doubled(block: str) -> list[str]:
    root = yaml.compose(block, Loader=yaml.CSafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    keys = [str(key.value).lower() for key, _ in pairs]
    return sorted({key for key in keys if keys.count(key) > 1})


def _repair(block: str, file: str, report: Report, error: Exception) -> dict[str, Any]:
    """Reads `key: text` lines, as lenient readers do, where the block is no valid YAML."""
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 2 if mark is not None else 1
    found = dict(re.findall(r"(?m)^([A-Za-z][\w-]*):[ \t]+(\S.*?)[ \t]*$", block))
    if "name" in found and "description" in found:
        report.add("frontmatter.repaired", file, line=line, excerpt=str(error).splitlines()[0])
        return {key: value.strip("\"'") for key, value in found.items()}
    report.add("frontmatter.unreadable", file, line=line, excerpt=str(error).splitlines()[0])
    return {}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
