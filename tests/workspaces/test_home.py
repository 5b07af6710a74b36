"""The home of a workspace: the way to the first run, and the team."""

import pytest

from repositories.models import Repository
from runs import dispatch
from spaces.models import Participant, Space
from tests.cast import Cast
from workspaces.models import ModelConnection

pytestmark = pytest.mark.django_db


def home(cast: Cast) -> str:
    return str(cast.client(cast.ada).get(cast.path()).content.decode())


@pytest.mark.req("CC-02", "CC-14", "CC-89")
def test_the_team_stands_on_the_first_page(cast: Cast) -> None:
    page = home(cast)
    for words in ("Chief Executive Officer", "engineer", "Org chart"):
        assert words in page


def test_the_first_steps_lead_to_a_first_run(cast: Cast) -> None:
    with cast.bound():
        Space.objects.all().delete()
    assert "Connect a model" in home(cast)
    with cast.bound():
        ModelConnection.objects.create(provider="demo", name="demo", is_default=True)
    assert "Add a repository by its address" in home(cast)
    with cast.bound():
        Repository.objects.create(name="engine", address="https://example.org/engine")
    assert "Open a space with it" in home(cast)
    with cast.bound():
        Space.objects.create(name="Engine room", slug="engine-room")
    assert 'id="first-steps"' not in home(cast)


def test_who_only_reads_is_shown_no_steps(cast: Cast) -> None:
    page = cast.client(cast.vera).get(cast.path()).content.decode()
    assert 'id="first-steps"' not in page


@pytest.mark.req("CC-02", "CC-89")
def test_who_works_in_a_space_stands_in_its_list(cast: Cast) -> None:
    with cast.bound():
        Participant.objects.filter(principal=cast.engineer.principal).delete()
        for words in ("tidy up", "and again"):
            dispatch.post(cast.conversation, author=cast.ada.principal, body=f"@engineer {words}")
    place = f"spaces/{cast.space.slug}/{cast.conversation.pk}/now/"
    page = cast.client(cast.ada).get(cast.path(place)).content.decode()
    _before, _panel, rest = page.partition('id="presence-panel"')
    assert (
        rest.partition("</section>")[0].count(f'data-principal="{cast.engineer.principal_id}"') == 1
    )
