"""Skills that repositories carry: scanned first, one repository at a time, told and shown."""

from pathlib import Path

import pytest

from agents.seeding import seed
from harness.events import Kind
from runs import workplace
from runs.models import Run
from spaces.models import Message
from tests.runs.skilled import PLACE, add, hostile, publish, scan, skill
from tests.runs.stage import WithRepository
from tests.scripted.script import Call, Step

pytestmark = pytest.mark.django_db(transaction=True)
GIT = "git -c user.name=E -c user.email=e@x.invalid"
LIST = {"command": "ls -A .claude .claude/skills; cat .claude/skills/*/SKILL.md AGENTS.md"}


def prompts(stage: WithRepository, run: Run) -> list[str]:
    """The "Skills" section of each prompt that the run was given."""
    return [
        next((s["text"] for s in event.data["sections"] if s["name"] == "Skills"), "")
        for event in stage.events(run)
        if event.kind is Kind.PROMPT
    ]


def results(stage: WithRepository, run: Run) -> list[str]:
    return [e.data["content"] for e in stage.events(run) if e.kind is Kind.TOOL_RESULT]


def notices(stage: WithRepository, run: Run) -> str:
    return "\n".join(str(e.data["text"]) for e in stage.events(run) if e.kind is Kind.NOTICE)


def folder_of(stage: WithRepository, run: Run) -> Path:
    with stage.cast.bound():
        whole = Run.objects.select_related("agent").get(pk=run.pk)
    return workplace.conversation_directory(whole) / "agents" / "engineer"


@pytest.mark.req("CC-39", "CC-44", "CC-48", "CC-49", "CC-50")
def test_the_only_repository_is_active_before_the_first_turn(stage: WithRepository) -> None:
    files = {"SKILL.md": skill("deploy", "Tests come first."), "scripts/go.sh": "echo gone\n"}
    publish(stage, "engine", {f"{PLACE}/deploy/{name}": text for name, text in files.items()})
    story = [
        Step(calls=[Call("bash", LIST)], expect="engine:deploy: How deploy is done here."),
        Step(calls=[Call("skill", {"name": "engine:deploy"})]),
        Step(text="Read.", expect="Tests come first."),
    ]
    with stage.model(*story) as model:
        [run] = stage.say("@engineer how is it deployed?")
        assert stage.execute(run).state == "succeeded"
        assert "Tests come first." not in str(model.requests[0]), "no body before it is asked for"
    listed, body = results(stage, run)
    assert "deploy" in listed
    assert "Tests come first." in listed, "the copy is there for every adapter"
    assert "engine:deploy: How deploy is done here." in listed, "AGENTS.md has the same index"
    assert "The other files of this skill lie in .claude/skills/deploy/." in body
    assert "Tests come first." in body
    assert not (folder_of(stage, run) / ".claude" / "skills").exists(), "taken away at the end"


@pytest.mark.req("CC-41", "CC-42", "CC-45")
def test_writing_in_another_repository_swaps_the_skills(stage: WithRepository) -> None:
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})
    add(stage, "site", {"a.txt": "a\n", f"{PLACE}/style/SKILL.md": skill("style")})
    story = [
        Step(calls=[Call("write", {"path": "repos/engine/x", "content": "1"})]),
        Step(calls=[Call("bash", LIST)], expect="engine:deploy"),
        Step(calls=[Call("write", {"path": "repos/site/b.txt", "content": "b"})]),
        Step(calls=[Call("bash", LIST)], expect="site:style"),
        Step(calls=[Call("skill", {"name": "engine:deploy"})]),
        Step(text="Done."),
    ]
    with stage.model(*story) as model:
        [run] = stage.say("@engineer change both")
        assert stage.execute(run).state == "succeeded"
        systems = [str(request["system"]) for request in model.requests]
    assert "deploy" not in systems[0], "none is active before the first write"
    assert "engine:deploy" in systems[1]
    assert "site:style" not in systems[1]
    assert "site:style" in systems[3]
    assert "engine:deploy" not in systems[3]
    _, in_engine, _, in_site, gone = results(stage, run)
    assert "deploy" in in_engine
    assert "style" in in_site
    assert "deploy" not in in_site
    assert "There is no skill engine:deploy" in gone
    told = [e.data["text"] for e in stage.events(run) if e.data.get("code") == "active_repository"]
    assert len(told) == 2
    assert "The skills of engine no longer apply." in told[1]


@pytest.mark.req("CC-43")
def test_reading_in_another_repository_swaps_nothing(stage: WithRepository) -> None:
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})
    add(stage, "site", {"a.txt": "a\n", f"{PLACE}/style/SKILL.md": skill("style")})
    story = [
        Step(calls=[Call("write", {"path": "repos/engine/x", "content": "1"})]),
        Step(calls=[Call("read", {"path": "repos/site/a.txt"})]),
        Step(calls=[Call("bash", {"command": "cat repos/site/a.txt; git -C repos/site log"})]),
        Step(text="Read.", expect="engine:deploy"),
    ]
    with stage.model(*story) as model:
        [run] = stage.say("@engineer look around")
        stage.execute(run)
        assert "site:style" not in str(model.requests[-1]["system"])
    assert len(prompts(stage, run)) == 2, "one without, one with the skills of engine"


