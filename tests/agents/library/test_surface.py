"""From lists to tools: what each dialect's entries mean, with the reason for each tool."""

import pytest

from agents.library import delegates, surface
from agents.library.definition import AgentDefinition, Dialect, Posture
from agents.library.surface import ToolSurface, resolve, shown_names

BUILT_IN = (
    *("read", "read_many", "write", "edit", "bash", "grep", "glob", "web_fetch", "agent"),
    *("agent_swarm", "skill", "ask_user", "enter_plan_mode", "exit_plan_mode", "workflow"),
)
MCP = ("mcp__github__issues", "mcp__github__read_file", "mcp__slack__post")
POOL = (*BUILT_IN, *MCP, "house_tool")
NEVER = {"ask_user", "enter_plan_mode", "exit_plan_mode", "workflow"}


def of(
    dialect: str,
    tools: tuple[str, ...] | None = None,
    disallowed: tuple[str, ...] = (),
    *,
    as_main: bool = False,
    pool: tuple[str, ...] = POOL,
) -> ToolSurface:
    definition = AgentDefinition(
        Dialect(dialect), name="a", tools=tools, disallowed_tools=disallowed
    )
    return resolve(definition, pool, as_main=as_main)


def codes(found: ToolSurface) -> list[str]:
    return [warning.code for warning in found.warnings]


ALL = set(POOL) - NEVER
GITHUB = {"mcp__github__issues", "mcp__github__read_file"}
ROWS = [
    # dialect, tools, disallowed, what is left, what is said
    ("jarvis", None, (), ALL, []),
    ("jarvis", (), (), set(), []),
    ("jarvis", ("Read", "Grep"), (), {"read", "grep"}, []),
    ("jarvis", ("read",), (), set(), ["unknown-tool"]),
    ("jarvis", ("read_file",), (), set(), ["unknown-tool"]),
    ("jarvis", ("mcp__github__*",), (), GITHUB, []),
    ("jarvis", ("mcp__github__issues",), (), {"mcp__github__issues"}, []),
    ("jarvis", ("mcp__*",), (), set(MCP), []),
    ("jarvis", ("mcp__github",), (), set(), ["mcp-literal-incomplete"]),
    ("jarvis", ("Re*",), (), set(), ["wildcard-outside-mcp"]),
    ("jarvis", ("house_tool",), (), {"house_tool"}, []),
    ("jarvis", ("Agent(a, b)",), (), set(), ["unknown-tool"]),
    ("jarvis", ("TaskStop",), (), set(), []),  # it exists, only not here
    ("jarvis", None, ("*",), ALL, ["wildcard-outside-mcp"]),
    ("jarvis", None, ("mcp__slack__*", "Bash"), ALL - {"mcp__slack__post", "bash"}, []),
    ("jarvis", ("Read", "Bash"), ("Bash",), {"read"}, []),
    ("fuxi", None, (), ALL, []),
    ("fuxi", (), (), set(), []),
    ("fuxi", ("Read", "Grep", "Glob", "Bash"), (), {"read", "grep", "glob", "bash"}, []),
    ("fuxi", None, ("Write", "Edit"), ALL - {"write", "edit"}, []),
    ("fuxi", None, ("mcp__github",), ALL - GITHUB, []),
    ("fuxi", None, ("mcp__github__*",), ALL - GITHUB, []),
    ("fuxi", None, ("mcp__*",), ALL - set(MCP), []),
    ("fuxi", ("mcp__github",), (), GITHUB, []),
    ("fuxi", ("mcp__*",), (), set(), ["mcp-all-only-blocks"]),
    ("fuxi", ("Task",), (), {"agent"}, []),
    ("fuxi", ("Task(x)", "Read"), (), {"agent", "read"}, ["types-ignored"]),
    ("fuxi", ("Bash(git *)",), (), set(), ["pattern-not-supported"]),
    ("fuxi", None, ("Bash(rm *)",), ALL - {"bash"}, ["pattern-not-supported"]),
    ("fuxi", None, ("*",), set(), []),
    ("fuxi", ("Read", "Unheard"), (), {"read"}, ["unknown-tool"]),
    ("fuxi", None, ("Agent(x)",), ALL, []),  # the type is blocked, the tool stays
    ("fuxi", ("Read", "Edit"), ("Edit",), {"read"}, []),
    ("qwen", None, (), ALL, []),
    ("qwen", ("read_file", "Bash"), (), {"read", "bash"}, []),
    ("qwen", ("read_file",), (), {"read"}, []),  # no MCP tool unless it is named
    ("qwen", ("mcp__github",), (), GITHUB, []),
    ("qwen", None, ("mcp__slack",), ALL - {"mcp__slack__post"}, []),
    ("qwen", None, ("mcp__slack__post",), ALL - {"mcp__slack__post"}, []),
    ("qwen", ("grep_search", "edit"), ("edit",), {"grep"}, []),
    ("opencode", ("read", "bash"), (), {"read", "bash"}, []),
    ("opencode", None, ("bash", "edit"), ALL - {"bash", "edit"}, []),
    ("opencode", None, ("github*",), ALL - GITHUB, []),
    ("opencode", ("slack_post",), (), {"mcp__slack__post"}, []),
    ("opencode", ("nothing",), (), set(), ["unknown-tool"]),
    ("copilot", ("read", "search"), (), {"read", "grep", "glob"}, []),
    ("copilot", ("Edit",), (), {"edit", "write"}, []),
    ("copilot", ("github/*",), (), GITHUB, []),
    ("copilot", ("slack/post", "unheard"), (), {"mcp__slack__post"}, ["unknown-tool"]),
    ("cc", None, (), ALL, []),
]


