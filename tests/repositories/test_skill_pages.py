"""Skills of repositories on pages: the composer's list, the panel, the prompt as it would be."""

import pytest

from repositories import adding, skill_scans
from repositories.models import Repository, SkillScan, SkillVerdict
from repositories.skill_standing import carrying
from runs.models import Run, RunCursor
from tests.cast import Cast
from tests.remote.server import Remote
from tests.repositories.conftest import add_and_fetch
from tests.runs.skilled import PLACE, hostile, skill
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def apple(cast: Cast, remote: Remote) -> Repository:
    """`apple` with an honest and a hostile skill, fetched, linked and scanned."""
    files = {
        f"{PLACE}/deploy/SKILL.md": skill("deploy", description="Brings <b>it</b> out."),
        f"{PLACE}/helper/SKILL.md": hostile("helper"),
    }
    row = add_and_fetch(cast, remote.create("apple", files))
    return scanned(cast, row)


def scanned(cast: Cast, repository: Repository) -> Repository:
    skill_scans.scan_published(cast.workspace.pk, repository.pk)
    with cast.bound():
        row: Repository = Repository.objects.get(pk=repository.pk)
    return row


def conversation(cast: Cast, rest: str = "") -> str:
    return cast.path(f"spaces/{cast.space.slug}/{cast.conversation.pk}/{rest}")


@pytest.mark.req("CC-46", "CC-50")
def test_the_composer_lists_what_may_be_read(cast: Cast, apple: Repository) -> None:
    rows = cast.client(cast.ben).get(conversation(cast, "skills/")).json()
    assert [row["insert"] for row in rows] == ["skill:apple:deploy"]
    assert rows[0] | {"word": "apple", "title": "Brings <b>it</b> out."} == rows[0]
    assert cast.client(cast.eve).get(conversation(cast, "skills/")).status_code == 404


def test_the_page_says_who_works_where_and_what_is_withheld(cast: Cast, apple: Repository) -> None:
    with cast.bound():
        run = Run.objects.create(
            agent=cast.engineer, space=cast.space, conversation=cast.conversation, adapter="x"
        )
        RunCursor.objects.create(run=run)
    page = cast.client(cast.ada).get(conversation(cast)).content.decode()
    assert 'data-works-in="engineer"' in page
    assert "1 withheld" in page
    assert "The scan found what no agent should read." in page
    assert "CANARY-4711" not in page
    assert "<b>it</b>" not in page


def test_what_a_refused_skill_says_lies_in_no_row(cast: Cast, apple: Repository) -> None:
    with cast.bound():
        kept = [*SkillVerdict.objects.values_list("verdict", "description"),
                *SkillScan.objects.values_list("skills", "passed_over")]  # fmt: skip
    assert len(kept) == 3
    assert "CANARY-4711" not in str(kept)
    assert "198.51.100.7" not in str(kept)


@pytest.mark.req("CC-45")
def test_the_prompt_page_shows_the_index_of_one_repository(
    cast: Cast, apple: Repository, remote: Remote
) -> None:
    pear = {f"{PLACE}/p{n}/SKILL.md": skill(f"p{n}", description="y" * 700) for n in range(30)}
    scanned(cast, add_and_fetch(cast, remote.create("pear", pear)))
    client, path = cast.client(cast.vera), cast.path(f"agents/{cast.engineer.pk}/prompt/")
    plain = client.get(path).content.decode()
    assert "apple:deploy" not in plain
    one = client.get(f"{path}?repository=apple").content.decode()
    assert "- apple:deploy: Brings &lt;b&gt;it&lt;/b&gt; out." in one
    assert "pear:p0" not in one
    many = client.get(f"{path}?repository=pear").content.decode()
    assert "Descriptions in the index are cut to 500 characters" in many
    assert client.get(f"{path}?repository=nowhere").status_code == 200


def test_an_acceptance_is_seen_and_withdrawn(cast: Cast, apple: Repository) -> None:
    ada, path = cast.client(cast.ada), cast.path(f"repositories/{apple.pk}/")
    with cast.bound():
        [helper] = carrying(apple, apple.skills_commit).withheld
    assert "Accepted skills" not in ada.get(path).content.decode()
    accept = {"commit": apple.skills_commit, "digest": helper.digest}
    assert ada.post(f"{path}skills/accept/", accept).status_code == 204
    shown = cast.client(cast.vera).get(path).content.decode()
    assert '<b class="mono">helper</b>' in shown
    assert ">@ada</td>" in shown
    assert "Withdraw…" not in shown
    assert "Withdraw the acceptance of helper?" in ada.get(path).content.decode()
    gone = {"digest": helper.digest}
    assert cast.client(cast.ben).post(f"{path}skills/withdraw/", gone).status_code == 403
    for said in ("is withdrawn", "withdrawn already"):
        answer = ada.post(f"{path}skills/withdraw/", gone, follow=True)
        assert said in answer.content.decode()
    with cast.bound():
        assert [one.name for one in carrying(apple, apple.skills_commit).withheld] == ["helper"]
        entry = AuditEntry.objects.get(action="skill.withdraw")
        assert (entry.subject, entry.actor) == ("apple:helper", cast.ada.principal)


def test_new_rules_make_everything_unscanned(
    cast: Cast, apple: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    with cast.bound():
        assert not skill_scans.unscanned().exists()
        for module in ("skill_scans", "skill_standing"):
            monkeypatch.setattr(f"repositories.{module}.version", lambda: "2099+new")
        assert skill_scans.unscanned().exists()
        assert not carrying(apple, apple.skills_commit).is_scanned
    assert cast.client(cast.ben).get(conversation(cast, "skills/")).json() == []


def test_a_commit_that_changes_no_skill_is_not_scanned_again(
    cast: Cast, apple: Repository, remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote.commit("apple", {"code.py": "pass\n"})
    with cast.bound():
        before = SkillVerdict.objects.count()

    def no_reading(*_: object) -> None:
        raise AssertionError("the bytes are known")

    monkeypatch.setattr("repositories.skill_scans._row", no_reading)
    adding.refresh(apple, max_age_seconds=0)
    after = scanned(cast, apple)
    assert after.skills_commit == remote.tip("apple") != apple.skills_commit
    with cast.bound():
        assert SkillVerdict.objects.count() == before
        assert [one.name for one in carrying(after, after.skills_commit).accepted] == ["deploy"]
