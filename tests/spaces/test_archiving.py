"""An archived space is read, not written in, and brought back; a click too many does nothing."""

import pytest

from spaces.models import Message, Space
from tests.cast import Cast
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db


def archive(cast: Cast, wanted: str = "archived") -> None:
    path = cast.path("spaces/engine-room/archive/")
    assert cast.client(cast.ada).post(path, {"wanted": wanted}).status_code == 302


def is_archived(cast: Cast) -> bool:
    with cast.bound():
        return Space.objects.get(pk=cast.space.pk).archived_at is not None


def test_a_second_click_does_not_bring_it_back(cast: Cast) -> None:
    archive(cast)
    archive(cast)
    assert is_archived(cast)
    archive(cast, "back")
    archive(cast, "back")
    assert not is_archived(cast)
    with cast.bound():
        acts = list(AuditEntry.objects.filter(action__startswith="space.").order_by("at"))
    assert [act.action for act in acts] == ["space.archive", "space.restore"]


def test_nobody_writes_in_it_and_the_text_is_kept(cast: Cast) -> None:
    """Ben's page was open before; a program has the address too."""
    archive(cast)
    path = cast.path(f"spaces/engine-room/{cast.conversation.pk}/")
    sent = cast.client(cast.ben).post(f"{path}say/", {"text": "@engineer go"})
    assert sent.status_code == 422
    assert "archived" in sent.content.decode()
    assert "your text is still in the field" in sent.content.decode()
    with cast.bound():
        assert not Message.objects.exists()
    page = cast.client(cast.ben).get(path).content.decode()
    assert "nobody writes in it" in page
    assert "data-composer-text" not in page


def test_an_admin_finds_it_again(cast: Cast) -> None:
    archive(cast)
    assert "Bring back…" in cast.client(cast.ada).get(cast.path("spaces/")).content.decode()
    assert "Bring back…" not in cast.client(cast.ben).get(cast.path("spaces/")).content.decode()
    page = cast.client(cast.ada).get(cast.path("spaces/engine-room/edit/")).content.decode()
    assert 'name="wanted" value="back"' in page
