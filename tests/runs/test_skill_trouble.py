"""Trouble with repository skills: exchanged, planted, killed in the middle, side by side."""

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.paths import skill_directory
from agents.seeding import seed
from guardrails.approvals import Answer
from outside import git
from repositories import checkouts, skill_trees
from repositories.models import ActiveRepository, Repository, SkillScan, SpaceRepository
from repositories.skill_accepting import CannotAccept, accept
from repositories.skill_standing import carrying
from runs import overlay
from runs.overlay import Overlay
from skills.scanning import File
from spaces.models import Conversation
from tests.runs.skilled import PLACE, add, hostile, publish, scan, skill
from tests.runs.stage import WithRepository, at_request, together
from tests.runs.test_repository_skills import folder_of, notices, prompts, results
from tests.scripted.script import Call, Step

pytestmark = pytest.mark.django_db(transaction=True)
FILES = {"SKILL.md": File(0o100644, b"text"), "scripts/run.sh": File(0o100755, b"echo\n")}


@pytest.fixture
def laid(tmp_path: Path) -> Overlay:
    (tmp_path / "work").mkdir()
    return Overlay(tmp_path / "work", tmp_path / "staging")


def names(folder: Path) -> set[str]:
    return {each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()}


@pytest.mark.req("CC-48")
def test_the_copies_are_exactly_the_scanned_bytes(laid: Overlay) -> None:
    laid.put({"a": FILES}, "who\n")
    here = laid.folder / "skills"
    assert names(here) == {".gitignore", "a/SKILL.md", "a/scripts/run.sh"}
    assert (here / "a" / "scripts" / "run.sh").stat().st_mode & 0o111
    laid.put({"b": FILES}, "who\n")
    assert names(here) == {".gitignore", "b/SKILL.md", "b/scripts/run.sh"}
    laid.take_away()
    assert not here.exists()
    assert not (laid.folder.parent / "AGENTS.md").exists()


@pytest.mark.parametrize("planted", ["link", "file", "skills link", "profile folder"])
def test_what_stands_in_the_way_is_not_followed(
    laid: Overlay, tmp_path: Path, planted: str
) -> None:
    victim = tmp_path / "victim"
    (victim / "skills").mkdir(parents=True)
    (victim / "skills" / "precious").write_text("kept")
    if planted == "link":
        laid.folder.symlink_to(victim)
    elif planted == "file":
        laid.folder.write_text("x")
    elif planted == "skills link":
        laid.folder.mkdir()
        (laid.folder / "skills").symlink_to(victim / "skills")
    else:
        (laid.folder.parent / "AGENTS.md").mkdir()
    laid.put({"a": FILES}, "who\n")
    assert (victim / "skills" / "precious").read_text() == "kept"
    assert names(victim) == {"skills/precious"}
    assert "a/SKILL.md" in names(laid.folder / "skills")
    assert (laid.folder.parent / "AGENTS.md").read_text() == "who\n"


@pytest.mark.parametrize("step", ["build", "aside", "before the new one"])
def test_a_kill_in_the_middle_leaves_nothing_to_trip_over(
    laid: Overlay, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    laid.put({"old": FILES}, "who\n")

    class Killed(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(Overlay, "_clear", lambda self: None)  # a killed worker clears nothing
        if step == "build":
            broken.setattr(overlay, "write_files", die)
        elif step == "aside":
            broken.setattr(Overlay, "_aside", die)
        else:
            real = os.rename

            def rename(source: Any, target: Any, **more: Any) -> None:
                if str(target) == "skills":
                    raise Killed
                real(source, target, **more)

            broken.setattr("runs.overlay.os.rename", rename)
        with pytest.raises(Killed):
            laid.put({"new": FILES}, "who\n")
    laid.put({"later": FILES}, "who\n")
    assert names(laid.folder / "skills") == {
        ".gitignore",
        "later/SKILL.md",
        "later/scripts/run.sh",
    }
    assert not list((laid.folder.parent.parent / "staging").iterdir())


@pytest.mark.req("CC-48")
def test_no_status_and_no_commit_ever_shows_the_copies(stage: WithRepository) -> None:
    own = {f"{PLACE}/deploy/SKILL.md": skill("deploy"), ".claude/settings.json": "{}\n"}
    publish(stage, "engine", own)
    status = "cd repos/engine && git status --porcelain && cat .claude/settings.json"
    around = "git init -q . && git add -A && git status --porcelain"
    with stage.model(
        Step(calls=[Call("bash", {"command": status})]),
        Step(calls=[Call("bash", {"command": around})]),
        Step(text="Clean."),
    ):
        [run] = stage.say("@engineer look")
        stage.execute(run)
    clean, around_it = results(stage, run)
    assert clean == "{}", "the repository's own folder is as it was"
    assert "skills" not in around_it, "nor does a repository that an agent makes around them"


@pytest.mark.needs("bwrap", "socat")
def test_in_the_sandbox_the_copies_cannot_be_written(stage: WithRepository) -> None:
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})
    spoil = (
        "echo evil > .claude/skills/deploy/SKILL.md; mkdir .claude/skills/new;"
        " mv .claude .claude-old; rm -rf .claude/skills; cat .claude/skills/deploy/SKILL.md"
    )
    with stage.model(
        Step(calls=[Call("bash", {"command": spoil})]),
        Step(calls=[Call("write", {"path": ".claude/skills/x/SKILL.md", "content": "x"})]),
        Step(text="Not to be had."),
    ):
        [run] = stage.say("@engineer spoil it")
        parked = stage.execute(run)
        if parked.state == "parked":  # a deletion is asked about first
            stage.decide(Answer.ONCE)
            stage.execute(run)
    shell, written = results(stage, run)
    assert "Do deploy the way the house does it" in shell
    assert "read-only" in written


