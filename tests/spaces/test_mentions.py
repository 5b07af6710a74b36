"""What is a mention and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spaces.mentions import find

TABLE = [
    ("@engineer go", ["engineer"]),
    ("Ask @qa, then @ceo.", ["qa", "ceo"]),
    ("(@qa)", ["qa"]),
    ("@QA", ["QA"]),
    ("ada@example.org", []),
    ("see https://x.org/@ceo", []),
    ("`@ceo` and ```\n@qa\n``` but @engineer", ["engineer"]),
    ("```\n@qa never closed", []),
    ("@@ceo", []),
    ("@ceo@qa", []),
    ("@-ceo", []),
    ("@ceo-", ["ceo"]),
    ("@a-b-c", ["a-b-c"]),
    ("@" + "a" * 63, ["a" * 63]),
    ("@engineer\n@qa", ["engineer", "qa"]),
    ("@engenheiro-é", []),
    ("@agent-kit:review:security and @qa", ["qa"]),  # a package's subagent is nobody's handle
    ("@agent-scout: go", ["agent-scout"]),
    ("@ceo:go", ["ceo"]),
    ("", []),
]


@pytest.mark.req("CC-13")
@pytest.mark.parametrize(("text", "handles"), TABLE)
def test_find(text: str, handles: list[str]) -> None:
    assert [each.handle for each in find(text)] == handles


@given(st.text())
def test_every_place_is_where_it_says(text: str) -> None:
    for each in find(text):
        assert text[each.start : each.end] == f"@{each.handle}"
