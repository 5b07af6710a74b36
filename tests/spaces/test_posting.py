"""Saying something: stored once, numbered, bound to whom it meant; what is refused says why."""

from typing import Any
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from agents import editing
from runs.models import Run
from spaces import posting
from spaces.models import Conversation, Message, Participant, Space
from spaces.visibility import visible_spaces
from tests.cast import Cast
from workspaces.models import Membership, Role

pytestmark = pytest.mark.django_db


def address(cast: Cast, rest: str = "") -> str:
    return cast.path(f"spaces/{cast.space.slug}/{cast.conversation.pk}/{rest}")


def say(client: Client, cast: Cast, text: str, **more: str) -> Any:
    return client.post(
        address(cast, "say/"), {"text": text, **more}, headers={"HX-Request": "true"}
    )


@pytest.mark.req("CC-02", "CC-13")
def test_a_message_wakes_whom_it_mentions_and_nobody_twice(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    key = str(uuid4())
    for _ in range(2):  # a double click
        assert say(ada, cast, "@engineer go, @engineer!", client_key=key).status_code == 204
    with cast.bound():
        message = Message.objects.get()
        assert message.author == cast.ada.principal
        assert [run.agent for run in Run.objects.all()] == [cast.engineer]
        assert message.handles == ["engineer", "engineer"]


def test_an_unknown_mention_stays_text(cast: Cast) -> None:
    answer = say(cast.client(cast.ada), cast, "@nobody there?")
    assert answer.status_code == 204
    assert "nobody here is called @nobody." in answer["HX-Trigger"]
    with cast.bound():
        assert Message.objects.get().body == "@nobody there?"
        assert not Run.objects.exists()


@pytest.mark.parametrize(
    "text", ["@engineer", "@Ada", "@agent-reviewer look", "`@nobody`", "write to a@example.org"]
)
def test_a_name_that_means_somebody_is_not_complained_of(cast: Cast, text: str) -> None:
    assert "HX-Trigger" not in say(cast.client(cast.ada), cast, text)


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "Write something"), (" \n\t ", "Write something"), ("x" * 1_000_001, "1000001")],
)
def test_a_refused_text_says_why_and_stores_nothing(cast: Cast, text: str, words: str) -> None:
    answer = say(cast.client(cast.ada), cast, text)
    assert answer.status_code == 422
    assert words in answer.content.decode().replace(",", "")
    assert answer.headers["X-Said"]
    with cast.bound():
        assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("nul\x00here", "nul␀here"),
        ("  trimmed  ", "trimmed"),
        ("مرحبا 👩‍🚀 \ud800", "مرحبا 👩‍🚀 ?"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_a_text_is_kept_as_it_is_but_for_what_no_page_can_hold(given: str, kept: str) -> None:
    assert posting.clean(given) == kept


def test_hostile_text_is_shown_and_does_nothing(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    say(ada, cast, '<img src=x onerror=alert(1)> [x](javascript:alert(1)) <b hx-get="/">b</b>')
    page = ada.get(address(cast)).content.decode()
    assert "onerror=alert" not in page.replace("&lt;img src=x onerror=alert(1)&gt;", "")
    assert 'href="javascript' not in page
    assert '<b hx-get="/">' not in page


def test_numbers_have_no_gaps_and_the_first_line_is_the_title(cast: Cast) -> None:
    with cast.bound():
        conversation = Conversation.objects.create(space=cast.space)
        for text in ("First words\nand more", "second", "third"):
            posting.post(conversation, author=cast.ada.principal, body=text)
        assert list(conversation.messages.values_list("n", flat=True)) == [1, 2, 3]
        assert Conversation.objects.get(pk=conversation.pk).title == "First words"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("short", "short"),
        ("\n\n  second line first ", "second line first"),
        ("word " * 30, "word " * 15 + "word…"),
        ("x" * 200, "x" * 79 + "…"),
    ],
)
def test_a_title_is_cut_between_words(text: str, title: str) -> None:
    assert posting.title_of(text) == title


def test_old_mentions_keep_whom_they_meant(cast: Cast) -> None:
    say(cast.client(cast.ada), cast, "@engineer hello")
    with cast.bound():
        Run.objects.all().delete()
        agent = cast.engineer
        changes = {"name": "smith"}
        editing.save(
            agent,
            changes,
            version=agent.version,
            by=cast.ada.principal,
            is_busy=lambda _row: False,
        )
        assert Message.objects.get().handles == ["smith"]


def test_a_paused_agent_is_not_woken_and_the_conversation_says_so(cast: Cast) -> None:
    with cast.bound():
        type(cast.engineer).objects.filter(pk=cast.engineer.pk).update(lifecycle="paused")
    say(cast.client(cast.ada), cast, "@engineer wake up")
    with cast.bound():
        assert not Run.objects.exists()
        notice = Message.objects.get(kind="notice")
        assert "engineer" in notice.body
        assert "paused" in notice.body


