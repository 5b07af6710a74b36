"""The pages that bring skills in: sources, catalogue, and a look before the install."""

import pytest

from skills import install as installing
from skills.models import Skill, SkillRequest, SkillSource
from skills.views import reading
from tests.cast import Cast
from tests.remote.server import Remote
from tests.skills import shelf
from tests.skills.pages import page, post, request_path

pytestmark = pytest.mark.django_db
State = SkillRequest.State


# ---------------------------------------------------------------- sources


@pytest.mark.req("CC-33")
def test_a_source_is_checked_before_it_offers_anything(cast: Cast, site: Remote) -> None:
    address = site.create("kit", {"skills/release-notes/SKILL.md": shelf.NOTES})
    ada = cast.client(cast.ada)
    answer = post(ada, cast.path("skills/sources/add/"), address=address)
    there = answer.headers["Location"]
    assert "Being checked" in page(ada, there)
    with cast.bound():
        (row,) = SkillSource.objects.all()
        assert not row.is_added
        assert row.listings.count() == 0
    shelf.work(cast)
    text = page(ada, there)
    assert "release-notes" in text
    assert "Not scanned" in text


def test_a_source_that_is_not_there_says_so_and_offers_nothing(cast: Cast, site: Remote) -> None:
    ada = cast.client(cast.ada)
    answer = post(ada, cast.path("skills/sources/add/"), address=site.address("nowhere"))
    shelf.work(cast)
    text = page(ada, answer.headers["Location"])
    assert "It was not added" in text
    with cast.bound():
        assert SkillSource.objects.get().error in text


@pytest.mark.parametrize("address", ["", "no address", "ftp://example.org/x", "a" * 600])
def test_a_bad_address_is_refused_and_kept_in_the_form(cast: Cast, address: str) -> None:
    answer = post(cast.client(cast.ada), cast.path("skills/sources/add/"), address=address)
    assert answer.status_code == 422
    assert answer.context["form"].errors["address"]
    assert answer.context["form"]["address"].value() == address
    with cast.bound():
        assert not SkillSource.objects.exists()


def test_what_is_passed_over_is_named_with_the_reason(cast: Cast, source: SkillSource) -> None:
    text = page(cast.client(cast.vera), cast.path(f"skills/sources/{source.pk}/?show=skipped"))
    assert "examples/skills/toy" in text
    assert "in examples, which holds examples or templates" in text
    portuguese = cast.client(cast.vera).get(
        cast.path(f"skills/sources/{source.pk}/?show=skipped"),
        headers={"accept-language": "pt-pt"},
    )
    assert "em examples, que contém exemplos ou modelos" in portuguese.content.decode()


@pytest.mark.req("CC-34")
def test_what_a_repository_says_of_itself_is_only_text(cast: Cast, site: Remote) -> None:
    evil = shelf.NOTES.replace("Draft release", "<img src=x onerror=alert(1)> ver\u200bsion")
    source = shelf.add_source(cast, site.create("evil", {"skills/release-notes/SKILL.md": evil}))
    raw = cast.client(cast.ada).get(cast.path(f"skills/sources/{source.pk}/")).content.decode()
    assert "<img" not in raw
    assert "&lt;img src=x" in raw
    assert "U+200B" in raw


def test_one_name_from_several_sources_is_told_apart(
    cast: Cast, site: Remote, source: SkillSource
) -> None:
    shelf.add_source(cast, site.create("other", {"skills/release-notes/SKILL.md": shelf.NOTES}))
    ada = cast.client(cast.ada)
    assert "1 other" in page(ada, cast.path(f"skills/sources/{source.pk}/"))
    found = ada.get(cast.path("skills/sources/?q=release-notes")).context["page"]
    assert sorted(entry.listing.source.name for entry in found) == ["kit", "other"]


def test_four_hundred_skills_are_searched_and_paged(cast: Cast, site: Remote) -> None:
    files = {f"skills/skill-{n:03}/SKILL.md": shelf.named(f"skill-{n:03}") for n in range(400)}
    source = shelf.add_source(cast, site.create("many", files))
    vera, address = cast.client(cast.vera), cast.path(f"skills/sources/{source.pk}/")
    assert "1 to 60 of 400" in page(vera, address)
    found = vera.get(f"{address}?q=skill-39").context["page"]
    assert [entry.listing.name for entry in found] == [f"skill-39{n}" for n in range(10)]


def test_removing_a_source_says_what_stays(cast: Cast, source: SkillSource) -> None:
    shelf.install(cast, source, "release-notes")
    ada, address = cast.client(cast.ada), cast.path(f"skills/sources/{source.pk}/")
    assert "1 installed skill finds no updates any more: release-notes" in " ".join(
        page(ada, address).replace("<b>", "").split()
    )
    assert post(ada, f"{address}remove/").status_code == 302
    assert "kit</b>" not in page(ada, cast.path("skills/sources/"))
    assert "release-notes" in page(ada, cast.path("skills/"))


