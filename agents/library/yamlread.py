"""Read YAML from strangers: only plain values come out, and a bomb costs nothing.

Built on the parser's events, so that nothing is constructed, expanded or recursed into before
the limits have been asked. Scalars follow the YAML 1.2 core schema (`no` is the word "no").
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from outside.sentences import phrase as _

Value: TypeAlias = "str | int | float | bool | None | list[Value] | dict[str, Value]"

MAX_CHARS = 4 * 1024 * 1024
MAX_DEPTH = 40
MAX_NODES = 20_000

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KINDS = ("str", "int", "float", "bool", "null", "map", "seq")
_TAGS: set[str | None] = {None, "!", *(f"tag:yaml.org,2002:{kind}" for kind in _KINDS)}
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INT = re.compile(r"[-+]?[0-9]{1,18}\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]{1,40}|[0-9]{1,40}(\.[0-9]{0,40})?)([eE][-+]?[0-9]{1,3})?\Z")


# What the parser says most often, for the translators.
_OFTEN = (
    _("mapping values are not allowed here"),
    _("could not find expected ':'"),
    _("found unexpected end of stream"),
    _("found character '\\t' that cannot start any token"),
    _("found character '@' that cannot start any token"),
    _("found character '`' that cannot start any token"),
    _("unreadable"),
)


class FrontMatterError(Exception):
    """The text is no YAML that we accept. `line` counts from 1 inside the front matter."""

    def __init__(self, code: str, sentence: str, line: int = 0) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.line = line


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The keys and values. `source` has each top-level scalar as written; `lines` counts from 1."""

    values: dict[str, Value] = field(default_factory=dict)
    source: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    duplicates: tuple[str, ...] = ()


def load(text: str) -> FrontMatter:
    """The mapping that the text is; raises FrontMatterError when it is something else."""
    if len(text) > MAX_CHARS:
        raise FrontMatterError(
            "too-large",
            _("The front matter is longer than %(most)s characters.") % {"most": f"{MAX_CHARS:,}"},
        )
    try:
        return _Builder().build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark else 0
        raise FrontMatterError("invalid-yaml", _(fault.problem or "unreadable"), line) from None
    except yaml.YAMLError as fault:
        raise FrontMatterError("invalid-yaml", str(fault).splitlines()[0]) from None


@dataclass(slots=True)
class _Frame:
    """A collection under construction."""

    container: list[Value] | dict[str, Value]
    anchor: str | None
    nodes_before: int
    key: str | None = None


class _Builder:
    def __init__(self) -> None:
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[Value, int]] = {}
        self.nodes = 0
        self.source: dict[str, str] = {}
        self.lines: dict[str, int] = {}
        self.duplicates: list[str] = []
        self.root: Value = None

    def build(self, events: Iterator[yaml.Event]) -> FrontMatter:
        for event in events:
            if isinstance(event, yaml.DocumentEndEvent):
                break
            self._take(event)
        if self.root is None:
            return FrontMatter()
        if not isinstance(self.root, dict):
            raise FrontMatterError(
                "not-a-mapping", _("The front matter is no list of `key: value`."), 1
            )
        return FrontMatter(self.root, self.source, self.lines, tuple(self.duplicates))

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._check(event)
            if self._is_key():
                self._set_key(event.value, event)
            else:
                self._add(_scalar(event), event, source=event.value)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._check(event)
            self._open({} if isinstance(event, yaml.MappingStartEvent) else [], event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            frame = self.stack.pop()
            self._remember(frame.anchor, frame.container, self.nodes - frame.nodes_before)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)

    def _check(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> None:
        if event.tag not in _TAGS:
            sentence = _("The tag %(tag)s is refused: only plain values are read.") % {
                "tag": event.tag
            }
            raise FrontMatterError("tag-refused", sentence, _line(event))
        self._count(1, event)

    def _count(self, nodes: int, event: yaml.Event) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            sentence = _("More than %(most)s values after aliases: refused as a bomb.") % {
                "most": f"{MAX_NODES:,}"
            }
            raise FrontMatterError("too-many-values", sentence, _line(event))

    def _is_key(self) -> bool:
        if not self.stack:
            return False
        frame = self.stack[-1]
        return isinstance(frame.container, dict) and frame.key is None

    def _set_key(self, key: str, event: yaml.Event) -> None:
        frame = self.stack[-1]
        frame.key = key
        if len(self.stack) == 1:
            if key in self.lines:
                self.duplicates.append(key)
            self.lines[key] = _line(event)

    def _open(self, container: list[Value] | dict[str, Value], event: yaml.NodeEvent) -> None:
        if self._is_key():
            raise FrontMatterError(
                "invalid-yaml", _("A key must be a word, not a list."), _line(event)
            )
        if len(self.stack) >= MAX_DEPTH:
            raise FrontMatterError(
                "too-deep",
                _("Nested deeper than %(most)s levels.") % {"most": MAX_DEPTH},
                _line(event),
            )
        self._add(container, event)
        self.stack.append(_Frame(container, event.anchor, self.nodes - 1))

    def _alias(self, event: yaml.AliasEvent) -> None:
        if self._is_key():
            raise FrontMatterError(
                "invalid-yaml", _("A key must be a word, not an alias."), _line(event)
            )
        if event.anchor not in self.anchors:
            sentence = _("The alias *%(anchor)s has no finished anchor before it.") % {
                "anchor": event.anchor
            }
            raise FrontMatterError("invalid-yaml", sentence, _line(event))
        value, nodes = self.anchors[event.anchor]
        self._count(nodes, event)
        self._add(value, event)

    def _add(self, value: Value, event: yaml.Event, *, source: str | None = None) -> None:
        if not self.stack:
            self.root = value
        else:
            frame = self.stack[-1]
            if isinstance(frame.container, list):
                frame.container.append(value)
            else:
                self._put(frame, value, source)
        if source is not None and isinstance(event, yaml.ScalarEvent):
            self._remember(event.anchor, value, 1)

    def _put(self, frame: _Frame, value: Value, source: str | None) -> None:
        key, frame.key = frame.key or "", None
        assert isinstance(frame.container, dict)
        frame.container[key] = value
        if len(self.stack) == 1:
            self.source.pop(key, None)
            if source is not None:
                self.source[key] = source

    def _remember(self, anchor: str | None, value: Value, nodes: int) -> None:
        if anchor:
            self.anchors[anchor] = (value, nodes)


def _line(event: yaml.Event) -> int:
    mark = getattr(event, "start_mark", None)
    return int(mark.line) + 1 if mark else 0


def _scalar(event: yaml.ScalarEvent) -> Value:
    text: str = event.value
    if not event.implicit[0] and event.tag in (None, "!", "tag:yaml.org,2002:str"):
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.match(text):
        return int(text)
    if _FLOAT.match(text) and math.isfinite(float(text)):
        return float(text)
    return text
