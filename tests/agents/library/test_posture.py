"""How much a subagent may do by itself: its parent's posture and its own (requirements 6.6)."""

import pytest

from agents.library import posture
from agents.library.definition import AgentDefinition, Dialect, Posture

PLAN, ASK, EDITS, BYPASS = Posture.PLAN, Posture.ASK, Posture.ACCEPT_EDITS, Posture.BYPASS
AUTO, SILENT = Posture.CLASSIFIER, Posture.DENY_PROMPTS
FUXI, QWEN, JARVIS = Dialect.FUXI, Dialect.QWEN, Dialect.JARVIS

TABLE = [
    # parent, own, dialect, trusted → posture
    (PLAN, BYPASS, FUXI, True, PLAN),
    (PLAN, None, QWEN, True, PLAN),  # QW-122
    (BYPASS, PLAN, QWEN, True, BYPASS),  # QW-124
    (BYPASS, ASK, FUXI, True, BYPASS),  # FX-116
    (EDITS, None, QWEN, True, EDITS),  # QW-121
    (EDITS, PLAN, FUXI, True, EDITS),
    (AUTO, BYPASS, FUXI, True, AUTO),  # FX-117
    (ASK, PLAN, FUXI, True, PLAN),
    (ASK, BYPASS, FUXI, True, BYPASS),
    (ASK, EDITS, QWEN, True, EDITS),  # QW-118
    (ASK, ASK, QWEN, True, ASK),  # QW-116
    (ASK, None, FUXI, True, ASK),
    (ASK, None, JARVIS, True, ASK),
    (ASK, None, QWEN, True, EDITS),  # QW-123
    (ASK, None, QWEN, False, ASK),
    (ASK, BYPASS, QWEN, False, ASK),  # QW-150
    (BYPASS, None, FUXI, False, ASK),
    (SILENT, None, QWEN, True, SILENT),
    (SILENT, ASK, FUXI, True, ASK),
]


@pytest.mark.req("QW-116", "QW-118", "QW-121", "QW-122", "QW-123", "QW-124", "FX-116", "FX-117")
@pytest.mark.parametrize(("parent", "own", "dialect", "trusted", "expected"), TABLE)
def test_the_table(
    parent: Posture, own: Posture | None, dialect: Dialect, trusted: bool, expected: Posture
) -> None:
    definition = AgentDefinition(dialect, posture=own)
    assert posture.resolve(parent, definition, trusted=trusted) is expected
