"""Agent files of every kind, whole and broken: what loads, what is said, what is kept."""

from pathlib import Path

import pytest

from agents.library import frontmatter
from agents.library.definition import AgentDefinition, Dialect, Outcome, Posture
from agents.library.reading import read_bytes, read_text

CASES = Path(__file__).parent / "cases"


def case(name: str) -> AgentDefinition:
    dialect = Dialect(name.split("-")[0])
    return read_bytes((CASES / name).read_bytes(), path=name, dialect=dialect)


def codes(definition: AgentDefinition) -> list[str]:
    return [warning.code for warning in definition.loud_warnings]


def agent(front: str, body: str = "Do it.", **more: str) -> AgentDefinition:
    dialect = Dialect(more.pop("dialect", "fuxi"))
    return read_text(f"---\n{front}\n---\n\n{body}\n", path="dir/some-agent.md", dialect=dialect)


@pytest.mark.req("FX-225", "FX-226", "FX-227", "FX-228", "QW-107", "QW-137", "QW-140", "QW-143")
@pytest.mark.parametrize("path", sorted(CASES.glob("[fjq]*.md")), ids=lambda path: path.stem)
def test_the_examples_of_the_documents_load_unchanged(path: Path) -> None:
    read = case(path.name)
    assert (read.outcome, codes(read)) == (Outcome.OK, [])
    assert path.stem.endswith(read.name)
    assert read.raw == path.read_text(encoding="utf-8")


@pytest.mark.req("JA-28", "JA-53", "JA-55", "JA-58")
def test_a_jarvis_file_gives_every_field_of_its_dialect() -> None:
    read = case("jarvis-reviewer.md")
    assert read.when_to_use == "Code reviews and checks of pull requests"
    assert read.tools == ("Read", "Grep", "Glob", "mcp__github__*")
    assert read.disallowed_tools == ("Bash",)
    assert read.override is False
    assert read.delegates is None


@pytest.mark.req("QW-130", "QW-132", "QW-133", "QW-134", "QW-135", "QW-136")
def test_a_qwen_file_may_use_claude_codes_fields() -> None:
    read = case("qwen-rigorous-reviewer.md")
    assert read.posture is Posture.PLAN
    assert (read.max_turns, read.color) == (50, "purple")
    assert list(read.mcp) == ["filesystem"]
    assert list(read.hooks) == ["PreToolUse"]


def test_an_opencode_file_takes_its_name_from_the_file_and_keeps_what_is_denied() -> None:
    read = case("opencode-docs.md")
    assert (read.outcome, read.name) == (Outcome.OK, "opencode-docs")
    assert (read.tools, read.disallowed_tools) == (None, ("bash",))


def test_a_copilot_file_is_slugged_with_a_warning() -> None:
    read = case("copilot-planner.agent.md")
    assert read.outcome is Outcome.OK_WITH_WARNING
    assert (read.name, read.declared_name) == ("implementation-planner", "Implementation Planner")
    assert codes(read) == ["name-slugged"]
    assert read.tools == ("search", "web/fetch", "github/*", "Unheard-Of")
    assert read.model == "GPT-5|Claude Sonnet 4.5"


