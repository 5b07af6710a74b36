"""A skill that no scan lets pass, at every door that leads to a disk or a prompt: it is nowhere."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from agents.editing import save
from agents.models import Agent
from skills import bringing, holds, install, local, removing, requests, restoring
from skills.lockfile import Lock, computed_hash, dump, parse
from skills.models import SkillRequest
from skills.scanning import File, digest
from tests.runs.skilled import add, hostile, publish, scan, skill
from tests.runs.stage import WithRepository
from tests.scripted.script import Call, Step
from tests.skills.life.canary import Ears, listening, places
from tests.skills.life.conftest import Stage as Source

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.req("CC-32", "CC-50")]
CANARY = "CANARY-4711"
NAME = "helper"
HONEST = {f"skills/{NAME}/SKILL.md": skill(NAME)}
HOSTILE = {f"skills/{NAME}/SKILL.md": hostile(NAME)}
# What happens beforehand; what it returns the run is then told to do.
Door = Callable[[WithRepository], list[Step]]


def offered(stage: WithRepository, files: dict[str, str]) -> Source:
    source = Source(stage.cast, stage.remote, "offers")
    stage.remote.create("offers", files)
    stage.remote.git("offers", "config", "uploadpack.allowFilter", "true")
    return source


def asked_for(source: Source, seen: SkillRequest) -> None:
    assert seen.decision == "refused"
    with source.cast.bound(), pytest.raises(requests.CannotRequest):
        requests.install(seen, by=source.cast.ada.principal)
    with source.cast.bound(), pytest.raises(holds.CannotDecide):
        holds.accept(seen, by=source.cast.ada.principal, note="")
    source.write(seen)


def installing(stage: WithRepository) -> list[Step]:
    source = offered(stage, HOSTILE)
    asked_for(source, source.look(source.source(), f"skills/{NAME}"))
    return []


def updating(stage: WithRepository) -> list[Step]:
    source = offered(stage, HONEST)
    source.install(f"skills/{NAME}")
    source.change(HOSTILE)
    source.sync(source.skill(NAME).source)
    asked_for(source, source.look_for_update(NAME, at_once=True))
    assert "the way the house does it" in source.files(NAME)["SKILL.md"]
    return []


def installing_again(stage: WithRepository) -> list[Step]:
    source = offered(stage, HONEST)
    found = source.install(f"skills/{NAME}").source
    with stage.cast.bound():
        removing.uninstall(source.skill(NAME), by=stage.cast.ada.principal)
    source.change(HOSTILE)
    asked_for(source, source.look(source.sync(found), f"skills/{NAME}"))
    return []


def from_a_shell(stage: WithRepository) -> list[Step]:
    source = offered(stage, HOSTILE)
    address, slug = stage.remote.address(source.repository), stage.cast.workspace.slug
    with pytest.raises(CommandError):
        call_command("install_skill", address, NAME, "--workspace", slug)
    return []


def writing_it_here(stage: WithRepository) -> list[Step]:
    with stage.cast.bound():
        asked = local.save(NAME, {"SKILL.md": hostile(NAME)}, by=stage.cast.ada.principal)
    bringing.examine(stage.cast.workspace.pk, asked.pk)
    return []


def restoring_it(stage: WithRepository) -> list[Step]:
    """A lock that somebody made says that exactly these bytes were accepted."""
    source = offered(stage, HONEST)
    source.install(f"skills/{NAME}")
    pin = parse(source.lock().read_bytes()).pins[NAME]
    with stage.cast.bound():
        removing.uninstall(source.skill(NAME), by=stage.cast.ada.principal)
    files = {"SKILL.md": File(0o100644, hostile(NAME).encode())}
    forged = replace(
        pin,
        commit=source.change(HOSTILE),
        digest=digest(files),
        computed_hash=computed_hash(files),
    )
    source.lock().write_bytes(dump(Lock({NAME: forged})))
    [done] = restoring.restore(stage.cast.workspace.pk)
    assert done.outcome == "failed"
    return []


def changing_the_linked_files(stage: WithRepository) -> list[Step]:
    """Not a door: whoever can write there needs none. It is read by nobody all the same."""
    source = offered(stage, HONEST)
    source.install(f"skills/{NAME}")
    (source.folder(NAME) / "SKILL.md").write_text(hostile(NAME))
    return []


def carried(place: str) -> Door:
    def door(stage: WithRepository) -> list[Step]:
        publish(stage, "engine", {f"{place}/{NAME}/SKILL.md": hostile(NAME)})
        return [Step(calls=[Call("skill", {"name": f"engine:{NAME}"})])]

    return door


def checking_out_a_branch(stage: WithRepository) -> list[Step]:
    path = f".claude/skills/{NAME}/SKILL.md"
    stage.remote.git("engine", "update-ref", "refs/heads/side", stage.remote.tip("engine"))
    stage.remote.commit("engine", {path: hostile(NAME)}, branch="side")
    publish(stage, "engine", {"b": "b"})
    there = f"cd repos/engine && git checkout -q side && ls {path}"
    return [
        Step(calls=[Call("bash", {"command": there})]),
        Step(calls=[Call("skill", {"name": f"engine:{NAME}"})]),
    ]


def turning_to_it(stage: WithRepository) -> list[Step]:
    add(stage, "site", {"a.txt": "a\n", f".agents/skills/{NAME}/SKILL.md": hostile(NAME)})
    return [
        Step(calls=[Call("write", {"path": "repos/engine/x", "content": "1"})]),
        Step(calls=[Call("write", {"path": "repos/site/b.txt", "content": "b"})]),
        Step(calls=[Call("skill", {"name": NAME})]),
    ]


def naming_it(stage: WithRepository) -> list[Step]:
    publish(stage, "engine", {f".agents/skills/{NAME}/SKILL.md": hostile(NAME)})
    scan(stage, stage.repository)
    room = f"spaces/{stage.cast.space.slug}/{stage.cast.conversation.pk}/say/"
    client = stage.cast.client(stage.cast.ada)
    answer = client.post(stage.cast.path(room), {"text": f"@engineer /skill:engine:{NAME} go"})
    assert (answer.status_code, CANARY in answer.content.decode()) == (422, False)
    return []


FAST = {"installing": installing, "writing it here": writing_it_here}
SLOW = {
    "updating": updating,
    "installing again": installing_again,
    "from a shell": from_a_shell,
    "restoring": restoring_it,
    "changing linked files": changing_the_linked_files,
    **{place: carried(place) for place in (".agents/skills", ".claude/skills", ".opencode/skills")},
    "another branch": checking_out_a_branch,
    "turning to its repository": turning_to_it,
    "naming it": naming_it,
}


@pytest.fixture
def ears() -> Iterator[Ears]:
    with listening() as heard:
        yield heard


@pytest.mark.parametrize(
    "door",
    [*FAST.values(), *(pytest.param(one, marks=pytest.mark.soak) for one in SLOW.values())],
    ids=[*FAST, *SLOW],
)
def test_the_same_gate_stands_behind_every_door(
    stage: WithRepository, ears: Ears, door: Door
) -> None:
    holding(stage)
    steps = door(stage)
    with stage.model(*steps, Step(text="Done.")) as model:
        [run] = stage.say("@engineer go on")
        assert stage.execute(run).state == "succeeded"
        told = str(model.requests)
    assert CANARY not in told
    assert CANARY not in stage.said(run)
    assert not [one for one in ears.heard if CANARY.encode() in one]
    root = install.root(stage.cast.workspace.pk)
    ours = [] if door is changing_the_linked_files else [root]
    assert places(CANARY, [*ours, stage.spec_directory(run) / ".claude"]) == []


def holding(stage: WithRepository) -> None:
    """The engineer holds a skill of that name, wherever it is from."""
    with stage.cast.bound():
        agent = Agent.objects.get(pk=stage.cast.engineer.pk)
        save(agent, {"skills": (NAME,)}, version=agent.version, by=stage.cast.ada.principal,
             is_busy=lambda _agent: False)  # fmt: skip