@pytest.mark.req(
    *("JA-47", "JA-57", "JA-58", "JA-62", "JA-63", "JA-64", "JA-65", "FX-85", "FX-86", "FX-87"),
    *(
        "FX-88",
        "FX-89",
        "FX-90",
        "FX-91",
        "FX-93",
        "QW-125",
        "QW-126",
        "QW-127",
        "QW-128",
        "QW-129",
    ),
)
@pytest.mark.parametrize(("dialect", "tools", "disallowed", "left", "said"), ROWS)
def test_what_is_left(
    dialect: str,
    tools: tuple[str, ...] | None,
    disallowed: tuple[str, ...],
    left: set[str],
    said: list[str],
) -> None:
    found = of(dialect, tools, disallowed)
    assert set(found.tools) == left
    assert codes(found) == said


def test_each_tool_has_its_reason() -> None:
    found = of("fuxi", ("Read", "Bash", "AskUserQuestion"), ("Bash",))
    reasons = {verdict.tool: (verdict.code, verdict.reason) for verdict in found.verdicts}
    assert reasons["read"] == ("listed", "`tools` has `Read`.")
    assert reasons["bash"] == ("blocked", "The block list has `Bash`.")
    assert reasons["ask_user"][0] == "never-for-subagents"
    assert reasons["glob"][0] == "not-listed"
    assert of("fuxi").verdicts[0].code == "inherited"
    assert [verdict.tool for verdict in found.verdicts] == list(POOL)


@pytest.mark.req("FX-85")
def test_plan_mode_may_be_left_by_who_is_in_it() -> None:
    planner = AgentDefinition(Dialect.FUXI, name="a", posture=Posture.PLAN)
    assert "exit_plan_mode" in resolve(planner, POOL, as_main=False).tools
    assert "enter_plan_mode" not in resolve(planner, POOL, as_main=False).tools
    assert set(of("fuxi", as_main=True).tools) >= NEVER


