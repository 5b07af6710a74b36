"""Files changed in place, exported to other dialects, adopted as workspace agents."""

from pathlib import Path

import pytest

from agents.library import adopting, cc, editing, exporting, names, surface
from agents.library.definition import Dialect, Posture
from agents.library.reading import read_bytes, read_text
from agents.library.yamlread import FrontMatterError

CASES = Path(__file__).parent / "cases"
RAW = """---
# who
name: reviewer   # keep me
description: Looks: closely
tools: Read, Grep
emoji: "🔎"
# below tools

x-order: [3, 1, 2]
---

Body stays.
"""


def test_one_change_leaves_every_other_line_alone() -> None:
    assert editing.rewrite(RAW, {"tools": ["Read", "Bash"]}) == RAW.replace(
        "tools: Read, Grep", "tools: Read, Bash"
    ).replace("description: Looks: closely", 'description: "Looks: closely"')
    text = RAW.replace("Looks: closely", "Looks")
    assert editing.rewrite(text, {}) == text
    assert editing.rewrite(text, {"emoji": None}) == text.replace('emoji: "🔎"\n', "")
    assert editing.rewrite(text, {"model": "opus"}) == text.replace(
        "x-order: [3, 1, 2]\n", "x-order: [3, 1, 2]\nmodel: opus\n"
    )
    assert editing.rewrite(text, {}, body="New.\n\n") == text.replace("Body stays.", "New.")
    assert editing.rewrite(text, {"tools": []}).count("tools: []") == 1


def test_line_ends_and_the_mark_stay() -> None:
    raw = "\ufeff" + RAW.replace("Looks: closely", "Looks").replace("\n", "\r\n")
    assert editing.rewrite(raw, {}) == raw
    changed = editing.rewrite(raw, {"name": "other"})
    assert changed == raw.replace("name: reviewer   # keep me", "name: other")


def test_a_file_without_front_matter_gets_some_and_a_broken_one_is_refused() -> None:
    assert editing.rewrite("Text\n", {"name": "a"}) == "---\nname: a\n---\nText\n"
    with pytest.raises(FrontMatterError):
        editing.rewrite("---\nname: [\n---\nx", {"name": "a"})


def test_a_repeated_key_is_left_once() -> None:
    text = editing.rewrite("---\nname: a\nx: 1\nname: b\n---\nB", {"name": "c"})
    assert text == "---\nx: 1\nname: c\n---\nB"


@pytest.mark.parametrize("path", sorted(CASES.glob("*.md")), ids=lambda path: path.stem)
@pytest.mark.parametrize("target", [d for d in Dialect if d is not Dialect.NONE])
def test_every_example_exports_to_every_dialect(path: Path, target: Dialect) -> None:
    source = Dialect(path.name.split("-")[0])
    read = read_bytes(path.read_bytes(), path=path.name, dialect=source)
    exported = exporting.export(read, target)
    again = read_text(exported.text, path=exported.file_name, dialect=target)
    assert again.is_usable
    assert (again.name if target is not source else read.name) in (read.slug, read.name)
    assert read.body == again.body
    if target is source:
        assert exported.text == path.read_text(encoding="utf-8")


def test_an_export_translates_tools_and_postures_and_says_what_is_lost() -> None:
    text = (
        "---\nname: a-b\ndescription: d\ntools: Read, Bash, Agent(x), mcp__git, Odd\n"
        "permissionMode: acceptEdits\nmemory: user\nmodel: opus\n---\nRun ${cwd}"
    )
    read = read_text(text, path="a-b.md", dialect=Dialect.FUXI)
    qwen = exporting.export(read, Dialect.QWEN)
    back = read_text(qwen.text, dialect=Dialect.QWEN)
    assert back.tools == ("read_file", "run_shell_command", "agent(x)", "mcp__git__*", "Odd")
    assert (back.posture, back.memory, back.model) == (Posture.ACCEPT_EDITS, "user", "opus")
    jarvis = exporting.export(read, Dialect.JARVIS)
    assert [w.code for w in jarvis.warnings] == [
        *("tool-kept", "field-lost", "field-lost", "field-lost", "variables"),
    ]
    opencode = read_text(exporting.export(read, Dialect.OPENCODE).text, dialect=Dialect.OPENCODE)
    assert opencode.tools == ("read", "bash", "task", "git_*", "Odd")
    copilot = exporting.export(read, Dialect.COPILOT)
    assert copilot.file_name == "a-b.agent.md"
    assert read_text(copilot.text, dialect=Dialect.COPILOT).tools == (
        *("read", "execute", "agent", "git/*", "Odd"),
    )


