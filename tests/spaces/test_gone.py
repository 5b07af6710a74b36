"""Who is gone while somebody has the page open; and mentions that must not run away."""

import pytest

from agents.creating import Profile, create
from agents.models import Agent
from runs import dispatch
from runs.models import Run
from spaces import mentions, posting
from spaces.models import Message
from tests.cast import Cast

pytestmark = pytest.mark.django_db


def archive(cast: Cast) -> None:
    with cast.bound():
        Agent.objects.filter(pk=cast.engineer.pk).update(lifecycle=Agent.Lifecycle.ARCHIVED)


def say(cast: Cast, text: str) -> int:
    place = f"spaces/{cast.space.slug}/{cast.conversation.pk}/say/"
    return cast.client(cast.ada).post(cast.path(place), {"text": text}).status_code


def test_an_agent_archived_while_a_page_is_open_is_named_and_the_text_kept(cast: Cast) -> None:
    archive(cast)
    assert say(cast, "@engineer tidy up") == 302
    with cast.bound():
        assert [each.body for each in Message.objects.filter(kind="text")] == ["@engineer tidy up"]
        assert "archived" in Message.objects.get(kind="notice").body
        assert not Run.objects.exists()


@pytest.mark.parametrize("path", ["agents/{}/", "agents/{}/runs/", "runs/{run}/"])
def test_the_pages_of_an_agent_that_is_archived_stay(cast: Cast, path: str) -> None:
    with cast.bound():
        _message, [run] = dispatch.post(
            cast.conversation, author=cast.ada.principal, body="@engineer tidy up"
        )
    archive(cast)
    page = cast.path(path.format(cast.engineer.pk, run=run.pk))
    assert cast.client(cast.ada).get(page).status_code == 200


def test_what_a_deleted_agent_said_stays_and_its_run_is_not_found(cast: Cast) -> None:
    with cast.bound():
        _message, [run] = dispatch.post(
            cast.conversation, author=cast.ada.principal, body="@engineer tidy up"
        )
        posting.post(cast.conversation, author=cast.engineer.principal, body="On it.")
        Agent.objects.filter(pk=cast.engineer.pk).delete()
    ada = cast.client(cast.ada)
    page = ada.get(cast.path(f"spaces/{cast.space.slug}/{cast.conversation.pk}/"))
    assert page.status_code == 200
    assert "On it." in page.content.decode()
    for act in ("transcript/", ""):
        assert ada.get(cast.path(f"runs/{run.pk}/{act}")).status_code == 404
    assert ada.post(cast.path(f"runs/{run.pk}/stop/")).status_code == 404
    assert say(cast, "@engineer still there?") == 302


@pytest.mark.req("CC-13")
def test_an_agent_that_names_itself_or_another_wakes_nobody(cast: Cast) -> None:
    """No ring of agents that wake each other: only people wake by what they say."""
    with cast.bound():
        for author in (cast.engineer, cast.ceo):
            posting.post(
                cast.conversation, author=author.principal, body="@engineer and @ceo, go on"
            )
        assert not Run.objects.exists()


def test_after_an_archive_the_living_namesake_is_woken(cast: Cast) -> None:
    with cast.bound():
        Agent.objects.filter(pk=cast.engineer.pk).update(lifecycle=Agent.Lifecycle.ARCHIVED)
        other, _ = create(Profile(name="engineer-2", title="Engineer"))
        _message, runs = dispatch.post(
            cast.conversation, author=cast.ada.principal, body="@engineer-2 tidy up"
        )
        assert [run.agent_id for run in runs] == [other.pk]


@pytest.mark.timeout(60)  # what is quadratic takes far longer
@pytest.mark.parametrize(
    "text", ["@" * 100_000, "@a" * 50_000, "`@" * 50_000, "~[" * 50_000, "/skill:" * 14_000]
)
def test_no_text_keeps_the_parser_busy(text: str) -> None:
    assert len(mentions.find(text)) < 2
