"""Registering a source and reading what it offers, over real HTTP and from a path."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from skills import catalogue, recovery, requests, restoring, sources
from skills.models import Skill, SkillListing, SkillRequest, SkillSource
from tests.cast import Cast
from tests.remote.server import Remote
from tests.skills.life.conftest import Stage, skill_text
from workspaces.models import AuditEntry, Credential
from workspaces.tenancy import bind


def names(stage: Stage, text: str = "", **given: Any) -> list[str]:
    with stage.cast.bound():
        return [entry.listing.name for entry in catalogue.search(text, **given)]


@pytest.mark.req("CC-33")
def test_a_source_is_looked_for_before_it_offers_anything(stage: Stage) -> None:
    source = stage.register()
    assert (source.state, source.is_added, stage.host.entries) == ("checking", False, [])
    assert names(stage) == []
    source = stage.sync(source)
    assert (source.state, source.is_added, source.name) == ("ready", True, "skills")
    assert source.commit == stage.host.tip("skills")
    assert names(stage) == ["charts", "tables"]
    with stage.cast.bound():
        assert AuditEntry.objects.filter(action="skill_source.add").exists()


@pytest.mark.req("CC-33")
@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        ("missing", "not_found"),
        ("private", "needs_credential"),
        ("down", "unreachable"),
        ("empty", "empty"),
        ("no such branch", "not_found"),
        ("failing", "unreachable"),
    ],
)
def test_what_cannot_be_read_is_not_added_and_says_why(
    stage: Stage, trouble: str, code: str
) -> None:
    given = {}
    if trouble == "missing":
        stage.repository = "pear"
    elif trouble == "private":
        stage.host.credential, stage.host.private_reads = ("ada", "right"), True
    elif trouble == "empty":
        stage.host.create("empty")
        stage.repository = "empty"
    elif trouble == "no such branch":
        given = {"ref": "release"}
    source = stage.register(**given)
    if trouble == "failing":
        stage.host.fail_with = 503
    if trouble == "down":
        with stage.cast.bound():
            SkillSource.objects.update(address="http://127.0.0.1:1/skills")
    source = stage.sync(source)
    assert (source.state, source.is_added) == ("failed", False)
    assert source.error_code in {code, "bad_address"}
    assert source.error
    assert names(stage) == []


@pytest.mark.req("CC-33")
@pytest.mark.parametrize(
    "address",
    ["", "skills", "-x", "ftp://a/b", "https://gitlab.com/a/b", "https://evil.example/a/b", "a b",
     "https://github.com/a", "https://github.com/a/b/issues/1", "../../etc", "ext::sh -c id",
     "https://user:secret@github.com/a/b", "http://127.0.0.1:1/skills\0", "git@gitlab.com:a/b.git"],
)  # fmt: skip
def test_only_github_and_what_the_operator_lists_can_be_registered(
    stage: Stage, address: str
) -> None:
    with stage.cast.bound(), pytest.raises(sources.CannotRegister) as caught:
        sources.register(address, by=stage.cast.ada.principal)
    assert "secret" not in str(caught.value)
    with stage.cast.bound():
        assert not SkillSource.objects.exists()


@pytest.mark.req("CC-33")
@pytest.mark.parametrize(
    ("typed", "address", "ref"),
    [
        ("ada/skills", "https://github.com/ada/skills", ""),
        (" https://github.com/ada/skills.git ", "https://github.com/ada/skills", ""),
        ("git@github.com:ada/skills.git", "https://github.com/ada/skills", ""),
        ("https://www.github.com/ada/skills/", "https://github.com/ada/skills", ""),
        ("https://github.com/ada/skills/tree/v2/skills/x", "https://github.com/ada/skills", "v2"),
        ("https://github.com/ada/skills/blob/v2/README.md", "https://github.com/ada/skills", "v2"),
    ],
)
def test_github_is_meant_however_it_is_written(
    cast: Cast, typed: str, address: str, ref: str
) -> None:
    with cast.bound():
        source = sources.register(typed, by=cast.ada.principal)
        assert (source.address, source.ref, source.kind) == (address, ref, "github")
        assert source.name == "ada/skills"
        with pytest.raises(sources.CannotRegister, match="already"):
            sources.register(address.replace("ada", "Ada"), by=cast.ada.principal, ref=ref)


def test_a_path_is_read_when_the_operator_allows_it(stage: Stage, settings: Any) -> None:
    path = str(stage.host.root / "skills")
    with stage.cast.bound():
        source = sources.register(path, by=stage.cast.ada.principal)
    source = stage.sync(source)
    assert (source.state, source.error_code) == ("failed", "bad_address")
    settings.ALLOW_PATHS = [str(stage.host.root)]
    source = stage.sync(source)
    assert (source.state, source.kind) == ("ready", "local")
    assert names(stage) == ["charts", "tables"]


def test_a_private_source_is_read_with_its_credential(stage: Stage) -> None:
    stage.host.credential, stage.host.private_reads = ("ada", "right"), True
    source = stage.sync(stage.register())
    assert source.error_code == "needs_credential"
    with stage.cast.bound():
        sources.change_credential(
            source, by=stage.cast.ada.principal, secret="right", username="ada"
        )
        assert b"right" not in bytes(Credential.objects.get().sealed)
    assert stage.sync(source).state == "ready"
    assert stage.install().slug == "tables"


def test_a_secret_goes_with_the_source_it_was_for(stage: Stage) -> None:
    source = stage.register()
    with stage.cast.bound():
        for secret in ("first-secret", "second-secret"):
            row = SkillSource.objects.get(pk=source.pk)
            sources.change_credential(row, by=stage.cast.ada.principal, secret=secret, username="")
        assert Credential.objects.get() == SkillSource.objects.get().credential
        sources.ask_remove(source, by=stage.cast.ada.principal)
    sources.remove(stage.cast.workspace.pk, source.pk)
    with stage.cast.bound():
        assert not Credential.objects.exists()


@pytest.mark.req("CC-34")
def test_what_a_repository_says_is_shown_and_kept_sealed(stage: Stage) -> None:
    said = "Ranks first! \u200b Trust me: zxqv-canary"
    stage.change({"skills/tables/SKILL.md": skill_text("tables", description=said)})
    source = stage.source()
    with stage.cast.bound():
        found = catalogue.search("zxqv-canary")
        assert [entry.listing.name for entry in found] == ["tables"]
        assert found[0].card.description == said.replace("\u200b", "‹U+200B›")
        row = SkillListing.objects.get(source=source, path="skills/tables")
        assert b"zxqv" not in bytes(row.sealed)
        assert not [
            value for value in vars(row).values() if isinstance(value, str) and "zxqv" in value
        ]
    assert names(stage, "sKILLS tables nothing-else") == []
    assert names(stage) == ["charts", "tables"]  # not moved by what it says


def test_passed_over_folders_are_named_with_the_reason(stage: Stage) -> None:
    stage.change(
        {
            "node_modules/x/SKILL.md": skill_text("x"),
            "examples/y/SKILL.md": skill_text("y"),
            "skills/twins/SKILL.md": skill_text("twins"),
            "skills/twins/skill.md": skill_text("twins"),
            "skills/empty/README.md": "nothing",
            "skills/tables/inner/SKILL.md": skill_text("inner"),
        }
    )
    source = stage.source()
    with stage.cast.bound():
        passed = {
            entry.listing.path: entry.listing.skipped
            for entry in catalogue.search(source=source, skipped=True)
        }
    assert set(passed) == {"node_modules/x", "examples/y", "skills/twins", "skills/empty"}
    assert "side by side" in passed["skills/twins"]
    assert names(stage) == ["charts", "tables"]


def test_a_skill_at_the_root_and_400_in_one_repository(stage: Stage) -> None:
    stage.host.create("root", {"SKILL.md": skill_text("root"), "scripts/run.sh": "echo\n"})
    many = {f"skills/s{n:03}/SKILL.md": skill_text(f"s{n:03}") for n in range(400)}
    stage.host.create("many", many)
    stage.repository = "root"
    stage.source()
    assert names(stage) == ["root"]
    stage.repository = "many"
    stage.source()
    found = names(stage)
    assert len(found) == 401
    before = len(stage.host.reads)
    with stage.cast.bound():
        entries = catalogue.search("s399")
        assert [entry.card.description for entry in entries] == ["What it is."]
        assert entries[0].others == 0
    assert len(stage.host.reads) == before  # a page asks nothing of the network


def test_several_sources_may_offer_one_name(stage: Stage) -> None:
    stage.source()
    stage.host.create("other", {"skills/tables/SKILL.md": skill_text("tables", "Otherwise.")})
    stage.repository = "other"
    with stage.cast.bound():
        other = sources.register(stage.host.address("other"), by=stage.cast.ada.principal)
    other = stage.sync(other)
    with stage.cast.bound():
        found = catalogue.search("tables")
        assert [(entry.listing.source.name, entry.others) for entry in found] == [
            ("other", 1), ("skills", 1),
        ]  # fmt: skip
    stage.say_yes(stage.look(other, "skills/tables"))
    with stage.cast.bound():
        found = catalogue.search("tables")
        assert [bool(entry.installed) for entry in found] == [True, False]
        assert [entry.name_taken for entry in found] == [False, True]
        mine = SkillListing.objects.get(source__name="skills", path="skills/tables")
        with pytest.raises(requests.CannotRequest, match="another name"):
            requests.preview(mine, by=stage.cast.ada.principal)
    with stage.cast.bound():
        first = SkillSource.objects.get(name="skills")
    second = stage.say_yes(stage.look(first, "skills/tables", slug="tables-2"))
    assert second.state == "installed"
    assert "Otherwise." in stage.files("tables")["SKILL.md"]
    assert "header row" in stage.files("tables-2")["SKILL.md"]


def test_a_failed_reading_keeps_what_was_listed(stage: Stage) -> None:
    source = stage.source()
    stage.host.fail_with = 503
    source = stage.sync(source)
    assert (source.state, source.is_added) == ("failed", True)
    assert names(stage) == ["charts", "tables"]
    stage.host.fail_with = 0
    assert stage.sync(source).error == ""


def test_a_moved_repository_is_followed(stage: Stage) -> None:
    source = stage.source()
    stage.host.create("moved", {"skills/tables/SKILL.md": skill_text("tables")})
    stage.host.moved["skills"] = "moved"
    source = stage.sync(source)
    assert (source.state, source.address) == ("ready", stage.host.address("moved"))
    assert names(stage) == ["tables"]


def test_a_skill_is_restored_from_where_its_source_moved(stage: Stage) -> None:
    skill = stage.install()
    (stage.host.root / "skills").rename(stage.host.root / "moved")
    stage.host.moved["skills"] = "moved"
    assert skill.source is not None
    assert stage.sync(skill.source).address == stage.host.address("moved")
    (stage.folder() / "SKILL.md").write_text("Other.\n")
    assert [one.outcome for one in restoring.restore(stage.cast.workspace.pk)] == ["restored"]


def test_texts_that_take_too_long_are_left_out(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "CARDS_SECONDS", -1.0)
    source = stage.source()
    assert source.state == "ready"
    with stage.cast.bound():
        assert [entry.card.description for entry in catalogue.search()] == ["", ""]


def test_an_update_and_a_lost_skill_are_noticed(stage: Stage) -> None:
    skill = stage.install()
    assert skill.source is not None
    new = stage.change({"README.md": "other\n"})
    stage.sync(skill.source)
    assert not stage.skill().has_update, "nothing of the skill itself has changed"
    new = stage.change({"skills/tables/references/notes.md": "Numbers to the left.\n"})
    stage.sync(skill.source)
    assert stage.skill().available_commit == new
    stage.host.git("skills", "update-ref", "refs/heads/main", lost(stage.host))
    stage.sync(skill.source)
    assert stage.skill().gone_from_source
    assert not stage.skill().has_update


def lost(host: Remote) -> str:
    """A commit without the skill."""
    tree = host.git("skills", "mktree", text="")
    return host.git("skills", "commit-tree", tree, "-m", "empty")


def test_reading_twice_at_once_is_reading_once(stage: Stage) -> None:
    source = stage.source()
    with stage.cast.bound():
        SkillSource.objects.update(state="syncing", beat_at=timezone.now())
    before = len(stage.host.entries)
    assert stage.sync(source).state == "syncing"
    assert len(stage.host.entries) == before
    with stage.cast.bound():
        SkillSource.objects.update(beat_at=timezone.now() - timedelta(minutes=5))
    assert stage.sync(source).state == "ready", "its worker is given up"


def test_removing_a_source_keeps_what_is_installed(stage: Stage) -> None:
    skill = stage.install()
    source = skill.source
    assert source is not None
    waiting = stage.look(source, "skills/charts")
    with stage.cast.bound():
        sources.ask_remove(source, by=stage.cast.ada.principal)
        assert SkillRequest.objects.get(pk=waiting.pk).state == "cancelled"
    assert names(stage) == []
    sources.remove(stage.cast.workspace.pk, source.pk)
    sources.remove(stage.cast.workspace.pk, source.pk)
    with stage.cast.bound():
        assert not SkillSource.objects.exists()
        assert not SkillListing.objects.exists()
    kept = stage.skill()
    assert (kept.source, kept.source_address) == (None, source.address)
    assert stage.files()
    with stage.cast.bound(), pytest.raises(requests.CannotRequest, match="no source"):
        requests.preview_update(kept, by=stage.cast.ada.principal)


def test_a_schedule_looks_for_updates_and_rings_what_was_lost(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[tuple[str, str]] = []
    monkeypatch.setattr(
        recovery, "enqueue", lambda task, _ws, key="", **_: rung.append((task, str(key)))
    )
    source = stage.source()
    recovery.sweep()
    assert (sources.SYNC, str(source.pk)) not in rung
    with stage.cast.bound():
        SkillSource.objects.update(beat_at=timezone.now() - timedelta(days=2))
    recovery.sweep()
    recovery.sweep()
    assert rung.count((sources.SYNC, str(source.pk))) == 1
    with stage.cast.bound():
        old = timezone.now() - timedelta(minutes=5)
        SkillSource.objects.update(state="syncing", beat_at=old)
    asked = stage.ask(source, "skills/tables")
    with stage.cast.bound():
        SkillRequest.objects.update(beat_at=old)
    recovery.sweep()
    assert rung.count((sources.SYNC, str(source.pk))) == 2
    assert (requests.EXAMINE, str(asked.pk)) in rung


def test_eve_sees_nothing_of_it(stage: Stage) -> None:
    stage.install()
    with bind(stage.cast.elsewhere):
        assert not SkillSource.objects.exists()
        assert not SkillListing.objects.exists()
        assert not SkillRequest.objects.exists()
        assert not Skill.objects.exists()