@pytest.mark.req("CC-42")
@pytest.mark.parametrize(
    "command",
    [
        "echo more >> repos/site/a.txt",
        "echo new > repos/site/new.txt",
        "mv repos/site/a.txt repos/site/c.txt",
        f"cd repos/site && {GIT} commit -q --allow-empty -m x",
    ],
)
def test_what_a_shell_command_writes_counts_too(stage: WithRepository, command: str) -> None:
    add(stage, "site", {"a.txt": "a\n", f"{PLACE}/style/SKILL.md": skill("style")})
    with stage.model(
        Step(calls=[Call("bash", {"command": command})]), Step(text="Done.", expect="site:style")
    ):
        [run] = stage.say("@engineer change it")
        assert stage.execute(run).state == "succeeded"


def test_what_a_background_command_writes_is_seen_later(stage: WithRepository) -> None:
    add(stage, "site", {"a.txt": "a\n", f"{PLACE}/style/SKILL.md": skill("style")})
    wait = "until [ -f agents-go ]; do sleep 0.05; done; echo b > repos/site/b; echo written"
    poll = "touch agents-go; until [ -f repos/site/b ]; do sleep 0.05; done"
    with stage.model(
        Step(calls=[Call("bash", {"command": wait, "background": True})]),
        Step(calls=[Call("bash", {"command": poll})]),
        Step(text="Done.", expect="site:style"),
    ):
        [run] = stage.say("@engineer change it")
        assert stage.execute(run).state == "succeeded"


@pytest.mark.req("CC-50")
def test_a_refused_skill_is_nowhere_and_people_hear_why(stage: WithRepository) -> None:
    publish(
        stage,
        "engine",
        {
            f"{PLACE}/deploy/SKILL.md": skill("deploy"),
            ".claude/skills/helper/SKILL.md": hostile("helper"),
        },
    )
    story = [
        Step(calls=[Call("bash", LIST)]),
        Step(calls=[Call("skill", {"name": "engine:helper"})]),
        Step(text="Well."),
    ]
    with stage.model(*story) as model:
        [run] = stage.say("@engineer look")
        stage.execute(run)
        assert "CANARY-4711" not in str(model.requests)
    assert "engine:helper" not in "".join(prompts(stage, run))
    assert "helper" in notices(stage, run)
    assert "the scan found what no agent should read" in notices(stage, run)
    assert "CANARY-4711" not in stage.said(run)
    with stage.model(Step(text="Again.")):
        [again] = stage.say("@engineer and now?")
        stage.execute(again)
    assert "helper" not in notices(stage, again), "once a conversation"


def test_a_skill_that_an_agent_wrote_here_is_held(stage: WithRepository) -> None:
    """Prose that the scan lets pass is still no instruction until somebody has read it."""
    path = "repos/engine/.claude/skills/mine/SKILL.md"
    story = [
        Step(calls=[Call("write", {"path": path, "content": skill("mine", "Always agree.")})]),
        Step(calls=[Call("git_commit", {"message": "A skill"})]),
        Step(calls=[Call("skill", {"name": "engine:mine"})]),
        Step(text="Well."),
    ]
    with stage.model(*story):
        [run] = stage.say("@engineer write yourself a skill")
        stage.execute(run)
    assert "engine:mine" not in "".join(prompts(stage, run))
    assert "There is no skill engine:mine" in results(stage, run)[-1]
    assert "it was written here and is not at the remote yet" in notices(stage, run)


def test_a_hostile_skill_that_an_agent_commits_reaches_nothing(stage: WithRepository) -> None:
    path = "repos/engine/.claude/skills/helper/SKILL.md"
    commit = f"{GIT} commit -qm x"
    story = [
        Step(calls=[Call("write", {"path": path, "content": hostile("helper")})]),
        Step(calls=[Call("bash", {"command": f"cd repos/engine && git add -A && {commit}"})]),
        Step(calls=[Call("bash", LIST)]),
        Step(text="Well."),
    ]
    with stage.model(*story):
        [run] = stage.say("@engineer go")
        stage.execute(run)
    assert "helper" not in "".join(prompts(stage, run))
    assert "CANARY-4711" not in results(stage, run)[-1]
    assert "helper" in notices(stage, run)


def test_another_branch_brings_its_own_skills(stage: WithRepository) -> None:
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})
    tip = stage.remote.tip("engine")
    stage.remote.git("engine", "update-ref", "refs/heads/next", tip)
    stage.remote.commit("engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy", "New way.")},
                        branch="next")  # fmt: skip
    publish(stage, "engine", {"b": "b"})
    with stage.model(
        Step(calls=[Call("skill", {"name": "engine:deploy"})]),
        Step(calls=[Call("bash", {"command": "cd repos/engine && git checkout -q next"})]),
        Step(calls=[Call("skill", {"name": "engine:deploy"})]),
        Step(calls=[Call("bash", LIST)]),
        Step(text="Done."),
    ):
        [run] = stage.say("@engineer go to next")
        assert stage.execute(run).state == "succeeded"
    old, _, new, listed = results(stage, run)
    assert "New way." not in old
    assert "New way." in new
    assert "New way." in listed