FRONT_AS_WRITTEN = [
    ("plain", "name: a-b\ndescription: Text", []),
    ("colon", "name: a-b\ndescription: Use when: always", ["yaml-repaired"]),
    ("colon at the end", "name: a-b\ndescription: Use when:", ["yaml-repaired"]),
    ("folded", "name: a-b\ndescription: >\n  Text\n  more", []),
    ("literal", "name: a-b\ndescription: |\n  Use: this\n  more", []),
    ("newline after the key", "name: a-b\ndescription:\n  Text", []),
    ("tab indent", "name: a-b\ndescription: Text\nskills:\n\t- one\n\t- two", ["tab-indent"]),
    ("upper-case keys", "Name: a-b\nDESCRIPTION: Text", ["key-case", "key-case"]),
    ("duplicate keys", "name: x\nname: a-b\ndescription: Text", ["duplicate-key"]),
    ("control character", "name: a-b\ndescription: Te\x00xt\x07", ["control-character"]),
    ("a star", "name: a-b\ndescription: Text\ntools: *", ["yaml-repaired"]),
    ("an at sign", "name: a-b\ndescription: Text\nauthor: @someone", ["yaml-repaired"]),
    ("quotes inside", 'name: a-b\ndescription: "Text" and: more', ["yaml-repaired"]),
    ("a comment", "# hello\nname: a-b # x\ndescription: Text", []),
    (
        "prose below the key",
        "name: a-b\ndescription: Use it.\n\n<example>\nuser: hi\nassistant: hello\n</example>",
        ["yaml-repaired"],
    ),
]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r", "mixed"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("blanks", ["", "  \t"])
@pytest.mark.parametrize(
    ("front", "expected"),
    [row[1:] for row in FRONT_AS_WRITTEN],
    ids=[r[0] for r in FRONT_AS_WRITTEN],
)
def test_front_matter_as_people_write_it_loads(
    front: str, expected: list[str], blanks: str, mark: str, ends: str
) -> None:
    text = f"---{blanks}\n{front}\n---{blanks}\n\nBody: é\n\nend"
    text = text.replace("\n", "\r\n", 2) if ends == "mixed" else text.replace("\n", ends)
    read = read_bytes(f"{mark}{text}".encode(), path="x.md", dialect=Dialect.FUXI)
    assert codes(read) == expected
    assert (read.name, read.body) == ("a-b", "Body: é\n\nend")
    assert read.description.startswith(("Text", "Use", '"Text"', "Te\ufffdxt"))


def test_a_closing_fence_with_more_dashes_is_taken_for_one() -> None:
    long = read_text("---\nname: a-b\ndescription: c\ntools: LS\n--------\n\nBody", path="a.md")
    assert codes(long) == ["long-closing-fence"]
    assert (long.tools, long.body) == (("LS",), "Body")


def test_prose_below_a_description_is_not_lost() -> None:
    front = (
        "name: reviewer\ndescription: Use it when asked. Examples:\n\n<example>\n"
        "Context: a user asks.\nuser: 'please'\nassistant: \"yes\"\n</example>\n"
        "model: opus\ncolor: red\ntools: Read, Grep"
    )
    read = agent(front)
    assert codes(read) == ["yaml-repaired"]
    assert "user: 'please'\nassistant: \"yes\"\n</example>" in read.description
    assert (read.model, read.color, read.tools) == ("opus", "red", ("Read", "Grep"))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("just text", "no-front-matter"),
        ("", "no-front-matter"),
        ("---\nname: a\ndescription: b\n\nno end", "unterminated-front-matter"),
        ("---\n- a\n- b\n---\nx", "not-a-mapping"),
        ("---\njust words\n---\nx", "not-a-mapping"),
        ("---\nname: [a\n---\nx", "invalid-yaml"),
        ("---\nname: a\nx: !!python/object/apply:os.system ['id']\n---\nx", "tag-refused"),
        ("---\nname: a\nx: !thing b\n---\nx", "tag-refused"),
        ("---\nx: &a [*a]\n---\nx", "invalid-yaml"),
        ("---\nx: " + "[" * 60 + "]" * 60 + "\n---\nx", "too-deep"),
        ("---\nx: " + "[" * 500_000 + "\n---\nx", "invalid-yaml"),
        ("---\n" + "x: {" * 500_000 + "\n---\nx", "too-deep"),
        ("---\n? [a]\n: b\n---\nx", "invalid-yaml"),
        ("---\nx: [" + "a," * 30_000 + "]\n---\nx", "too-many-values"),
        ("---\n---\nx", "missing-description"),
    ],
)
def test_what_cannot_be_read_is_skipped_with_its_reason(text: str, code: str) -> None:
    read = read_text(text, path="agents/one.md", dialect=Dialect.FUXI)
    assert read.outcome is Outcome.SKIP
    assert code in codes(read)
    assert frontmatter.normalise(text).strip().endswith(read.body)


def test_a_bomb_is_refused_before_it_grows() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 20)]
    read = agent("\n".join(lines))  # hours, if it were expanded
    assert codes(read) == ["too-many-values"]


def test_a_small_alias_is_an_ordinary_value() -> None:
    assert agent("name: &n a-b\ndescription: *n").description == "a-b"


