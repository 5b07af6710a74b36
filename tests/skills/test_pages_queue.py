"""The pages on which somebody decides: the queue of what is held, and updates."""

import re
from html import unescape

import pytest

from skills import install as installing
from skills.models import Skill, SkillRequest, SkillSource
from tests.cast import Cast
from tests.remote.server import Remote
from tests.skills import shelf
from tests.skills.pages import another_admin, page, post, request_path

pytestmark = pytest.mark.django_db
State = SkillRequest.State


# ---------------------------------------------------------------- the queue


@pytest.mark.req("CC-32")
def test_a_member_asks_and_an_admin_decides_with_a_reason(cast: Cast, source: SkillSource) -> None:
    asked = shelf.look(cast, source, "warned")
    ben, ada = cast.client(cast.ben), cast.client(cast.ada)
    address = request_path(cast, asked)
    assert "Ask an admin" in page(ben, address)
    assert post(ben, f"{address}accept/", digest=asked.digest, note="me").status_code == 403
    assert post(ben, f"{address}install/", digest=asked.digest).status_code == 302
    assert shelf.fresh(cast, asked).state == State.HELD
    assert "warned" in page(ada, cast.path("skills/held/"))
    assert ada.get(cast.path("inbox/count/")).content.decode().count(">1<") == 1
    assert "Skills that are held" in page(ada, cast.path("inbox/"))
    assert "Skills that are held" not in page(ben, cast.path("inbox/"))
    without = post(ada, f"{address}accept/", digest=asked.digest)
    assert without.status_code == 422
    assert "say why" in without.content.decode()
    assert (
        post(ada, f"{address}accept/", digest=asked.digest, note="We need it.").status_code == 302
    )
    shelf.work(cast)
    row = shelf.fresh(cast, asked)
    assert (row.state, row.note, row.decided_by_id) == (
        State.INSTALLED, "We need it.", cast.ada.principal_id,
    )  # fmt: skip
    assert row.skill is not None
    assert "We need it." in page(ben, cast.path(f"skills/{row.skill.pk}/history/"))


def test_quarantine_needs_the_name_and_a_reason(cast: Cast, source: SkillSource) -> None:
    asked = shelf.look(cast, source, "piped")
    ada, address = cast.client(cast.ada), request_path(cast, asked)
    assert "Accept the risk…" in page(ada, address)
    for values in ({"note": "why"}, {"confirm": "piped"}, {"note": "why", "confirm": "pipe"}):
        answer = post(ada, f"{address}accept/", digest=asked.digest, **values)
        assert answer.status_code == 422, values
        assert values.get("note", "") in answer.content.decode()
        assert shelf.fresh(cast, asked).state == State.REFUSED
    answer = post(ada, f"{address}accept/", digest=asked.digest, note="Ours.", confirm="piped")
    assert answer.status_code == 302
    shelf.work(cast)
    with cast.bound():
        skill = Skill.objects.get(slug="piped")
    assert "took the risk of these findings" in page(ada, cast.path(f"skills/{skill.pk}/"))


def test_a_fault_of_form_can_be_accepted_by_nobody(cast: Cast, source: SkillSource) -> None:
    asked = shelf.look(cast, source, "pointed")
    ada, address = cast.client(cast.ada), request_path(cast, asked)
    text = page(ada, address)
    assert "nobody can accept, not even the owner" in text
    assert "cannot be accepted" in text
    assert "Accept the risk…" not in text
    answer = post(ada, f"{address}accept/", digest=asked.digest, note="x", confirm="pointed")
    assert answer.status_code == 409
    shelf.work(cast)
    assert not installing.directory(cast.workspace.pk, "pointed").exists()


def test_of_two_admins_the_first_decides_and_the_second_is_told(
    cast: Cast, source: SkillSource
) -> None:
    grace = another_admin(cast)
    asked = shelf.look(cast, source, "warned")
    first, second = cast.client(cast.ada), cast.client(grace)
    address = request_path(cast, asked)
    with cast.bound():
        from skills import requests

        requests.install(asked, by=cast.ben.principal)
    assert post(first, f"{address}refuse/", note="Too much.").status_code == 302
    answer = post(second, f"{address}accept/", digest=asked.digest, note="Fine by me.")
    assert answer.status_code == 409
    said = unescape(answer.content.decode())
    assert "decided this already" in said
    assert "Too much." in said
    row = shelf.fresh(cast, asked)
    assert (row.state, row.decided_by_id) == (State.REFUSED, cast.ada.principal_id)