def test_a_private_space_is_only_for_its_participants(cast: Cast) -> None:
    with cast.bound():
        private = Space.objects.create(name="Board", slug="board", visibility="private")
        Participant.objects.create(space=private, principal=cast.ben.principal)
        conversation = Conversation.objects.create(space=private)
        posting.post(conversation, author=cast.ben.principal, body="secret plans")
        seen = {m.role: set(visible_spaces(m).values_list("slug", flat=True)) for m in everybody()}
    assert "board" in seen[Role.MEMBER]
    assert "board" not in seen[Role.OWNER]  # nobody sees it unasked, an owner neither
    there = cast.path(f"spaces/board/{conversation.pk}/")
    assert cast.client(cast.ben).get(there).status_code == 200
    missing = cast.client(cast.ada).get(cast.path(f"spaces/board/{uuid4()}/"))
    foreign = cast.client(cast.ada).get(there)
    assert (foreign.status_code, missing.status_code) == (404, 404)
    assert b"secret plans" not in foreign.content


def test_a_guest_sees_only_where_he_was_invited(cast: Cast) -> None:
    with cast.bound():
        Membership.objects.filter(pk=cast.vera.pk).update(role=Role.GUEST)
    vera = cast.client(cast.vera)
    assert vera.get(address(cast)).status_code == 404
    with cast.bound():
        Participant.objects.create(space=cast.space, principal=cast.vera.principal)
    assert vera.get(address(cast)).status_code == 200
    assert say(vera, cast, "may I?").status_code == 403


def test_a_new_space_opens_on_its_first_conversation(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    form = {"name": "Boiler", "visibility": "workspace", "participants": [cast.ceo.principal_id]}
    answer = ada.post(cast.path("spaces/new/"), form, follow=True)
    assert "/spaces/boiler/" in answer.redirect_chain[-1][0]
    again = ada.post(cast.path("spaces/new/"), form, follow=True)
    assert "/spaces/boiler-2/" in again.redirect_chain[-1][0]
    assert ada.post(cast.path("spaces/new/"), {"name": " "}).status_code == 422


def test_a_long_conversation_shows_its_end_and_leads_to_its_beginning(cast: Cast) -> None:
    with cast.bound():
        for number in range(1, 151):
            posting.post(cast.conversation, author=cast.ada.principal, body=f"line {number}.")
    ada = cast.client(cast.ada)
    page = ada.get(address(cast)).content.decode()
    assert "line 150." in page
    assert "line 90." not in page
    earlier = ada.get(address(cast, "timeline/?before=91")).content.decode()
    assert "line 90." in earlier
    assert "line 91." not in earlier
    first = ada.get(address(cast, "timeline/?before=31")).content.decode()
    assert "line 1." in first
    assert "before=" not in first


def everybody() -> list[Membership]:
    return list(Membership.objects.select_related("principal"))


def test_the_number_of_queries_does_not_grow_with_the_conversation(
    cast: Cast, django_assert_max_num_queries: Any
) -> None:
    ada = cast.client(cast.ada)
    ada.get(address(cast))
    with cast.bound():
        for number in range(40):
            posting.post(cast.conversation, author=cast.ada.principal, body=f"@ceo {number}")
    with django_assert_max_num_queries(50):
        page = ada.get(address(cast))
    assert page.content.decode().count('class="msg') >= 40


def test_an_empty_text_raises_for_every_caller(cast: Cast) -> None:
    with cast.bound(), pytest.raises(ValidationError):
        posting.post(cast.conversation, author=cast.ada.principal, body="\x0b")


@pytest.mark.req("FX-27")
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("/agents", "agents/library/"),
        (" /agents manage ", "agents/library/"),
        ("/agents create", "agents/library/new/"),
        ("/agents running", "runs/"),
    ],
)
def test_slash_agents_leads_to_a_page_and_is_no_message(cast: Cast, text: str, place: str) -> None:
    ben, here = (
        cast.client(cast.ben),
        cast.path(f"spaces/{cast.space.slug}/{cast.conversation.pk}/"),
    )
    answer = ben.post(f"{here}say/", {"text": text}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Redirect"]) == (204, cast.path(place))
    assert ben.post(f"{here}say/", {"text": text})["Location"] == cast.path(place)
    assert ben.get(cast.path(place)).status_code == 200
    with cast.bound():
        assert not Message.objects.filter(conversation=cast.conversation).exists()
        ben.post(f"{here}say/", {"text": "/agents and their files"})
        assert Message.objects.filter(conversation=cast.conversation).count() == 1
    page = ben.get(here).content.decode()
    assert f'data-library-url="{cast.path("agents/library/")}"' in page
    assert f'data-runs-url="{cast.path("runs/")}"' in page