def test_bytes_that_changed_after_the_scan_are_not_read(
    stage: WithRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between index and load the object of a skill is exchanged under its own name."""
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})
    real = skill_trees.read

    def exchange() -> None:
        def read(place: git.Place, offers: Any) -> Iterator[Any]:
            for group in real(place, offers):
                yield [
                    (offer, files | {"SKILL.md": File(0o100644, b"CANARY-4711")})
                    for offer, files in group
                ]

        monkeypatch.setattr(skill_trees, "read", read)

    with stage.model(
        Step(calls=[Call("skill", {"name": "engine:deploy"})], expect="engine:deploy"),
        Step(text="Refused."),
    ) as model:
        [run] = stage.say("@engineer read it")
        at_request(model, 1, exchange)
        stage.execute(run)
        assert "CANARY-4711" not in str(model.requests)
    assert "is not what was scanned, so it is not read" in results(stage, run)[0]


def test_an_object_planted_by_the_agent_gives_no_skill(stage: WithRepository) -> None:
    """The agent owns its git directory: an object may lie there under another one's name."""
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})
    scan(stage, stage.repository)
    with stage.cast.bound():
        conversation = Conversation.objects.select_related("space").get()
    (made,) = checkouts.prepare(conversation)
    commit = git.head(made.checkout)[1] or ""
    with git.readable(made.checkout) as place:
        [offer] = skill_trees.carried(place, commit).offers
    evil = hostile("deploy").encode()
    blob = b"blob %d\0" % len(evil) + evil
    oid = offer.files[0].oid
    planted = made.git_dir / "objects" / oid[:2] / oid[2:]
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_bytes(zlib.compress(blob))
    with stage.model(Step(calls=[Call("skill", {"name": "engine:deploy"})]), Step(text="Well.")):
        [run] = stage.say("@engineer read it")
        stage.execute(run)
    assert "CANARY-4711" not in stage.said(run)


def test_four_hundred_skills_fit_into_one_prompt(stage: WithRepository) -> None:
    many = {
        f"{PLACE}/s{n:03}/SKILL.md": skill(f"s{n:03}", description="x" * 900) for n in range(400)
    }
    with stage.cast.bound():
        SpaceRepository.objects.all().delete()
    repository = add(stage, "monolith", many)
    scan(stage, repository)
    with stage.model(
        Step(calls=[Call("bash", {"command": "ls .claude/skills | wc -l"})]), Step(text="Many.")
    ):
        [run] = stage.say("@engineer count")
        stage.execute(run)
    (index,) = prompts(stage, run)
    assert len(index) < 18_000
    assert index.count("- monolith:s") == 400
    assert results(stage, run) == ["400"]


def test_two_conversations_have_their_own_active_repository(stage: WithRepository) -> None:
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})
    add(stage, "site", {"a": "a", f"{PLACE}/style/SKILL.md": skill("style")})
    cast = stage.cast
    with cast.bound():
        other = Conversation.objects.create(space=cast.space, title="Second")
    with stage.model(
        Step(calls=[Call("write", {"path": "repos/engine/x", "content": "1"})]),
        Step(text="One.", expect="engine:deploy"),
        Step(calls=[Call("write", {"path": "repos/site/x", "content": "1"})]),
        Step(text="Two.", expect="site:style"),
    ):
        [first] = stage.say("@engineer one")
        stage.execute(first)
        cast.conversation = other
        [second] = stage.say("@engineer two")
        stage.execute(second)
    with cast.bound():
        rows = ActiveRepository.objects.select_related("repository")
        found = {row.conversation_id: row.repository.name for row in rows}
    assert found == {first.conversation_id: "engine", other.pk: "site"}


