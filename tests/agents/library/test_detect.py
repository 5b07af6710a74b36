"""By place first, then by what the file says."""

import pytest

from agents.library import detect
from agents.library.definition import Dialect
from agents.library.reading import read_text


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("repo/.jarvis-code/agents/x.md", "jarvis"),
        ("repo/.jarvis-code/agents/deep/er/x.md", "jarvis"),
        ("home/.agents/agents/x.md", "jarvis"),
        (".fuxi/agents/x.md", "fuxi"),
        ("/a/.claude/agents/review/x.md", "fuxi"),
        ("a/.qwen/agents/x.md", "qwen"),
        ("a/.qwen/extensions/evolve/agents/x.md", "qwen"),
        ("a/.opencode/agent/sub/x.md", "opencode"),
        ("a/.config/opencode/agents/x.md", "opencode"),
        ("home/.copilot/agents/x.md", "copilot"),
        ("repo/.github/chatmodes/x.md", "copilot"),
        ("data/workspaces/1/agents/qa/AGENTS.md", "cc"),
        ("a\\.claude\\agents\\x.md", "fuxi"),
        ("repo/AGENTS.md", None),
        ("agents/x.agent.md", None),
        ("docs/x.md", None),
        ("my.claude/agentsmith/x.md", None),
    ],
)
def test_by_place(path: str, dialect: str | None) -> None:
    assert detect.by_place(path) == dialect


@pytest.mark.parametrize(
    ("front", "path", "dialect"),
    [
        ("override: true", "", "jarvis"),
        ("whenToUse: x\nmodel: opus", "", "jarvis"),
        ("subagents: []", "", "jarvis"),
        ("approvalMode: plan\nwhen: x", "", "qwen"),
        ("executor: {kind: codex}", "", "qwen"),
        ("runConfig: {}", "", "qwen"),
        ("tools: [read_file]", "", "qwen"),
        ("disallowedTools: run_shell_command", "", "qwen"),
        ("tools: [mcp__a__b_c]", "", "jarvis"),
        ("permissionMode: plan", "", "fuxi"),
        ("initialPrompt: x", "", "fuxi"),
        ("memory: user", "", "fuxi"),
        ("isolation: worktree", "", "fuxi"),
        ("effort: low", "", "fuxi"),
        ("maxTurns: 3", "", "fuxi"),
        ("tools: [Agent(a), Read]", "", "fuxi"),
        ("tools: Task(a)", "", "fuxi"),
        ("model: sonnet", "", "fuxi"),
        ("color: red", "", "fuxi"),
        ("tools: Read, Grep", "", "fuxi"),
        ("tools: [Read, Grep]", "", "jarvis"),
        ("name: Big Name", "", "fuxi"),
        ("name: small", "plugins/p/agents/small.md", "fuxi"),
        ("name: small", "agents/small.md", "fuxi"),
        ("name: small", "kit/agents/web/react/small.md", "fuxi"),
        ("description: no name", "kit/agents/web/small.md", "jarvis"),
        ("name: small", "docs/small.md", "jarvis"),
        ("x: y", "", "jarvis"),
        ("mode: subagent\nmodel: a/b", "", "opencode"),
        ("tools: {read: true}", "", "opencode"),
        ("permission: {edit: deny}", "", "opencode"),
        ("handoffs: []", "", "copilot"),
        ("argument-hint: x", "", "jarvis"),  # commands of Claude Code have it too
        ("tools: codebase, search", "", "copilot"),
        ("tools: Read, azure-mcp/run", "", "fuxi"),
        ("tools: [edit/editFiles]", "", "copilot"),
        ("model: GPT-5\nmode: agent", "x.agent.md", "copilot"),
        ("tools: [read_file]", "x.agent.md", "qwen"),
        ("tools: [read, search]", ".github/agents/x.md", "copilot"),
        ("adapterId: claude", "", "cc"),
        ("reportsTo: ceo\neffort: low", "", "cc"),
    ],
)
def test_by_content(front: str, path: str, dialect: str) -> None:
    assert read_text(f"---\n{front}\n---\nbody", path=path).dialect == dialect


def test_a_plain_markdown_file_speaks_none() -> None:
    assert read_text("# Title\n\ntext", path=".claude/agents/README.md").dialect is Dialect.NONE
    assert read_text("---\nx: 1\n---\n", path="a", dialect=Dialect.QWEN).dialect is Dialect.QWEN
