"""Rows of the catalogue that no other test speaks of, and shapes that public files really have."""

from pathlib import Path

import pytest

from agents.library import authoring, session, surface, template
from agents.library.definition import AgentDefinition, Dialect, Outcome
from agents.library.loading import Loader
from agents.library.places import Scope, Surroundings, places
from agents.library.reading import read_bytes, read_text
from agents.library.scopes import resolve


def codes(definition: AgentDefinition) -> list[str]:
    return [warning.code for warning in definition.loud_warnings]


def write(file: Path, name: str, front: str = "") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\nname: {name}\ndescription: d\n{front}---\nBody\n")


@pytest.mark.req("JA-39", "JA-54")
def test_what_comes_along_has_the_last_word_last(tmp_path: Path) -> None:
    write(tmp_path / ".jarvis-code/agents/plan.md", "plan")
    where = Surroundings(home=tmp_path)
    found = Loader().load(places(where))
    assert found[-1].place.scope is Scope.BUILTIN
    entry = resolve(found).find("plan")
    assert entry is not None
    assert entry.found.place.scope is Scope.BUILTIN  # `override` is false unless it is said
    write(tmp_path / ".jarvis-code/agents/plan.md", "plan", "override: true\n")
    entry = resolve(Loader().load(places(where))).find("plan")
    assert entry is not None
    assert entry.found.place.scope is Scope.MEMBER


@pytest.mark.req("JA-49", "FX-51", "QW-103", "FX-25", "FX-64", "FX-65")
def test_a_file_is_a_head_and_a_prompt_of_several_paragraphs() -> None:
    front = "name: a-b\ndescription: d\nmodel: {}\ntools: [{}]\ndisallowedTools: [{}]\n"
    body = "First paragraph.\n\n- a list\n\n---\n\nAfter a rule."
    for dialect, model, tool, blocked in (
        ("jarvis", "x", "Read", "Bash"),
        ("fuxi", "haiku", "Read", "Bash"),
        ("qwen", "fast", "read_file", "run_shell_command"),
    ):
        head = front.format(model, tool, blocked)
        read = read_text(f"---\n{head}---\n\n{body}\n", dialect=Dialect(dialect))
        assert (read.outcome, read.body) == (Outcome.OK, body)
        assert (read.tools, read.disallowed_tools) == ((tool,), (blocked,))
        assert read.model == (None if dialect == "jarvis" else model)
        seen = surface.resolve(read, ("read", "bash", "write"), as_main=False)
        assert seen.tools == ("read",)


@pytest.mark.req("JA-69", "JA-88")
def test_what_packages_say_stands_where_the_marker_is() -> None:
    agent = AgentDefinition(Dialect.JARVIS, body="Mine.\n\n${plugin_sections}\n\nEnd.")
    known = {"plugin_sections": "# Plugin Instructions\n\nBe brief."}
    assert template.prompt_of(agent, known) == "Mine.\n\n# Plugin Instructions\n\nBe brief.\n\nEnd."
    assert template.prompt_of(agent, {}) == "Mine.\n\n\n\nEnd."


@pytest.mark.req("JA-110")
def test_both_markers_together_are_worth_a_word() -> None:
    both = "---\ndescription: d\n---\n${base_prompt}\n${plugin_sections}"
    said = read_text(both, path="x.md", dialect=Dialect.JARVIS)
    assert [w.code for w in said.warnings] == ["plugin-sections-twice"]
    one = both.replace("\n${plugin_sections}", "")
    assert read_text(one, path="x.md", dialect=Dialect.JARVIS).warnings == ()


@pytest.mark.req("FX-32", "FX-38", "FX-45")
def test_a_file_a_package_and_json_say_the_same_thing(tmp_path: Path) -> None:
    write(tmp_path / ".fuxi/agents/x.md", "x", "tools: Read, Grep\n")
    by_hand = resolve(Loader().load(places(Surroundings(home=tmp_path)))).find("x")
    assert by_hand is not None
    text = '{"x": {"description": "d", "prompt": "Body", "tools": ["Read", "Grep"]}}'
    [by_json] = session.read_agents_json(text)
    for one in (by_hand.definition, by_json):
        assert (one.name, one.body, one.tools) == ("x", "Body", ("Read", "Grep"))