def test_a_person_changes_the_repository_of_a_run_at_work(
    stage: WithRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.shelf.FRESH_SECONDS", 0)
    add(stage, "site", {"a": "a", f"{PLACE}/style/SKILL.md": skill("style")})
    client = stage.cast.client(stage.cast.ben)
    place = f"spaces/{stage.cast.space.slug}/{stage.cast.conversation.pk}/works-in/"

    def choose() -> None:
        given = {"agent": str(stage.cast.engineer.pk), "repository": "site"}
        assert client.post(stage.cast.path(place), given).status_code == 204

    with stage.model(
        Step(calls=[Call("todo", {"todos": []})]), Step(text="Seen.", expect="site:style")
    ) as model:
        [run] = stage.say("@engineer wait")
        at_request(model, 1, choose)
        assert stage.execute(run).state == "succeeded"
    gone = {"agent": str(stage.cast.engineer.pk), "repository": "nowhere"}
    assert client.post(stage.cast.path(place), gone).status_code == 409


@contextmanager
def held(stage: WithRepository) -> Iterator[tuple[Repository, str]]:
    """A repository with a skill that is held for its warning, and one that nobody can accept."""
    lower = {f"{PLACE}/held/skill.md": skill("held"), f"{PLACE}/bad/SKILL.md": "no front matter"}
    evil = {f"{PLACE}/evil/SKILL.md": skill("evil"), f"{PLACE}/evil/skill/SKILL.md": skill("x")}
    publish(stage, "engine", lower | evil)
    scan(stage, stage.repository)
    with stage.cast.bound():
        repository = Repository.objects.get(name="engine")
        yield repository, repository.skills_commit


@pytest.mark.req("CC-50")
def test_an_admin_accepts_exactly_these_bytes(stage: WithRepository) -> None:
    with held(stage) as (repository, commit):
        found = carrying(repository, commit).find("held")
        assert found is not None
        assert found.decision == "held"
        digest = found.digest
    path = stage.cast.path(f"repositories/{repository.pk}/skills/accept/")
    given = {"commit": commit, "digest": digest}
    assert stage.cast.client(stage.cast.ben).post(path, given).status_code == 403
    for _twice in range(2):
        assert stage.cast.client(stage.cast.ada).post(path, given).status_code == 204
    with stage.model(Step(text="Listed.", expect="engine:held")):
        [run] = stage.say("@engineer look")
        stage.execute(run)
    publish(stage, "engine", {f"{PLACE}/held/skill.md": skill("held", "Other words.")})
    scan(stage, stage.repository)
    with stage.cast.bound():
        fresh = Repository.objects.get(name="engine")
        found = carrying(fresh, fresh.skills_commit).find("held")
    assert found is not None
    assert found.decision == "held", "other bytes are another question"


def test_what_is_gone_cannot_be_accepted(stage: WithRepository) -> None:
    with held(stage) as (repository, commit):
        with pytest.raises(CannotAccept, match="not what the repository carries any more"):
            accept(
                repository, carrying(repository, commit), "sha256:0", by=stage.cast.ada.principal
            )
        with pytest.raises(CannotAccept):
            accept(repository, carrying(repository, "0" * 40), "x", by=stage.cast.ada.principal)


def test_two_at_once_scan_a_commit_once(stage: WithRepository) -> None:
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})
    together([lambda: scan(stage, stage.repository) for _ in range(3)])
    with stage.cast.bound():
        assert SkillScan.objects.count() == 1


def test_a_run_goes_on_without_skills_when_they_cannot_be_read(
    stage: WithRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})

    def broken(*_: object, **__: object) -> None:
        raise git.Damaged("A file of this commit cannot be read.")

    monkeypatch.setattr("repositories.skill_trees.carried", broken)
    with stage.model(Step(text="Without.")):
        [run] = stage.say("@engineer go")
        assert stage.execute(run).state == "succeeded"
    assert "engine:deploy" not in "".join(prompts(stage, run))
    assert "The skills of engine cannot be read, so none of them is offered." in notices(stage, run)


def test_a_worker_that_dies_leaves_nothing_for_the_next(stage: WithRepository) -> None:
    publish(stage, "engine", {f"{PLACE}/deploy/SKILL.md": skill("deploy")})
    look = Step(calls=[Call("bash", {"command": "ls .claude/skills"})])
    with stage.model(Step(text="One."), look, Step(text="Two.")):
        [run] = stage.say("@engineer one")
        stage.execute(run)
        left = folder_of(stage, run) / ".claude" / "skills" / "stale"
        left.mkdir(parents=True)
        (left / "SKILL.md").write_text("left by a dead worker")
        [run] = stage.say("@engineer two")
        stage.execute(run)
    assert results(stage, run) == ["deploy"]


def test_an_installed_skill_that_was_changed_on_disk_is_read_by_nobody(
    stage: WithRepository,
) -> None:
    seed(stage.cast.workspace.pk)
    file = skill_directory(stage.cast.workspace.pk, "testing") / "SKILL.md"
    file.chmod(0o644)
    file.write_text(file.read_text() + "CANARY-4711")
    with stage.model(
        Step(calls=[Call("skill", {"name": "testing"})]),
        Step(calls=[Call("bash", {"command": "cat .claude/skills/*/SKILL.md AGENTS.md"})]),
        Step(text="Refused."),
    ) as model:
        [run] = stage.say("@engineer read it")
        stage.execute(run)
        assert "CANARY-4711" not in str(model.requests)
    assert "its files are not those that were scanned" in results(stage, run)[0]
    assert "its files are not those that were scanned" in notices(stage, run)
    assert "- testing:" not in "".join(prompts(stage, run))
