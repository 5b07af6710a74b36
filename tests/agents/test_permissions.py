"""`Agent(name)` in the permissions of settings files."""

import json
from pathlib import Path

import pytest

from agents.paths import workspace_directory
from agents.permissions import AgentRules, rules_of
from agents.shelves import home_of
from agents.surroundings import Project
from tests.cast import Cast


def settings(folder: Path, file: str = ".fuxi/settings.json", **permissions: list[object]) -> None:
    place = folder / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps({"permissions": permissions}))


@pytest.mark.req("FX-95", "FX-49", "FX-137", "FX-93")
def test_each_place_is_read_and_a_repository_only_tightens(cast: Cast, tmp_path: Path) -> None:
    top = workspace_directory(cast.workspace.pk) / "organisation"
    settings(top, deny=["Agent(Explore)", "Bash(rm:*)", 7], allow=["Agent(scout)"])
    home = home_of(cast.workspace.pk, cast.ada.principal)
    settings(home, ".claude/settings.local.json", ask=["Task(plan, coder)"], allow=["Agent"])
    settings(tmp_path, deny=["Agent( evil )"], allow=["Agent(evil)"])
    with cast.bound():
        found = rules_of(cast.ada.principal, [Project(tmp_path)])
        others = rules_of(cast.ben.principal, [])
    assert found.denied == {"Explore", "evil"}
    assert found.asked == {"plan", "coder"}
    assert found.allowed == {"scout", "*"}
    assert others.denied == {"Explore"}
    assert not others.asked


@pytest.mark.parametrize("text", ["{", "[]", '{"permissions": 7}', '{"permissions": {"deny": 1}}'])
def test_a_file_that_says_nothing_changes_nothing(cast: Cast, tmp_path: Path, text: str) -> None:
    settings(tmp_path)
    (tmp_path / ".fuxi/settings.json").write_text(text)
    with cast.bound():
        assert rules_of(None, [Project(tmp_path)]).denied == frozenset()


@pytest.mark.req("JA-15", "JA-26")
def test_a_rule_to_ask_beats_one_to_allow_which_beats_the_workspaces_wish() -> None:
    rules = AgentRules(asked=frozenset({"plan"}), allowed=frozenset({"plan", "scout"}))
    assert rules.asks("plan", by_default=False)
    assert rules.asks("coder", by_default=True)
    assert not rules.asks("scout", by_default=True)
    assert not rules.asks("coder", by_default=False)
    assert AgentRules(denied=frozenset({"*"})).denies("whoever")