# ---------------------------------------------------------------- a look before the install


@pytest.mark.req("CC-32", "CC-35")
def test_a_look_shows_everything_and_writes_nothing(cast: Cast, source: SkillSource) -> None:
    ada = cast.client(cast.ada)
    with cast.bound():
        listing = source.listings.get(name="piped")
    answer = post(ada, cast.path(f"skills/listings/{listing.pk}/preview/"))
    there = answer.headers["Location"]
    assert "Waiting to be fetched" in page(ada, there)
    shelf.work(cast)
    text = page(ada, there)
    for words in (
        "Refused by the gate. Nothing was written.",
        "Download piped to a shell",
        "code.download-run",
        "scripts/setup.sh:2",
        "A harmless reason:",
        "Shell commands",
        "quarantines",
    ):
        assert words in text, words
    assert "Ask the owner which version to cut." in page(ada, f"{there}text/")
    files = page(ada, f"{there}files/?path=scripts/setup.sh")
    assert "get.example.invalid" in files
    assert 'id="L2" class="found failed"' in files
    assert not installing.directory(cast.workspace.pk, "piped").exists()


def test_hostile_text_stays_text_and_hidden_characters_are_named(cast: Cast, site: Remote) -> None:
    evil = shelf.INVISIBLE + (
        "\n<script>alert(1)</script> <b hx-get='/x'>go</b> [me](javascript:alert(1)) ![](//x/y.png)"
        "\n\npass\u202eword \U000e0041\U000e0042 \x1b[8mhidden\n"
    )
    source = shelf.add_source(cast, site.create("evil", {"skills/release-notes/SKILL.md": evil}))
    asked = shelf.look(cast, source, "release-notes")
    raw = cast.client(cast.ada).get(request_path(cast, asked, "text/")).content.decode()
    body = raw[raw.index('<div class="prose') : raw.index("</section>", raw.index('class="prose'))]
    for bad in ("<script", "<b hx", 'href="javascript', "<img", "\u200b", "\u202e", "\U000e0041"):
        assert bad not in body, bad
    for named in (">U+200B<", ">U+202E<", ">U+E0041<", ">ESC<"):
        assert named in body, named


def test_what_the_gate_spelled_out_cannot_forge_a_line() -> None:
    assert reading.unspelled("a‹U+000A›-b‹U+2028›c‹U+200B›d‹U+FFFFFFFF›") == (
        "a‹U+000A›-b‹U+2028›c\u200bd‹U+FFFFFFFF›"
    )


def test_a_page_that_shows_it_already_is_left_alone(cast: Cast, source: SkillSource) -> None:
    asked = shelf.look(cast, source, "release-notes")
    ada, address = cast.client(cast.ada), request_path(cast, asked)
    shown = ada.get(address).context["fingerprint"]
    headers = {"HX-Request": "true"}
    assert ada.get(address, {"shown": shown}, headers=headers).status_code == 204
    assert ada.get(address, {"shown": "old"}, headers=headers).status_code == 200


@pytest.mark.req("CC-36")
def test_the_first_reading_is_a_persons_question(cast: Cast, source: SkillSource) -> None:
    asked = shelf.look(cast, source, "release-notes")
    ada, address = cast.client(cast.ada), request_path(cast, asked)
    text = page(ada, address)
    assert "It needs your yes before it is written." in text
    assert "nobody here has said yes to it before" in text
    answer = post(ada, f"{address}accept/", digest=asked.digest)
    assert answer.status_code == 302
    shelf.work(cast)
    assert "Accepted and installed." in page(ada, address)
    with cast.bound():
        skill = Skill.objects.get(slug="release-notes")
        assert skill.accepted_by == cast.ada.principal
    text = page(ada, cast.path(f"skills/{skill.pk}/"))
    assert skill.commit[:7] in page(ada, cast.path("skills/"))
    assert "Draft the notes, one line a change." in text


def test_an_answer_for_something_else_is_refused(cast: Cast, source: SkillSource) -> None:
    asked = shelf.look(cast, source, "release-notes")
    ada, address = cast.client(cast.ada), request_path(cast, asked)
    for act in ("accept/", "install/"):
        answer = post(ada, f"{address}{act}", digest="sha256:" + "0" * 64, note="x")
        assert answer.status_code in {409, 422}
        assert "This is not what you were shown." in answer.content.decode()
    assert shelf.fresh(cast, asked).state == State.PREVIEWED
