"""`${var}` in Jarvis bodies and SYSTEM.md, and nowhere else."""

import pytest

from agents.library.definition import AgentDefinition, Dialect
from agents.library.template import default_prompt, fill, prompt_of

SKELETON = "You are ${product_name}, running at ${cwd} on ${os}.\n\n${agents_md}\n\n${skills}"


@pytest.mark.req("JA-67", "JA-98", "JA-99", "JA-109")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("at ${cwd}", "at /w"),
        ("${unknown} ${CWD} ${cwd", "${unknown} ${CWD} ${cwd"),
        ("costs $5, $cwd, $$", "costs $5, $cwd, $$"),
        ("[${skills}]", "[]"),
        ("[${windows_notes}${additional_dirs_section}${skills_section}]", "[]"),
        ("${product_name}", "Control Center"),
        ("${now}", "${cwd}"),  # what is filled in is not looked at again
    ],
)
def test_variables(body: str, expected: str) -> None:
    assert fill(body, {"cwd": "/w", "now": "${cwd}"}) == expected


@pytest.mark.req("JA-111")
def test_the_skeleton_can_be_rebuilt() -> None:
    values = {"cwd": "/w", "os": "linux", "agents_md": "Be kind.", "product_name": "Jarvis"}
    assert fill(SKELETON, values) == "You are Jarvis, running at /w on linux.\n\nBe kind.\n\n"


@pytest.mark.req("JA-66")
def test_only_jarvis_bodies_are_templates() -> None:
    for dialect in Dialect:
        agent = AgentDefinition(dialect, body="echo ${cwd} ${INPUT}")
        expected = "echo /w ${INPUT}" if dialect is Dialect.JARVIS else agent.body
        assert prompt_of(agent, {"cwd": "/w"}) == expected


@pytest.mark.req("JA-68", "JA-91", "JA-93", "JA-94", "JA-107")
def test_system_md_replaces_the_default_prompt_and_may_wrap_it() -> None:
    values = {"cwd": "/w"}
    assert default_prompt("Built in ${cwd}", None, values) == ("Built in /w", False)
    assert default_prompt("Built in", "  \n", values) == ("Built in", False)
    text = "---\nname: x\n---\nMine, then ${base_prompt}"
    prompt, replaced = default_prompt("Built in ${cwd}", text, values)
    assert (prompt, replaced) == ("---\nname: x\n---\nMine, then Built in /w", True)
    agent = AgentDefinition(Dialect.JARVIS, body="Wrap: ${base_prompt}")
    assert prompt_of(agent, {"base_prompt": prompt}).endswith("Mine, then Built in /w")
