"""Whatever stands in a file: no reader raises, no body is lost, writing is stable."""

from hypothesis import example, given
from hypothesis import strategies as st

from agents.library import editing, exporting, frontmatter, segments
from agents.library.definition import AgentDefinition, Dialect, Outcome
from agents.library.reading import read_bytes, read_text
from agents.library.surface import resolve
from agents.library.yamlread import FrontMatterError, Value

DIALECTS = [dialect for dialect in Dialect if dialect is not Dialect.NONE]
POOL = ("read", "edit", "write", "bash", "agent", "workflow", "mcp__git__log", "mcp__a__b", "own")

keys = st.sampled_from(
    [
        *("name", "description", "tools", "disallowedTools", "subagents", "model", "hooks"),
        *("mcpServers", "permissionMode", "approvalMode", "executor", "runConfig", "maxTurns"),
        *("override", "skills", "memory", "background", "color", "permission", "Name", "x-y"),
        *("mcp-servers", "agents", "systemPrompt", "contextSize", "whenToUse", "\t", "? ", "- "),
    ]
)
scraps = st.sampled_from(
    [
        *(": ", "#", "- ", "> ", "|", "'", '"', "\n", "\t", "\r\n", "[", "]", "{", "}", "&a", "*a"),
        *("!!str", "%", "@", "`", "---", "...", "\0", "\ufeff", "\ud800", "é", "新", "true", "7"),
        *("Read, Grep", "Agent(a, b)", "mcp__x", "*", "plan", "yolo", "<<", "  ", "${cwd}"),
    ]
)
messy = st.lists(st.one_of(scraps, st.text(max_size=5)), max_size=6).map("".join)
lines = st.builds(
    lambda key, gap, value: f"{key}:{gap}{value}", keys, st.sampled_from([" ", ""]), messy
)
fronts = st.lists(st.one_of(lines, messy), max_size=6).map("\n".join)
bodies = st.one_of(messy, st.text(max_size=40))
plain_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-99, 10**6), messy),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(messy, inner, max_size=3)),
    max_leaves=5,
)


def check(read: AgentDefinition, text: str) -> None:
    """What holds for every file, whatever it says."""
    assert read.raw == text
    assert (read.outcome is Outcome.OK) == (read.is_usable and not read.loud_warnings)
    assert read.is_usable or read.loud_warnings
    assert all(warning.sentence.strip() for warning in read.warnings)
    assert read.slug == "" or read.slug.isascii()


@given(st.binary(max_size=200), st.sampled_from([None, *DIALECTS]))
def test_no_bytes_make_a_reader_raise(data: bytes, dialect: Dialect | None) -> None:
    assert read_bytes(data, path="a.md", dialect=dialect).warnings is not None


@given(fronts, bodies, st.sampled_from([None, *DIALECTS]), st.sampled_from(["\n", "\r\n", "\r"]))
def test_no_front_matter_makes_a_reader_raise_or_lose_the_body(
    front: str, body: str, dialect: Dialect | None, ends: str
) -> None:
    text = f"---\n{front}\n---\n{body}".replace("\n", ends)
    read = read_text(text, path=".claude/agents/a.md", dialect=dialect)
    check(read, text)
    whole = frontmatter.normalise(text)
    assert whole.rstrip().endswith(read.body)
    fences = whole.split("\n---")
    assert read.body.strip() == whole.strip() or len(read.body) >= len(fences[-1].strip()) - 8


@given(st.dictionaries(keys, plain_values, max_size=5), bodies, st.sampled_from(DIALECTS))
def test_any_plain_values_load_in_every_dialect(
    values: dict[str, Value], body: str, dialect: Dialect
) -> None:
    text = editing.rewrite("---\n---\n", values, body=body)
    read = read_text(text, path="a.md", dialect=dialect)
    check(read, text)
    assert read.body == frontmatter.tidy_body(body)
    surface = resolve(read, POOL, as_main=False)
    assert set(surface.tools) <= set(POOL)
    assert set(surface.tools) & set(read.disallowed_tools) <= surface.memory_only
    if read.tools == ():
        assert set(surface.tools) <= surface.memory_only


@given(fronts, bodies, st.dictionaries(keys.filter(str.strip), plain_values, max_size=3))
def test_changing_keys_keeps_the_others_and_the_body(
    front: str, body: str, changes: dict[str, Value]
) -> None:
    raw = f"---\n{front}\n---\n{body}"
    before = read_text(raw, path="a.md", dialect=Dialect.FUXI)
    try:
        once = editing.rewrite(raw, changes)
    except FrontMatterError:
        assert not before.is_usable
        return
    after = read_text(once, path="a.md", dialect=Dialect.FUXI)
    assert after.body == before.body
    assert editing.rewrite(once, {}) == once
    assert editing.rewrite(once, changes) == once
    same = {key for key in before.values if key.lower() not in {k.lower() for k in changes}}
    assert all(after.values.get(key) == before.values[key] for key in same)


@given(fronts, bodies, st.sampled_from(DIALECTS), st.sampled_from(DIALECTS))
@example("tools: Agent(a, b)", "", Dialect.JARVIS, Dialect.FUXI)
def test_every_definition_can_be_exported_and_read_again(
    front: str, body: str, source: Dialect, target: Dialect
) -> None:
    read = read_text(f"---\nname: a-b\ndescription: d\n{front}\n---\n{body}", dialect=source)
    if not read.is_usable:
        return
    exported = exporting.export(read, target)
    again = read_text(exported.text, path=exported.file_name, dialect=target)
    assert again.is_usable
    before = set(resolve(read, POOL, as_main=True).tools)
    after = set(resolve(again, POOL, as_main=True).tools)
    said = {warning.code for warning in exported.warnings}
    assert after <= before or said & {"field-lost", "tool-kept"}


@given(fronts)
def test_segments_are_the_front_matter_again(front: str) -> None:
    front = frontmatter.normalise(front)
    assert "".join(part.text for part in segments.cut(front)) == front