@pytest.mark.req("FX-83", "FX-84")
def test_without_a_list_everything_is_inherited_but_what_no_subagent_has() -> None:
    plain = AgentDefinition(Dialect.FUXI, name="a")
    pool = ("read", "bash", "mcp__github__issues", "ask_user")
    assert surface.resolve(plain, pool, as_main=False).tools == pool[:3]


@pytest.mark.req("QW-138")
def test_a_qwen_file_may_use_what_is_only_announced_there() -> None:
    front = (
        "name: a-b\ndescription: d\neffort: high\nskills: [one]\ninitialPrompt: Go.\n"
        "memory: project\nisolation: worktree\n"
    )
    read = read_text(f"---\n{front}---\nB", dialect=Dialect.QWEN)
    assert (read.effort, read.skills, read.initial_prompt) == ("high", ("one",), "Go.")
    assert (read.memory, read.isolation) == ("project", "worktree")


TOOLS = [
    # how the list is written, in which dialect, what it means (None: every tool)
    ("tools:\n  - Read\n  - Grep", "fuxi", ("Read", "Grep")),
    ("tools:\n- Read\n- Grep", "fuxi", ("Read", "Grep")),
    ('tools: ["Read", "Grep"]', "fuxi", ("Read", "Grep")),
    ("tools: ['Read', 'Grep',]", "fuxi", ("Read", "Grep")),
    ('tools: "Read, Grep"', "fuxi", ("Read", "Grep")),
    ("tools: Read, Grep,", "fuxi", ("Read", "Grep")),
    ("tools: Read Grep", "fuxi", ("Read", "Grep")),
    ("tools: |\n  Read, Grep", "fuxi", ("Read", "Grep")),
    ("tools: >-\n  Read,\n  Grep", "fuxi", ("Read", "Grep")),
    ("tools:\n  Read,\n  Grep", "fuxi", ("Read", "Grep")),
    ("tools: Read # and no more", "fuxi", ("Read",)),
    ("tools: Bash(git log:*), Read", "fuxi", ("Bash(git log:*)", "Read")),
    ("tools: Agent(a, b), Read", "fuxi", ("Agent(a, b)", "Read")),
    ("tools:", "fuxi", ()),
    ("tools: null", "fuxi", ()),
    ("tools: ~", "fuxi", ()),
    ("tools: []", "fuxi", ()),
    ("tools: '*'", "fuxi", None),
    ("tools: ['*']", "fuxi", None),
    ("tools: All tools", "fuxi", ("All", "tools")),
    ("tools: 7", "fuxi", ()),
    ("tools: {Read: true, Bash: false}", "fuxi", ("Read",)),
    ("tools: &t [Read]\nx: *t", "fuxi", ("Read",)),
    ("x: 1", "fuxi", None),
    ("tools: {read: true, bash: false}", "opencode", ("read",)),
    ("tools:\n  bash: false", "opencode", None),
    ("tools:\n  '*': false\n  read: true", "opencode", ("read",)),
    ("tools:\n  '*': true", "opencode", ()),
    ("tools: {read: ask}", "opencode", None),  # all but that one
    ("permission: deny", "opencode", ()),
    ("tools: [search, 'github/*']", "copilot", ("search", "github/*")),
    ("tools: []", "copilot", ()),
    ("tools: []", "qwen", None),
    ("tools:", "qwen", None),
]


@pytest.mark.req("JA-56", "FX-63", "QW-125")
@pytest.mark.parametrize(("line", "dialect", "expected"), TOOLS)
def test_a_list_in_every_form_that_people_write(
    line: str, dialect: str, expected: tuple[str, ...] | None
) -> None:
    read = read_text(f"---\nname: a-b\ndescription: d\n{line}\n---\nB", dialect=Dialect(dialect))
    assert read.tools == expected
    assert read.is_usable


