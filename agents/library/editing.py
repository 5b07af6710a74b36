"""Change some keys of an agent file and keep the rest: other keys, order, comments, line ends."""

from collections.abc import Mapping

from agents.library import frontmatter, segments, toollist, yamlread, yamlrepair, yamlwrite
from agents.library.segments import Segment
from agents.library.yamlread import FrontMatterError, Value

_LISTS = ("tools", "disallowedTools", "subagents", "skills")


def rewrite(raw: str, changes: Mapping[str, Value], *, body: str | None = None) -> str:
    """The file with these keys set (None: taken out) and, if given, another body.

    Keys keep their place, new ones come last. A list that was written as comma text stays one.
    Reading the result gives the old values with the changes. Raises FrontMatterError when the
    front matter cannot be read.
    """
    parts = frontmatter.split(raw)
    front = yamlrepair.mend(parts.front) if parts.front is not None else ""
    before = yamlread.load(front).values
    wanted = {
        frontmatter.normalise(key): _same_form(key, before.get(key), yamlwrite.as_kept(value))
        for key, value in changes.items()
    }
    after = {key: value for key, value in {**before, **wanted}.items() if value is not None}
    kept = {key: None for key in before if before[key] is None and key not in wanted}
    new_front = _edited(front, before, wanted)
    if not _reads_as(new_front, {**kept, **after}):
        new_front = yamlwrite.emit({**kept, **after}.items())
    new_body = parts.body if body is None else f"\n{frontmatter.tidy_body(body)}\n"
    return _like(raw, f"---\n{new_front}---\n{new_body}")


def _same_form(key: str, old: Value, new: Value) -> Value:
    """A list as comma text when it was comma text before and still can be."""
    if key not in _LISTS or not isinstance(old, str) or not isinstance(new, list) or not new:
        return new
    text = ", ".join(str(item) for item in new)
    return text if list(toollist.split_entries(text)) == new else new


def _edited(front: str, before: Mapping[str, Value], changes: Mapping[str, Value]) -> str:
    parts = segments.cut(front)
    real = {key: value for key, value in changes.items() if before.get(key) != value}
    last = {part.key: number for number, part in enumerate(parts)}
    lines = [
        _replaced(part, real, is_last=last[part.key] == number) for number, part in enumerate(parts)
    ]
    text = "".join(lines)
    if text and not text.endswith("\n"):
        text += "\n"
    new = [(k, v) for k, v in real.items() if k not in last and v is not None]
    return text + yamlwrite.emit(new)


def _replaced(part: Segment, changes: Mapping[str, Value], *, is_last: bool) -> str:
    if part.key not in changes:
        return part.text
    value = changes[part.key]
    comments = _comments_below(part)
    if value is None or not is_last:
        return comments
    return yamlwrite.emit_pair(part.key, value) + comments


def _comments_below(part: Segment) -> str:
    """The blank lines and comments at the end of a key's lines: they stay when it changes."""
    lines = part.text.splitlines(keepends=True)
    end = len(lines)
    while end > 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return "".join(lines[end:])


def _reads_as(front: str, values: Mapping[str, Value]) -> bool:
    try:
        return yamlread.load(front).values == values
    except FrontMatterError:
        return False


def _like(raw: str, text: str) -> str:
    """The text with the line ends and the byte order mark that the file had."""
    if "\r\n" in raw:
        text = text.replace("\n", "\r\n")
    return "\ufeff" + text if raw.startswith("\ufeff") else text