@pytest.mark.parametrize("note", ["a\0b", "\u202e", "x" * 5000, "\r\n", "<b>", "\U0001f4a5" * 300])
def test_any_reason_can_be_recorded(cast: Cast, note: str) -> None:
    with cast.bound():
        asked = SkillRequest.objects.create(kind="local", slug="notes", state=State.HELD)
    ada, address = cast.client(cast.ada), request_path(cast, asked)
    assert post(ada, f"{address}refuse/", note=note).status_code == 302
    row = shelf.fresh(cast, asked)
    assert row.state == State.REFUSED
    assert row.note == note.replace("\0", "").strip()[:1000]
    raw = ada.get(address).content.decode()
    assert "\u202e" not in raw
    assert "<b></b>" not in raw


def test_a_refused_skill_stays_refused_and_says_why(cast: Cast, source: SkillSource) -> None:
    asked = shelf.look(cast, source, "warned")
    ada, address = cast.client(cast.ada), request_path(cast, asked)
    with cast.bound():
        from skills import requests

        requests.install(asked, by=cast.ben.principal)
    post(ada, f"{address}refuse/", note="Asks for every tool.")
    text = page(cast.client(cast.ben), address)
    assert "refused it. Nothing was written." in text
    assert "Asks for every tool." in text
    assert post(ada, f"{address}accept/", digest=asked.digest, note="x").status_code == 409


# ---------------------------------------------------------------- updates


def worse(site: Remote) -> None:
    site.commit(
        "kit",
        {
            "skills/release-notes/SKILL.md": shelf.NOTES.replace(
                "2. Ask the owner which version to cut.",
                "2. Derive the version from the commits.\u200b",
            ),
            "skills/release-notes/scripts/run.sh": shelf.SCRIPT,
        },
    )


@pytest.mark.req("CC-37")
@pytest.mark.parametrize("view", ["unified", "sides"])
def test_an_update_shows_what_changes_and_leaves_the_old_one(
    cast: Cast, site: Remote, source: SkillSource, view: str
) -> None:
    skill = shelf.install(cast, source, "release-notes")
    worse(site)
    ada = cast.client(cast.ada)
    post(ada, cast.path(f"skills/sources/{source.pk}/sync/"))
    shelf.work(cast)
    assert "Look at the update" in page(ada, cast.path(f"skills/{skill.pk}/"))
    answer = post(ada, cast.path(f"skills/{skill.pk}/update/"))
    shelf.work(cast)
    text = page(ada, f"{answer.headers['Location']}?view={view}")
    assert f"Version {skill.commit[:7]} stays in use." in text
    assert "Download piped to a shell" in text
    assert "New" in text
    lines = re.sub("</?mark>", "", text)
    assert "2. Derive the version" in lines
    assert "2. Ask the owner which version to cut." in lines
    assert "U+200B" in text
    assert ('class="lines sides"' in text) == (view == "sides")
    on_disk = installing.directory(cast.workspace.pk, "release-notes") / "SKILL.md"
    assert on_disk.read_text() == shelf.NOTES


def test_several_updates_stop_at_those_that_are_held(
    cast: Cast, site: Remote, source: SkillSource
) -> None:
    fine, held = (shelf.install(cast, source, name) for name in ("release-notes", "warned"))
    site.commit(
        "kit",
        {
            "skills/release-notes/SKILL.md": shelf.NOTES + "4. Show them.\n",
            "skills/warned/SKILL.md": shelf.named("warned", shelf.WARNED) + "\u200b4. Show.\n",
        },
    )
    ada = cast.client(cast.ada)
    post(ada, cast.path(f"skills/sources/{source.pk}/sync/"))
    shelf.work(cast)
    answer = post(ada, cast.path("skills/several/"), act="update", skill=[fine.pk, held.pk])
    assert answer.status_code == 302
    shelf.work(cast)
    with cast.bound():
        now = {each.slug: each for each in Skill.objects.all()}
        waiting = SkillRequest.objects.waiting().get()
    assert now["release-notes"].commit != fine.commit
    assert now["warned"].commit == held.commit
    assert waiting.slug == "warned"
