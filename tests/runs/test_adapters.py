"""What holds whatever executes an agent, and what depends on it and is shown as it is."""

from dataclasses import asdict, fields

import pytest
from django.test import Client

from agents import abilities
from guardrails import rule_changes
from guardrails.classes import ActionClass
from guardrails.decisions import Decision
from guardrails.rule_changes import NewRule
from harness.adapters.base import Capabilities
from harness.seam import Deny
from runs import adapters
from tests.cast import Cast
from tests.runs.acting import Actor, Scene
from tests.runs.stage import Stage
from tests.scripted.script import Call, Step
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)


def forbid(cast: Cast, scope: str) -> str:
    """Nobody deletes a file: in the workspace, by this agent, or in this space."""
    rule = NewRule(
        decision=Decision.DENY,
        action_class=ActionClass.FILE_DELETE,
        agent=cast.engineer if scope == "agent" else None,
        space=cast.space if scope == "space" else None,
    )
    with cast.bound():
        return str(rule_changes.write(rule, by=cast.ada).rule.pk)


def denials(cast: Cast) -> list[tuple[str, str]]:
    with cast.bound():
        found = AuditEntry.objects.filter(action="tool.bash", outcome="deny")
        return [(entry.subject, entry.rule.rpartition(":")[2]) for entry in found]


@pytest.mark.req("CC-54", "CC-53")
@pytest.mark.parametrize("scope", ["workspace", "agent", "space"])
def test_a_rule_holds_for_the_built_in_loop(plain: Stage, scope: str) -> None:
    rule = forbid(plain.cast, scope)
    story = [Step(calls=[Call("bash", {"command": "rm notes.txt"})]), Step(text="I may not.")]
    with plain.model(*story):
        [run] = plain.say("@engineer tidy up")
        assert plain.execute(run).state == "succeeded"
    assert [told for _what, told in denials(plain.cast)] == [rule]


@pytest.mark.req("CC-54", "CC-53")
@pytest.mark.parametrize("scope", ["workspace", "agent", "space"])
def test_the_same_rule_holds_for_any_other_adapter(plain: Stage, actor: Actor, scope: str) -> None:
    rule = forbid(plain.cast, scope)
    said: list[object] = []

    def tries(scene: Scene) -> None:
        scene.call("c1")
        said.append(scene.ask("c1"))
        scene.result("c1", "denied")
        scene.write("I may not.")

    actor.plays(tries)
    [run] = plain.say("@engineer tidy up")
    assert plain.execute(run).adapter == actor.id
    assert isinstance(said[0], Deny)
    assert [told for _what, told in denials(plain.cast)] == [rule]


@pytest.mark.req("CC-58")
def test_the_settings_show_each_adapter_ability_by_ability(
    committed_cast: Cast, actor: Actor
) -> None:
    cast = committed_cast
    page = Client()
    page.force_login(cast.ada.user)
    shown = page.get(cast.path(f"agents/{cast.engineer.pk}/")).content.decode()
    assert "What each adapter can do" in shown
    for each in adapters.registry().values():
        assert each.title in shown
        assert str(abilities.honesty(each.capabilities).badge) in shown
    assert set(abilities.WORDS) == {field.name for field in fields(Capabilities)}
    for name, word in abilities.WORDS.items():
        row = shown.partition(f'<th scope="row">{word}</th>')[2].partition("</tr>")[0]
        cells = row.split("<td>")[1:]
        wanted = [asdict(each.capabilities)[name] for each in adapters.registry().values()]
        assert [">yes<" in cell or 'aria-label="yes"' in cell for cell in cells] == wanted, name
