"""Each page says how far its topics are, so that a fresh page has nothing to fetch again."""

import re

import pytest
from django.utils import timezone

from runs import dispatch
from runs.models import Run
from tests.cast import Cast

pytestmark = pytest.mark.django_db
TAG = re.compile(r"<[a-z]+\b[^>]*\bdata-live-topic=\"([^\"]+)\"[^>]*>")
PAGES = [
    "",
    "agents/",
    "inbox/",
    "runs/",
    "repositories/",
    "repositories/pushes/",
    "spaces/{space}/{conversation}/",
    "runs/{run}/",
]


@pytest.fixture
def run(cast: Cast) -> Run:
    with cast.bound():
        _message, [run] = dispatch.post(
            cast.conversation, author=cast.ada.principal, body="@engineer tidy up"
        )
        return run


def address(cast: Cast, run: Run, page: str) -> str:
    return cast.path(
        page.format(space=cast.space.slug, conversation=cast.conversation.pk, run=run.pk)
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_topic_of_a_page_has_its_place(cast: Cast, run: Run, page: str) -> None:
    html = cast.client(cast.ada).get(address(cast, run, page)).content.decode()
    found = [(m[1], m[0]) for m in TAG.finditer(html) if not m[1].endswith("/presence")]
    assert found
    for topic, tag in found:
        assert re.search(r' data-live-after="[^":]+:\d+"', tag), topic


@pytest.mark.parametrize("page", ["spaces/{space}/{conversation}/", "runs/{run}/"])
def test_a_run_that_has_ended_is_not_followed(cast: Cast, run: Run, page: str) -> None:
    topic = f'data-live-topic="w/{cast.workspace.pk}/run/{run.pk}"'
    ada = cast.client(cast.ada)
    assert topic in ada.get(address(cast, run, page)).content.decode()
    with cast.bound():
        dispatch.stop(run, by=cast.ada.principal)
    assert topic not in ada.get(address(cast, run, page)).content.decode()


def test_the_roster_says_that_an_agent_waits_as_the_presence_does(cast: Cast, run: Run) -> None:
    ada = cast.client(cast.ada)

    def roster(**fields: object) -> str:
        with cast.bound():
            Run.objects.filter(pk=run.pk).update(**fields)
        html = ada.get(cast.path("agents/"), headers={"hx-request": "true"}).content.decode()
        [row] = re.findall(
            rf'<a class="item"[^>]*data-principal="{cast.engineer.principal_id}">.*?</a>',
            html,
            re.DOTALL,
        )
        return str(row)

    assert "Running" in roster(state="running", started_at="2026-01-01T00:00:00Z")
    assert "Waiting for approval" in roster(state="parked", waiting_for="approval")
    assert "Running" in roster(state="parked", waiting_for="child")


@pytest.mark.parametrize(
    ("waiting_for", "word"),
    [
        ("approval", "Waiting for approval"),
        ("person", "Waiting for an answer"),
        ("pause", "Paused"),
    ],
)
def test_a_run_that_waits_says_the_same_everywhere(
    cast: Cast, run: Run, waiting_for: str, word: str
) -> None:
    with cast.bound():
        Run.objects.filter(pk=run.pk).update(
            state="parked", waiting_for=waiting_for, started_at=timezone.now()
        )
    ada = cast.client(cast.ada)
    room = f"spaces/{cast.space.slug}/"
    for page in (
        "", "runs/", f"runs/{run.pk}/", "agents/", f"agents/{cast.engineer.pk}/", "orgchart/",
        f"{room}{cast.conversation.pk}/",
    ):  # fmt: skip
        html = ada.get(cast.path(page)).content.decode()
        assert word in html, page
        assert "Blocked" not in html, page
    if waiting_for != "pause":
        listed = ada.get(cast.path("spaces/")).content.decode()
        assert f'<span class="vh">{word}</span>' in listed