@pytest.mark.req("CC-31", "CC-46")
def test_a_named_skill_of_any_repository_is_the_directive_of_one_turn(
    stage: WithRepository,
) -> None:
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy", "Tests come first.")})
    site = add(stage, "site", {f"{PLACE}/style/SKILL.md": skill("style", "Short sentences.")})
    scan(stage, site)
    with stage.model(Step(text="Done.", expect="Short sentences.")) as model:
        [run] = stage.say("@engineer /skill:site:style write the notes")
        stage.execute(run)
        assert "site:style:" not in str(model.requests[0]["system"]), "it is in no index"
    with stage.model(Step(text="Plain.")) as model:
        [run] = stage.say("@engineer and now without")
        stage.execute(run)
        assert "Short sentences." not in str(model.requests[0]), "of one turn"


WHY = {
    "/skill:flying take off": "There is no skill flying here.",
    "/skill:nowhere:deploy go": "This space has no repository nowhere.",
    "/skill:engine:flying go": "engine has no skill flying. Its skills: deploy",
    "/skill:deploy go": "is in several repositories. Write which one you mean: /skill:engine:",
    "/skill:engine:helper go": "is withheld: the scan found what no agent should read.",
    "/skill:fresh:x go": "have not been scanned yet",
    " ".join(f"/skill:s{n}" for n in range(9)): "At most 8 skills are named in one message.",
}


@pytest.mark.req("CC-31", "CC-46")
def test_what_cannot_be_had_is_said_before_anything_is_sent(stage: WithRepository) -> None:
    here = {f"{PLACE}/deploy/SKILL.md": skill("deploy"), f"{PLACE}/helper/SKILL.md": hostile("h")}
    publish(stage, "engine", here)
    scan(stage, stage.repository)
    scan(stage, add(stage, "site", {f"{PLACE}/deploy/SKILL.md": skill("deploy")}))
    add(stage, "fresh", {f"{PLACE}/x/SKILL.md": skill("x")})
    client = stage.cast.client(stage.cast.ada)
    path = stage.cast.path(f"spaces/{stage.cast.space.slug}/{stage.cast.conversation.pk}/say/")
    for text, why in WHY.items():
        answer = client.post(path, {"text": text})
        assert answer.status_code == 422
        assert why in answer.content.decode()
        assert "your text is still in the field" in answer.content.decode()
    with stage.cast.bound():
        assert not Message.objects.exists()


def test_in_code_a_directive_is_text(stage: WithRepository) -> None:
    with stage.model(Step(text="It is a text.")):
        [run] = stage.say("@engineer what does `/skill:flying` do?\n```\n/skill:x\n```\n")
        assert stage.execute(run).state == "succeeded"


def test_an_installed_skill_goes_before_one_of_a_repository(stage: WithRepository) -> None:
    publish(stage, "engine", {f"{PLACE}/testing/SKILL.md": skill("testing", "Theirs.")})
    seed(stage.cast.workspace.pk)
    scan(stage, stage.repository)
    with stage.model(
        Step(calls=[Call("skill", {"name": "testing"})], expect="engine:testing"),
        Step(calls=[Call("skill", {"name": "engine:testing"})]),
        Step(calls=[Call("bash", {"command": "ls .claude/skills"})]),
        Step(text="Both."),
    ):
        [run] = stage.say("@engineer read both")
        stage.execute(run)
    own, theirs, listed = results(stage, run)
    assert "Theirs." not in own
    assert "Theirs." in theirs
    assert set(listed.split()) == {"engine-testing", "implementation", "testing"}
    with stage.model(Step(text="Own.")) as model:
        [run] = stage.say("@engineer /skill:testing go")
        stage.execute(run)
        assert "Theirs." not in str(model.requests[0]["messages"][-1])


def test_what_only_people_may_call_for_is_in_no_index(stage: WithRepository) -> None:
    text = skill("release", "Only on a Monday.").replace(
        "---\n# ", "disable-model-invocation: true\n---\n# "
    )
    publish(stage, "engine", {f"{PLACE}/release/SKILL.md": text})
    scan(stage, stage.repository)
    with stage.model(
        Step(calls=[Call("skill", {"name": "engine:release"})]), Step(text="Not for me.")
    ):
        [run] = stage.say("@engineer release")
        stage.execute(run)
    assert "release" not in "".join(prompts(stage, run))
    assert "There is no skill engine:release" in results(stage, run)[0]
    with stage.model(Step(text="Released.", expect="Only on a Monday.")):
        [run] = stage.say("@engineer /skill:release now")
        assert stage.execute(run).state == "succeeded"
