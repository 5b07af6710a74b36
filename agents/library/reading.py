"""Read an agent file of any dialect. Never raises, never loses the body, never skips silently."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from agents.library import (
    cc,
    copilot,
    detect,
    frontmatter,
    fuxi,
    jarvis,
    known,
    names,
    opencode,
    qwen,
    segments,
    yamlrepair,
)
from agents.library.definition import AgentDefinition, Dialect, settle
from agents.library.frontmatter import Split
from agents.library.sheet import Sheet
from agents.library.warning import LoadWarning, warn
from agents.library.yamlread import FrontMatterError, Value
from outside.sentences import phrase as _

MAX_BYTES = 8 * 1024 * 1024
_LIKE_A_NAME = re.compile(r"\w[\w .:-]*\Z")

_READERS: Mapping[Dialect, Callable[[Sheet], AgentDefinition]] = {
    Dialect.CC: cc.read,
    Dialect.JARVIS: jarvis.read,
    Dialect.FUXI: fuxi.read,
    Dialect.QWEN: qwen.read,
    Dialect.OPENCODE: opencode.read,
    Dialect.COPILOT: copilot.read,
}
_BY_LOWER_CASE = {key.lower(): key for key in known.KNOWN_KEYS}


def read_bytes(data: bytes, *, path: str = "", dialect: Dialect | None = None) -> AgentDefinition:
    """The file with these bytes as a definition; see `read_text`."""
    if len(data) > MAX_BYTES:
        sentence = _("The file has %(size)s bytes; at most %(most)s are read.") % {
            "size": f"{len(data):,}",
            "most": f"{MAX_BYTES:,}",
        }
        empty = AgentDefinition(dialect or detect.by_place(path) or Dialect.NONE, path=path)
        return empty.skipped(warn("too-large", sentence))
    text, warnings = frontmatter.decode(data)
    definition = _read(text, path, dialect, hashlib.sha256(data).hexdigest())
    return definition.with_warnings(*warnings)


def read_text(text: str, *, path: str = "", dialect: Dialect | None = None) -> AgentDefinition:
    """The text as a definition, whatever it holds. `outcome` and `warnings` say how it went.

    `path` gives a name to files that have none and, unless `dialect` is given, the first hint at
    the dialect. The digest is that of the text in UTF-8.
    """
    digest = hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()
    return _read(text, path, dialect, digest)


def _read(text: str, path: str, dialect: Dialect | None, digest: str) -> AgentDefinition:
    parts = frontmatter.split(text)
    body = frontmatter.tidy_body(parts.body)
    values: dict[str, Value] = {}
    if parts.front is None:
        definition = _without_front_matter(parts, path, dialect)
    else:
        definition, values = _with_front_matter(parts, body, path, dialect)
    name = definition.name
    return settle(
        replace(
            definition,
            body=body,
            slug=names.slugify(name) if name else "",
            values=values,
            path=path,
            raw=text,
            digest=digest,
        )
    )


def _without_front_matter(parts: Split, path: str, dialect: Dialect | None) -> AgentDefinition:
    if parts.unterminated:
        dialect = dialect or detect.by_place(path)
        said = warn("unterminated-front-matter", _("The opening --- has no closing ---."), line=1)
    else:
        said = warn("no-front-matter", _("No front matter between two --- lines: no agent file."))
    return AgentDefinition(dialect or Dialect.NONE).skipped(said)


def _with_front_matter(
    parts: Split, body: str, path: str, dialect: Dialect | None
) -> tuple[AgentDefinition, dict[str, Value]]:
    """The definition without what every file has alike, and the values of the front matter."""
    front = parts.front or ""
    try:
        mapping, repairs = yamlrepair.load(front, first_line=parts.front_line)
    except FrontMatterError as fault:
        return _unreadable(front, fault, path, dialect), {}
    values, renamed = _in_usual_case(mapping.values)
    chosen = dialect or detect.by_place(path) or detect.by_content(values, path=path)
    source = {_BY_LOWER_CASE.get(k.lower(), k): text for k, text in mapping.source.items()}
    said = [*parts.warnings, *repairs, *renamed, *map(_duplicate, mapping.duplicates)]
    sheet = Sheet(values, source, path, body, warnings=said)
    definition = _READERS[chosen](sheet) if chosen in _READERS else AgentDefinition(chosen)
    return replace(definition, warnings=(*sheet.warnings, *definition.warnings)), values


def _unreadable(
    front: str, fault: FrontMatterError, path: str, dialect: Dialect | None
) -> AgentDefinition:
    """A definition that only says what is wrong, with the name it would have had."""
    lines = {part.key: part.value_text for part in segments.cut(front) if part.key}
    guess: dict[str, Value] = {key: value for key, value in lines.items() if "\n" not in value}
    chosen = dialect or detect.by_place(path) or detect.by_content(guess, path=path)
    name = lines.get("name", "").strip("\"' ")[:200]
    name = name if _LIKE_A_NAME.match(name) else names.stem(path)
    at_line = _("The front matter cannot be read: line %(line)s: %(why)s.")
    somewhere = _("The front matter cannot be read: %(why)s.")
    words = {"line": fault.line, "why": fault.sentence}
    said = warn(fault.code, (at_line if fault.line else somewhere) % words)
    unreadable = AgentDefinition(chosen, name=name, declared_name=name)
    return unreadable.skipped(replace(said, line=fault.line))


def _in_usual_case(values: Mapping[str, Value]) -> tuple[dict[str, Value], list[LoadWarning]]:
    """The values with `Name` under `name`, unless that is there too."""
    usual: dict[str, Value] = {}
    warnings = []
    for key, value in values.items():
        canonical = _BY_LOWER_CASE.get(key.lower(), key)
        if canonical == key or canonical in values:
            usual[key] = value
            continue
        usual[canonical] = value
        warnings.append(
            warn(
                "key-case",
                _("The key `%(key)s` was read as `%(canonical)s`.")
                % {"key": key, "canonical": canonical},
            )
        )
    return usual, warnings


def _duplicate(key: str) -> LoadWarning:
    return warn(
        "duplicate-key",
        _("`%(key)s` stands there more than once; the last one counts.") % {"key": key},
    )