@pytest.mark.parametrize("target", [Dialect.JARVIS, Dialect.OPENCODE, Dialect.COPILOT])
def test_a_tool_for_some_commands_is_not_exported_as_the_whole_tool(target: Dialect) -> None:
    text = "---\nname: a-b\ndescription: d\n{}: Read, Bash(git log:*)\n---\nb"
    listed = exporting.export(read_text(text.format("tools"), dialect=Dialect.FUXI), target)
    assert "tool-kept" in [warning.code for warning in listed.warnings]
    again = read_text(listed.text, dialect=target)
    assert surface.resolve(again, ("read", "bash"), as_main=True).tools == ("read",)
    blocked = read_text(text.format("disallowedTools"), dialect=Dialect.FUXI)
    again = read_text(exporting.export(blocked, target).text, dialect=target)
    assert surface.resolve(again, ("read", "bash", "grep"), as_main=True).tools == ("grep",)


def test_no_tools_stays_no_tools_everywhere() -> None:
    read = read_text("---\nname: a-b\ndescription: d\ntools: []\n---\nb", dialect=Dialect.FUXI)
    for target in (Dialect.JARVIS, Dialect.OPENCODE, Dialect.COPILOT):
        again = read_text(exporting.export(read, target).text, dialect=target)
        assert again.tools == ()
    qwen = exporting.export(read, Dialect.QWEN)
    assert read_text(qwen.text, dialect=Dialect.QWEN).tools == (exporting.NO_TOOL,)
    assert [w.code for w in qwen.warnings] == ["empty-list-widens"]


def test_a_workspace_agent_exports_with_its_instructions() -> None:
    text = cc.render(
        {"name": "qa", "title": "Tester", "systemPrompt": "Be brief.", "skills": ["tests"]},
        "I test.",
    )
    read = read_text(text, path="agents/qa/AGENTS.md")
    assert (read.dialect, read.name, read.outcome) == (Dialect.CC, "qa", "ok")
    exported = exporting.export(read, Dialect.FUXI)
    again = read_text(exported.text, dialect=Dialect.FUXI)
    assert (again.name, again.description, again.skills) == ("qa", "Tester", ("tests",))
    assert again.body == "I test.\n\n## Agent instructions\n\nBe brief."


def test_adopting_keeps_what_it_does_not_use() -> None:
    text = (
        "---\nname: Big Reviewer\ndescription: Reviews code. Use it after changes.\n"
        "tools: Read\nmodel: opus\neffort: high\nskills: a, b\ncolor: red\nx: 1\n---\nBe strict."
    )
    adopted = adopting.adopt(read_text(text, path="r.md", dialect=Dialect.FUXI))
    assert (adopted.name, adopted.title, adopted.persona) == (
        *("big-reviewer", "Reviews code", "Be strict."),
    )
    assert (adopted.model_id, adopted.effort, adopted.skills) == ("opus", "high", ("a", "b"))
    assert adopted.extra == {"tools": "Read", "color": "red", "x": 1}
    assert adopting.first_sentence("word " * 60).endswith("word…")


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("qa", "qa"),
        ("Modernization Agent", "modernization-agent"),
        ("  C++ / Expert  ", "c-expert"),
        ("Café Müller", "cafe-muller"),
        ("a" * 80, "a" * 63),
        ("--x--", "x"),
        ("2fa_helper", "2fa-helper"),
    ],
)
def test_slugs(name: str, slug: str) -> None:
    assert names.slugify(name) == slug


def test_slugs_of_other_scripts_do_not_fall_together() -> None:
    written = ["新聞", "暫存", "Проект", "Привет", "!!!", "", "Проект qa"]
    slugs = [names.slugify(name) for name in written]
    assert len(set(slugs)) == len(slugs)
    assert all(names.is_slug(slug) for slug in slugs)