NAMES = [
    ("My Agent", "fuxi", Outcome.OK_WITH_WARNING),
    ("agent_one", "fuxi", Outcome.OK_WITH_WARNING),
    ("v2.5-expert", "fuxi", Outcome.OK_WITH_WARNING),
    ("k8s-expert", "fuxi", Outcome.OK),
    ("数据分析", "fuxi", Outcome.OK_WITH_WARNING),
    ("🎭 Tester", "copilot", Outcome.OK_WITH_WARNING),
    ("agent_one", "jarvis", Outcome.SKIP),
    ("double--hyphen", "jarvis", Outcome.SKIP),
    ("trailing-", "jarvis", Outcome.SKIP),
    ("0x1F", "qwen", Outcome.OK),
    ("a.b", "qwen", Outcome.OK_WITH_WARNING),
    ("no", "qwen", Outcome.OK),
]


@pytest.mark.parametrize(("name", "dialect", "outcome"), NAMES)
def test_names_with_blanks_dots_and_other_letters(
    name: str, dialect: str, outcome: Outcome
) -> None:
    text = f"---\nname: {name}\ndescription: d\n---\nB"
    for variant in (text, text.replace("\n", "\r\n"), f"\ufeff{text}"):
        read = read_bytes(variant.encode(), dialect=Dialect(dialect))
        assert read.outcome is outcome
        assert read.declared_name == name
        assert read.slug.isascii()
        assert read.slug


def test_the_head_may_be_indented_by_tabs_or_hold_an_example() -> None:
    text = (
        "---\nname: a-b\ndescription: Use it. Examples: <example>\\nuser: hi\\n</example>\n"
        "tools:\n\t- Read\n\t- Grep\ncolor: Blue\n---\nB"
    )
    read = read_text(text, dialect=Dialect.FUXI)
    assert read.tools == ("Read", "Grep")
    assert "<example>" in read.description
    assert set(codes(read)) == {"tab-indent", "yaml-repaired", "color-unknown"}


@pytest.mark.parametrize("key", ["tools", "disallowedTools", "permissionMode"])
def test_a_limit_that_is_indented_by_mistake_is_never_taken_for_prose(key: str) -> None:
    text = f"---\nname: a-b\ndescription: Reads only\n {key}: Read\n---\nB"
    read = read_text(text, dialect=Dialect.FUXI)
    assert (read.outcome, codes(read), read.body) == (Outcome.SKIP, ["invalid-yaml"], "B")
    assert read.loud_warnings[0].line == 4


@pytest.mark.parametrize("dialect", list(authoring.FIELDS))
def test_what_is_filled_in_reads_back_as_it_was(dialect: Dialect) -> None:
    filled = {field.key: "" for field in authoring.FIELDS[dialect]}
    filled |= {"name": "a-b", "description": "Two: lines\nof it"}
    text = authoring.written(dialect, filled, "Body.\n\n  Kept.")
    read = read_text(text, dialect=dialect)
    assert (read.outcome, read.name, read.body) == (Outcome.OK, "a-b", "Body.\n\n  Kept.")
    assert authoring.shown(read) == filled
    assert authoring.rewritten(read, filled, read.body) == text
    for field in authoring.FIELDS[dialect]:
        value = {"names": "one, two", "switches": "one, !two", "number": "7", "flag": "true"}.get(
            field.kind.value, field.choices[0] if field.choices else "some words"
        )
        value = "c-d" if field.key == "name" else value
        changed = read_text(
            authoring.rewritten(read, filled | {field.key: value}, read.body), dialect=dialect
        )
        assert authoring.shown(changed)[field.key] == value
        assert changed.body == read.body
        back = authoring.rewritten(changed, filled, read.body)
        assert read_text(back, dialect=dialect).values == read.values