def test_megabytes_in_one_field_load() -> None:
    long = "word " * 250_000
    read = agent(f"name: a-b\ndescription: {long}", body=long)
    assert (len(read.description), read.outcome) == (len(long.strip()), Outcome.OK)
    assert len(agent(f"name: a-b\ndescription: x: {long}").description) > 1_000_000


def test_bytes_that_are_no_utf8_are_told() -> None:
    read = read_bytes(b"---\nname: a\ndescription: caf\xe9\n---\nb", dialect=Dialect.FUXI)
    assert codes(read) == ["not-utf8"]
    utf16 = "---\nname: a\ndescription: d\n---\nb".encode("utf-16")
    assert read_bytes(utf16, dialect=Dialect.FUXI).description == "d"


def test_a_file_beyond_the_limit_is_refused() -> None:
    assert codes(read_bytes(b"x" * 9_000_000)) == ["too-large"]


NAMES = [
    # dialect, name as written, outcome, name used, loud codes
    ("jarvis", "code-reviewer", "ok", "code-reviewer", []),
    ("jarvis", "Code Reviewer", "skip", "Code Reviewer", ["name-not-kebab"]),
    ("jarvis", "-x", "skip", "-x", ["name-not-kebab"]),
    ("jarvis", "新聞", "skip", "新聞", ["name-not-kebab"]),
    ("jarvis", None, "ok", "some-agent", []),
    ("jarvis", "123", "ok", "123", []),
    ("jarvis", "true", "ok", "true", []),
    ("fuxi", "Explore", "ok-with-warning", "Explore", ["name-not-lowercase-hyphen"]),
    ("fuxi", "新聞", "ok-with-warning", "新聞", ["name-not-lowercase-hyphen"]),
    ("fuxi", None, "skip", "", ["missing-name"]),
    ("fuxi", "'a:b'", "skip", "a:b", ["name-not-lowercase-hyphen", "name-with-colon"]),
    ("qwen", "testing_expert", "ok", "testing_expert", []),
    ("qwen", "Привет", "ok", "Привет", []),
    ("qwen", "a", "ok-with-warning", "a", ["name-odd"]),
    ("qwen", "a" * 51, "ok-with-warning", "a" * 51, ["name-odd"]),
    ("qwen", None, "skip", "", ["missing-name"]),
    ("opencode", "OpenCoder", "ok-with-warning", "opencoder", ["name-slugged"]),
    ("opencode", None, "ok", "some-agent", []),
    ("copilot", "API Architect", "ok-with-warning", "api-architect", ["name-slugged"]),
    ("copilot", None, "ok", "some-agent", []),
    ("cc", "qa", "ok-with-warning", "qa", []),
    ("cc", "Q A", "skip", "Q A", ["name-no-slug"]),
]


@pytest.mark.req("JA-50", "JA-51", "FX-61")
@pytest.mark.parametrize(("dialect", "name", "outcome", "used", "said"), NAMES)
def test_names_by_dialect(
    dialect: str, name: str | None, outcome: str, used: str, said: list[str]
) -> None:
    front = "description: d" if name is None else f"name: {name}\ndescription: d"
    read = agent(front, dialect=dialect)
    assert read.name == used
    assert codes(read) == said
    if dialect != "cc":
        assert read.outcome == outcome


@pytest.mark.req("JA-52", "FX-62", "JA-72")
@pytest.mark.parametrize(
    ("dialect", "outcome"),
    [
        ("jarvis", "skip"),
        ("fuxi", "skip"),
        ("qwen", "skip"),
        ("copilot", "skip"),
        ("opencode", "ok-with-warning"),
    ],
)
@pytest.mark.parametrize("line", ["x: y", "description:", "description: ''", "description: [a]"])
def test_a_missing_description(dialect: str, outcome: str, line: str) -> None:
    read = agent(f"name: a-b\n{line}", dialect=dialect)
    assert (read.outcome, read.description) == (outcome, "")
    assert "missing-description" in codes(read)


