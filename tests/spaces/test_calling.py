"""Subagents in the composer's completion, beside people and agents."""

from typing import Any

import pytest

from agents.paths import workspace_directory
from agents.shelves import home_of
from tests.cast import Cast
from workspaces.models import Membership

pytestmark = pytest.mark.django_db


def definition(name: str, more: str = "") -> str:
    return f"---\nname: {name}\ndescription: About {name}.\n{more}---\n\nDo it.\n"


def install(cast: Cast, path: str, text: str) -> None:
    """A file of the package `kit`."""
    package = workspace_directory(cast.workspace.pk) / "packages/kit"
    (package / ".fuxi-plugin").mkdir(parents=True, exist_ok=True)
    (package / ".fuxi-plugin/plugin.json").write_text('{"name": "kit"}')
    (package / path).parent.mkdir(parents=True, exist_ok=True)
    (package / path).write_text(text)


def offered(cast: Cast, who: Membership, query: str = "") -> dict[str, dict[str, Any]]:
    answer = cast.client(who).get(cast.path(f"mentions/{query}"))
    assert answer.status_code == 200
    return {each["handle"]: each for each in answer.json()}


@pytest.mark.req("FX-47", "FX-154", "FX-43", "FX-152")
def test_a_packages_agents_are_offered_under_their_scoped_names(cast: Cast) -> None:
    install(cast, "agents/db.md", definition("db"))
    install(cast, "agents/review/security.md", definition("security"))
    install(cast, "agents/broken.md", "---\nname: broken\n---\nNo description.\n")
    home = home_of(cast.workspace.pk, cast.ada.principal) / ".fuxi/agents"
    home.mkdir(parents=True)
    (home / "mine.md").write_text(definition("mine"))
    found = offered(cast, cast.ada, f"?conversation={cast.conversation.pk}")
    assert {"agent-kit:db", "agent-kit:review:security", "agent-mine"} <= found.keys()
    assert "agent-db" not in found
    assert "agent-broken" not in found
    assert "agent-agent" not in found  # the default main agent leads, nobody starts it
    packaged = found["agent-kit:review:security"]
    assert (packaged["kind"], packaged["title"]) == ("definition", "About security.")
    assert packaged["word"] == "a package's"
    assert found["engineer"]["kind"] == "agent"
    assert found["ada"]["kind"] == "member"


@pytest.mark.req("FX-39")
def test_without_a_conversation_nobody_starts_a_subagent(cast: Cast) -> None:
    assert not [handle for handle in offered(cast, cast.ada) if handle.startswith("agent-")]


@pytest.mark.parametrize("key", ["not-a-key", "00000000-0000-0000-0000-000000000001"])
def test_a_conversation_that_is_not_there_is_missing(cast: Cast, key: str) -> None:
    answer = cast.client(cast.ada).get(cast.path(f"mentions/?conversation={key}"))
    assert answer.status_code == 404


def test_the_page_asks_for_what_can_be_called_in_its_conversation(cast: Cast) -> None:
    path = f"spaces/{cast.space.slug}/{cast.conversation.pk}/"
    page = cast.client(cast.ada).get(cast.path(path)).content.decode()
    assert f"/mentions/?conversation={cast.conversation.pk}" in page
