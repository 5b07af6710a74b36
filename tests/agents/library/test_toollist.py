"""The same tools however they are written; nothing unclear ever widens."""

import pytest

from agents.library import toollist
from agents.library.definition import Dialect
from agents.library.reading import read_text


def read(dialect: str, tools: str, key: str = "tools") -> tuple[tuple[str, ...] | None, list[str]]:
    text = f"---\nname: a-b\ndescription: d\n{key}: {tools}\n---\nbody"
    found = read_text(text, path="a-b.md", dialect=Dialect(dialect))
    listed = found.tools if key == "tools" else found.disallowed_tools
    return listed, [warning.code for warning in found.loud_warnings]


@pytest.mark.req("JA-56", "FX-63")
@pytest.mark.parametrize("dialect", ["jarvis", "fuxi", "qwen", "copilot"])
@pytest.mark.parametrize(
    "tools",
    [
        "Read, Grep",
        "Read,Grep,",
        "Read Grep",
        "[Read, Grep]",
        '["Read", "Grep"]',
        "\n  - Read\n  - Grep",
        '"Read, Grep"',
        '\'["Read", "Grep"]\'',
        "|\n  Read\n  Grep",
    ],
)
def test_all_forms_are_the_same_list(dialect: str, tools: str) -> None:
    assert read(dialect, tools) == (("Read", "Grep"), [])
    assert read(dialect, tools, "disallowedTools") == (("Read", "Grep"), [])


@pytest.mark.req("FX-92")
def test_a_comma_in_brackets_does_not_split() -> None:
    assert read("fuxi", "Agent(worker, researcher), Read, Bash")[0] == (
        *("Agent(worker, researcher)", "Read", "Bash"),
    )
    assert toollist.split_entries("Bash(git diff *) Read") == ("Bash(git diff *)", "Read")
    assert toollist.split_entries("a(b, c") == ("a(b, c",)


@pytest.mark.req("JA-57", "QW-125")
@pytest.mark.parametrize(
    ("dialect", "tools", "expected", "said"),
    [
        ("jarvis", "[]", (), []),
        ("jarvis", "'*'", None, []),
        ("jarvis", "['*']", None, []),
        ("jarvis", "", (), ["tools-empty"]),
        ("jarvis", "''", (), ["tools-empty"]),
        ("fuxi", "[]", (), []),
        ("fuxi", "'*'", None, []),
        ("fuxi", "", (), ["tools-empty"]),
        ("fuxi", "7", (), ["tools-wrong-type"]),
        ("fuxi", "[Read, 7]", ("Read",), ["tools-entry-wrong-type"]),
        ("fuxi", "{Read: true, Bash: false}", ("Read",), ["tools-map"]),
        ("fuxi", "{Read: true}", ("Read",), ["tools-map"]),
        ("jarvis", "{Read: true, Bash: ask}", ("Read",), ["tools-map"]),
        ("qwen", "[]", None, ["tools-empty-inherits-all"]),
        ("qwen", "", None, ["tools-empty-inherits-all"]),
        ("copilot", "[]", (), []),
        ("copilot", "['*']", None, []),
        ("opencode", "{read: true, bash: false}", ("read",), []),
        ("opencode", "{read: true, bash: true}", ("read", "bash"), []),
        ("opencode", "{'*': false, one: true}", ("one",), []),
        ("opencode", "{bash: false}", None, []),
        ("opencode", "{'*': true}", (), []),
        ("opencode", "{}", (), []),
        ("opencode", "{'*': false, bash: false}", (), []),
    ],
)
def test_edges_of_lists_and_maps(
    dialect: str, tools: str, expected: tuple[str, ...] | None, said: list[str]
) -> None:
    assert read(dialect, tools) == (expected, said)


def test_what_a_map_switches_off_is_blocked() -> None:
    text = "---\ndescription: d\ntools: {bash: false, read: true}\npermission: {edit: deny}\n---\nb"
    found = read_text(text, path="x.md", dialect=Dialect.OPENCODE)
    assert (found.tools, found.disallowed_tools) == (
        ("read",),
        ("bash", "edit", "write"),
    )
    text = "---\ndescription: d\npermission: deny\n---\nb"
    assert read_text(text, path="x.md", dialect=Dialect.OPENCODE).tools == ()
    text = "---\ndescription: d\npermission: {bash: {'*': ask, 'rm *': deny}}\n---\nb"
    assert read_text(text, path="x.md", dialect=Dialect.OPENCODE).disallowed_tools == ()


@pytest.mark.parametrize(
    ("permission", "tools", "disallowed"),
    [
        ("{edit: deny}", None, ("edit", "write")),  # one word for every change of a file
        ("{'*': deny, read: allow, bash: ask}", ("read", "bash"), ()),
        ("{'*': deny, edit: allow, write: allow}", ("edit", "write"), ()),
        ("{'*': deny, edit: deny, read: allow}", ("read",), ("edit", "write")),
        ("{'*': deny, skill: {'*': deny, one: allow}}", ("skill",), ()),
        ("{'*': deny, task: {'*': deny}}", (), ("task",)),
        ("{read: allow, '*': deny}", (), ()),  # the last word counts
        ("{read: allow, '*': deny, grep: allow}", ("grep",), ()),
        ("{'*': {'*': deny}}", (), ()),
        ("{'*': deny, read: perhaps}", (), ()),
        ("{'*': allow, bash: deny}", None, ("bash",)),
        ("{'*': ask}", None, ()),
        ("{bash: allow, 'rm -rf *': deny}", None, ()),  # a command is no tool
        ("{external_directory: deny, doom_loop: deny}", None, ()),  # nor is a guard
        ("{'*': deny}\ntools: {read: true}", (), ()),
        ("{'*': deny, read: allow}\ntools: {read: true, bash: true}", ("read",), ()),
        ("{'*': deny, read: allow}\ntools: {bash: false}", ("read",), ("bash",)),
        ("{'*': deny, read: allow, bash: allow}\ntools: {read: false}", ("bash",), ("read",)),
    ],
)
def test_what_a_permission_map_leaves(
    permission: str, tools: tuple[str, ...] | None, disallowed: tuple[str, ...]
) -> None:
    text = f"---\ndescription: d\npermission: {permission}\n---\nb"
    found = read_text(text, path="x.md", dialect=Dialect.OPENCODE)
    assert (found.tools, found.disallowed_tools) == (tools, disallowed)


def test_omitted_is_all() -> None:
    for dialect in ("jarvis", "fuxi", "qwen", "opencode", "copilot"):
        text = "---\nname: a-b\ndescription: d\n---\nbody"
        assert read_text(text, path="a-b.md", dialect=Dialect(dialect)).tools is None