@pytest.mark.req("FX-66", "FX-75", "QW-115", "QW-131")
@pytest.mark.parametrize(
    ("line", "fuxi", "qwen"),
    [
        ("permissionMode: rootMode", ["permission-mode-unknown"], []),
        ("permissionMode: manual", [], []),
        ("maxTurns: -1", ["max-turns-invalid"], []),
        ("maxTurns: many", ["max-turns-invalid"], []),
        ("color: '#ff0000'", ["color-unknown"], []),
        ("effort: huge", ["effort-unknown"], []),
        ("memory: 7", ["memory-unknown"], []),
        ("isolation: moon", ["isolation-unknown"], []),
        ("background: perhaps", ["background-invalid"], []),
        ("background: yes", [], []),
        ("hooks: {PreToolUse: 3}", ["hooks-malformed"], []),
        ("hooks: word", ["hooks-wrong-type"], []),
        ("mcpServers: {a: 1, b: {command: x}}", ["mcp-server-malformed"], ["mcp-server-malformed"]),
        ("initialPrompt: [a]", ["initial-prompt-wrong-type"], ["initial-prompt-wrong-type"]),
        ("approvalMode: never", [], ["approval-mode-unknown"]),
        ("executor: {kind: bash, command: x}", [], ["executor-invalid"]),
        ("executor: {kind: codex}", [], ["executor-invalid"]),
        ("executor: {kind: acp, command: claude-agent-acp}", [], []),
        ("runConfig: {max_turns: 0}", [], ["max-turns-invalid"]),
        ("runConfig: {max_time_minutes: x}", [], ["max-minutes-invalid"]),
    ],
)
def test_invalid_values_are_dropped_or_refuse_the_file(
    line: str, fuxi: list[str], qwen: list[str]
) -> None:
    front = f"name: a-b\ndescription: d\n{line}"
    assert codes(agent(front)) == fuxi
    read = agent(front, dialect="qwen")
    assert codes(read) == qwen
    refused = {"approval-mode-unknown", "executor-invalid"} & set(qwen)
    assert (read.outcome is Outcome.SKIP) == bool(refused)


@pytest.mark.req("QW-132", "QW-133")
def test_the_own_field_wins_over_the_compatible_one() -> None:
    front = "name: a-b\ndescription: d\napprovalMode: yolo\npermissionMode: plan"
    read = agent(f"{front}\nmaxTurns: 5\nrunConfig: {{max_turns: 9}}", dialect="qwen")
    assert (read.posture, read.max_turns) == (Posture.BYPASS, 5)
    bubble = agent("name: a-b\ndescription: d\napprovalMode: bubble", dialect="qwen")
    assert (bubble.posture, bubble.posture_in_parent) == (Posture.ASK, True)


@pytest.mark.req("QW-157", "QW-158")
@pytest.mark.parametrize(
    ("description", "body", "said"),
    [
        (1_000, 10_000, []),
        (1_001, 10_000, ["description-over-1000"]),
        (1_000, 10_001, ["prompt-over-10000"]),
    ],
)
def test_lengths_only_warn(description: int, body: int, said: list[str]) -> None:
    read = agent(f"name: a-b\ndescription: {'d' * description}", "b" * body, dialect="qwen")
    assert codes(read) == said
    assert read.is_usable


@pytest.mark.req("JA-70", "JA-71")
def test_jarvis_ignores_foreign_fields_and_keeps_them() -> None:
    front = "description: d\nmodel: opus\npermissionMode: plan\nmcpServers: {a: {command: x}}\nx: 1"
    read = agent(front, dialect="jarvis")
    assert (read.outcome, read.model, read.posture, dict(read.mcp)) == ("ok", None, None, {})
    assert set(read.ignored) == {"model", "permissionMode", "mcpServers"}
    assert read.values["x"] == 1


def test_an_empty_body_is_fine_for_jarvis_only() -> None:
    assert codes(agent("name: a-b\ndescription: d", "", dialect="jarvis")) == []
    assert codes(agent("name: a-b\ndescription: d", "")) == ["empty-body"]
    assert codes(agent("name: a-b\ndescription: d", "", dialect="qwen")) == ["empty-body"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("yes please", False), ("true", True), ("'true'", False), ("false", False)],
)
def test_override_must_be_a_real_true(value: str, expected: bool) -> None:
    assert agent(f"description: d\noverride: {value}", dialect="jarvis").override is expected