@pytest.mark.req("JA-09")
def test_only_the_built_in_coder_may_plan() -> None:
    coder = AgentDefinition(Dialect.JARVIS, name="coder")
    assert "enter_plan_mode" in resolve(coder, POOL, as_main=False, is_builtin=True).tools
    assert "enter_plan_mode" not in resolve(coder, POOL, as_main=False).tools


@pytest.mark.req("FX-130")
def test_memory_adds_its_tools_after_both_lists_and_for_itself_only() -> None:
    keeper = AgentDefinition(
        *(Dialect.FUXI,), name="a", memory="project", tools=("Read",), disallowed_tools=("Write",)
    )
    found = resolve(keeper, POOL, as_main=False)
    assert set(found.tools) == {"read", "write", "edit"}
    assert found.memory_only == {"write", "edit"}


def test_a_model_sees_the_words_of_its_dialect() -> None:
    found = of("fuxi", ("Read", "Grep"))
    assert shown_names(found, Dialect.FUXI) == ("Read", "Grep")
    assert shown_names(found, Dialect.QWEN) == ("read_file", "grep_search")
    assert shown_names(of("fuxi", ("mcp__slack",)), Dialect.QWEN) == ("mcp__slack__post",)


def test_an_agent_that_ends_up_without_tools_is_told() -> None:
    definition = AgentDefinition(Dialect.FUXI, name="a", tools=("Unheard",))
    found = resolve(definition, POOL, as_main=False)
    assert [w.code for w in surface.warn_about_reach(definition, found)] == ["no-tool-left"]


@pytest.mark.req("JA-59", "JA-60", "JA-61", "FX-92", "FX-94", "FX-96", "FX-97", "FX-98")
@pytest.mark.parametrize(
    ("dialect", "tools", "subagents", "as_main", "yes", "no"),
    [
        ("jarvis", None, None, False, ["coder", "explore", "plan"], ["mine", "other"]),
        ("jarvis", None, None, True, ["coder", "mine"], ["other"]),
        ("jarvis", None, ("a",), False, ["a"], ["coder", "mine"]),
        ("jarvis", None, ("a",), True, ["a", "mine"], ["coder"]),
        ("jarvis", None, ("*",), False, ["a", "coder", "other"], []),
        ("jarvis", None, (), False, [], ["coder"]),
        ("jarvis", ("Read",), ("*",), True, [], ["a"]),
        ("fuxi", None, None, True, ["anything"], []),
        ("fuxi", ("Read",), None, True, [], ["anything"]),
        ("fuxi", ("Agent", "Read"), None, True, ["anything"], []),
        ("fuxi", ("Agent(worker, researcher)", "Read"), None, True, ["worker"], ["other"]),
        ("fuxi", ("Agent(worker)",), None, False, ["worker", "other"], []),
        ("fuxi", ("Agent(a)", "Agent"), None, True, ["a", "other"], []),
        ("copilot", None, ("a",), False, ["a"], ["b"]),
    ],
)
def test_who_may_be_called(
    dialect: str,
    tools: tuple[str, ...] | None,
    subagents: tuple[str, ...] | None,
    as_main: bool,
    yes: list[str],
    no: list[str],
) -> None:
    definition = AgentDefinition(Dialect(dialect), name="a", tools=tools, delegates=subagents)
    called = resolve(definition, POOL, as_main=as_main, discovered=["mine"]).delegates
    assert [name for name in [*yes, *no] if called.admits(name)] == yes


def test_a_blocked_type_and_an_unknown_one() -> None:
    definition = AgentDefinition(Dialect.FUXI, name="a", disallowed_tools=("Agent(Explore, x)",))
    called = resolve(definition, POOL, as_main=True).delegates
    assert not called.admits("Explore")
    assert called.admits("Plan")
    jarvis = AgentDefinition(Dialect.JARVIS, name="a", delegates=("coder", "typo"))
    found = resolve(jarvis, POOL, as_main=False, known_types=["coder", "plan"])
    assert codes(found) == ["unknown-subagent"]
    assert delegates.called_types("Read(a)") is None
