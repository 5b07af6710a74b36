"""Whatever goes wrong between fetch and write: not one byte of the skill is anywhere.

Each fault is tried at each door (install, update, restore). A canary of 32 hex digits stands in the
skill's text, its description, a script and a file name.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import Error, connections
from django.utils import timezone

from agents.editing import save
from agents.models import Agent
from skills import bringing, install, judging, recovery, removing, requests, restoring, standing
from skills.lockfile import dump, parse
from skills.models import Skill, SkillRequest, SkillSource
from tests.cast import Cast
from tests.push.test_soak import database_url
from tests.remote.server import Remote
from tests.skills.life import faults
from tests.skills.life.canary import Ears, listening, places
from tests.skills.life.conftest import Stage, skill_text

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.req("CC-32")]

SCANNER = ["scanner_raise", "scanner_hang", "scanner_oom", "rules_missing", "rules_corrupt",
           "rules_older", "verdict_for_other_digest"]  # fmt: skip
KILLS = ["skill-fetched", "skill-judged", "skill-file", "skill-written", "skill-directory",
         "skill-lock", "skill-row"]  # fmt: skip
QUICK = {"skill-written", "skill-row", "scanner_raise", "verdict_for_other_digest"}


def some(names: list[str]) -> list[Any]:
    """All of them in the soak, a few each time."""
    return [one if one in QUICK else pytest.param(one, marks=pytest.mark.soak) for one in names]


DOORS = ["install", *some(["update", "restore"])]

WORKER = """
import sys
from pathlib import Path
from uuid import UUID
import django
django.setup()
from django.conf import settings
settings.DATA_DIR = Path(sys.argv[2])
from skills import bringing, restoring
acts = {"examine": bringing.examine, "write": bringing.write, "restore": restoring.restore}
acts[sys.argv[1]](*map(UUID, sys.argv[3:]))
"""


@dataclass
class Door:
    """One way into the workspace, and the skill with the canary before it."""

    stage: Stage
    name: str
    canary: str
    tmp: Path
    ears: Ears
    request: SkillRequest | None = None
    said: str = ""

    def look(self) -> None:
        """Up to the verdict; a restore has no look."""
        if self.name != "restore":
            assert self.request is not None
            self.request = self.stage.examine(self.request)

    def press(self) -> None:
        if self.request is not None and self.request.is_open:
            self.request = self.stage.press_install(self.request)

    def write(self) -> None:
        if self.request is not None:
            self.request = self.stage.write(self.request)
        elif self.name == "restore":
            self.said = str(restoring.restore(self.stage.cast.workspace.pk))

    def in_a_process(self, act: str, **given: Any) -> int:
        """The job in a process of its own. Returns its exit code; what it said is kept."""
        keys = [] if self.request is None else [str(self.request.pk)]
        environment = given.pop("environment", {})
        done = subprocess.run(
            [sys.executable, "-c", WORKER, act, str(settings.DATA_DIR),
             str(self.stage.cast.workspace.pk), *keys],
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "controlcenter.settings",
                "DATABASE_URL": database_url(),
                "CC_ALLOW_HOSTS": settings.ALLOW_HOSTS[0],
                "CC_DB_POOL": "0",
                "TMPDIR": str(self.tmp),
                **environment,
            },
            capture_output=True, text=True, check=False, timeout=100, **given,
        )  # fmt: skip
        self.said += done.stdout + done.stderr
        return done.returncode

    @property
    def job(self) -> str:
        return "restore" if self.name == "restore" else "write"

    def assert_closed(self, caplog: pytest.LogCaptureFixture) -> None:
        """No byte of it anywhere; what stood before stands whole, and is read."""
        assert self.canary not in self.said
        assert self.canary not in caplog.text
        assert not [one for one in self.ears.heard if self.canary.encode() in one]
        assert places(self.canary, [settings.DATA_DIR, self.tmp]) == []
        assert self.canary not in self.prompt()
        with self.stage.cast.bound():
            found = standing.readable(self.stage.cast.workspace.pk, ["tables"])
        if self.name == "update":
            assert b"header row" in found.files["tables"]["SKILL.md"].data
        else:
            assert not found.files

    def prompt(self) -> str:
        """What the engineer, who holds the skill, would be told."""
        client = self.stage.cast.client(self.stage.cast.ada)
        page = client.get(self.stage.cast.path(f"agents/{self.stage.cast.engineer.pk}/prompt/"))
        assert page.status_code == 200
        return page.content.decode()


def filled(text: str) -> dict[str, str]:
    padding = "A column of numbers stands to the right.\n" * 3_000
    return {
        "skills/tables/SKILL.md": skill_text("tables", f"Say {text}.", f"About {text}."),
        "skills/tables/scripts/run.sh": f"#!/bin/sh\necho {text}\n",
        f"skills/tables/references/{text}.md": f"{padding}{text}\n",
    }


@pytest.fixture
def door(
    request: pytest.FixtureRequest, committed_cast: Cast, host: Remote, tmp_path: Path
) -> Iterator[Door]:
    stage, text = Stage(committed_cast, host), uuid4().hex
    (tmp_path / "tmp").mkdir()
    with stage.cast.bound():
        agent = Agent.objects.get(pk=stage.cast.engineer.pk)
        save(agent, {"skills": ("tables",)}, version=agent.version, by=stage.cast.ada.principal,
             is_busy=lambda _agent: False)  # fmt: skip
    judging.let_go()
    with listening() as ears:
        opened = Door(stage, request.param, text, tmp_path / "tmp", ears)
        _prepare(opened)
        yield opened
    judging.let_go()


def _prepare(door: Door) -> None:
    stage = door.stage
    if door.name == "update":
        stage.install()
    stage.change(filled(door.canary))
    source = stage.sync(stage.skill().source) if door.name == "update" else stage.source()
    if door.name == "install":
        door.request = stage.ask(source, "skills/tables")
    elif door.name == "update":
        with stage.cast.bound():
            skill = Skill.objects.select_related("source").get()
            door.request = requests.preview_update(skill, by=stage.cast.ada.principal)
    else:
        _make_fresh(door, source)


def _make_fresh(door: Door, source: SkillSource) -> None:
    """A machine that has the lock, the sources, and nothing of the skills."""
    stage = door.stage
    stage.install()
    lock = parse(stage.lock().read_bytes())
    with stage.cast.bound():
        removing.uninstall(stage.skill(), by=stage.cast.ada.principal)
        SkillRequest.objects.all().delete()
    stage.lock().write_bytes(dump(lock))
    door.ears.heard.clear()
    assert places(door.canary, [settings.DATA_DIR]) == []


each_door = pytest.mark.parametrize("door", DOORS, indirect=True)
each_asked = pytest.mark.parametrize("door", DOORS[:-1], indirect=True)
"""The doors of a request that somebody looks at: a restore has none, the lock says yes."""


@each_door
@pytest.mark.parametrize("fault", some(SCANNER))
@pytest.mark.parametrize("moment", [*some(["look"]), "write"])
def test_a_scanner_that_fails_is_a_no(
    door: Door, fault: str, moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    if moment == "write":
        door.look()
        door.press()
    judging.let_go()
    monkeypatch.setattr(
        judging, "new_scanner", partial(faults.scanner, fault, tmp_path / "tmp" / "copy")
    )
    if moment == "look":
        door.look()
        door.press()
    door.write()
    if door.request is not None:
        assert (door.request.state, door.request.error_code) == ("failed", "no_verdict")
    else:
        assert "failed" in door.said
    door.assert_closed(caplog)


@each_door
@pytest.mark.parametrize("when", [*some(["before the write"]), "at the commit"])
def test_a_database_that_goes_away_is_a_no(
    door: Door, when: str, monkeypatch: pytest.MonkeyPatch, settings: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    door.look()
    door.press()
    if when == "at the commit":
        settings.CC_SKILLS_CHANGED = "tests.skills.life.faults.hang_up_at_the_links"
    else:
        real = install.put

        def put(*given: Any) -> None:
            faults.hang_up()
            real(*given)

        monkeypatch.setattr("skills.install.put", put)
    with pytest.raises(Error):
        door.write()
    connections.close_all()
    settings.CC_SKILLS_CHANGED = "agents.mirror.relink"
    door.assert_closed(caplog)
    recovery.tidy()
    door.assert_closed(caplog)


@each_door
@pytest.mark.parametrize("point", some(KILLS))
def test_a_kill_at_any_step_leaves_nothing_or_the_old(
    door: Door, point: str, caplog: pytest.LogCaptureFixture
) -> None:
    door.look()
    door.press()
    assert door.in_a_process(door.job, environment={"CC_CRASH": point}) == -9, door.said
    recovery.tidy()
    door.assert_closed(caplog)
    recovery.tidy()
    door.assert_closed(caplog)


@pytest.mark.soak
@each_asked
def test_a_kill_during_the_look_leaves_nothing(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    for point in ("skill-fetched", "skill-judged"):
        assert door.in_a_process("examine", environment={"CC_CRASH": point}) == -9
        door.assert_closed(caplog)
        with door.stage.cast.bound():
            SkillRequest.objects.update(beat_at=timezone.now() - timedelta(minutes=5))


@each_door
def test_a_full_disk_is_a_no(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    door.look()
    door.press()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    assert door.in_a_process(door.job, preexec_fn=limit) == 0, door.said
    if door.request is not None:
        now = door.stage.again(door.request)
        assert (now.error_code, now.state in {"held", "previewed"}) == ("disk", True)
    door.assert_closed(caplog)


@each_door
def test_a_fetch_that_is_cut_is_a_no(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    door.look()
    door.press()
    for cut in (1, 60, -1, -25, -200):
        door.stage.host.cut_reads_at = cut
        door.write()
        door.assert_closed(caplog)
        door.press()


@each_door
def test_other_bytes_than_those_that_were_looked_at_are_a_no(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    door.look()
    door.press()
    other = "sha256:" + "0" * 64
    with door.stage.cast.bound():
        SkillRequest.objects.update(digest=other)
    if door.name == "restore":
        lock = door.stage.lock()
        pins = parse(lock.read_bytes()).pins
        lock.write_bytes(lock.read_bytes().replace(pins["tables"].digest.encode(), other.encode()))
    door.write()
    door.assert_closed(caplog)


@each_asked
@pytest.mark.parametrize("age", [*some(["long ago"]), "other rules"])
def test_a_verdict_that_has_expired_is_a_no(
    door: Door, age: str, caplog: pytest.LogCaptureFixture
) -> None:
    door.look()
    with door.stage.cast.bound():
        if age == "long ago":
            SkillRequest.objects.update(created_at=timezone.now() - timedelta(days=40))
        else:
            SkillRequest.objects.update(ruleset="2020-01-01+0")
    with pytest.raises(requests.CannotRequest):
        door.press()
    door.write()
    door.assert_closed(caplog)


@each_door
def test_a_history_that_was_rewritten_in_between_is_a_no(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    door.look()
    door.press()
    host = door.stage.host
    host.git("skills", "update-ref", "-d", "refs/heads/main")
    text = uuid4().hex
    host.commit("skills", filled(text))
    if door.name == "restore":
        host.git("skills", "reflog", "expire", "--expire=now", "--all")
        host.git("skills", "gc", "--prune=now", "-q")
    door.write()
    door.assert_closed(caplog)
    door.canary = text
    door.assert_closed(caplog)


@each_asked
def test_without_valkey_the_gate_is_as_closed(door: Door, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody has said yes, so what was looked at waits."""
    assert door.request is not None
    code = door.in_a_process("examine", environment={"REDIS_URL": "redis://127.0.0.1:1/0"})
    assert (code, door.stage.again(door.request).state) == (0, "previewed"), door.said
    door.assert_closed(caplog)


@each_asked
def test_a_clock_that_goes_back_opens_nothing(
    door: Door, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now - timedelta(hours=1))
    door.look()
    assert door.request is not None
    assert door.request.state == "previewed"
    if door.name == "install":
        with door.stage.cast.bound():
            held = requests.install(door.request, by=door.stage.cast.ben.principal)
        assert held.state == "held"
        door.write()
    monkeypatch.undo()
    door.assert_closed(caplog)


@pytest.mark.parametrize("door", ["install"], indirect=True)
def test_of_two_at_once_one_is_in_and_the_other_is_nowhere(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    door.look()
    assert door.request is not None
    with door.stage.cast.bound():
        SkillRequest.objects.update(slug="charts")
        source = SkillSource.objects.get()
    mine = door.stage.press_install(door.stage.again(door.request))
    other = door.stage.press_install(door.stage.look(source, "skills/charts"))

    def write(row: SkillRequest) -> None:
        bringing.write(row.workspace_id, row.pk)
        connections.close_all()

    bringing.write(other.workspace_id, other.pk)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, [mine, other, mine, other]))
    states = {door.stage.again(one).state for one in (mine, other)}
    assert states == {"installed", "failed"}
    door.assert_closed(caplog)
