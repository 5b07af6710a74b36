"""Nothing is announced that did not happen."""

import pytest
from django.db import transaction

import live
from live import presence, wire


@pytest.fixture
def topic(scope: str) -> str:
    return f"w/{scope}/inbox"


def places(topic: str) -> int:
    return wire.place(topic)[0]


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_a_message_waits_for_the_commit(topic: str) -> None:
    with transaction.atomic():
        live.publish(topic, "event")
        live.publish_rendered(topic, "event", str)
        live.publish_soon(topic, "event", str)
        assert places(topic) == 0
    assert places(topic) == 3


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_what_is_rolled_back_is_never_announced(topic: str, scope: str) -> None:
    with transaction.atomic():
        live.publish(topic, "event")
        live.publish_rendered(topic, "event", str)
        presence.set_agent(scope, "engineer", "running", run="1", started=1)
        transaction.set_rollback(True)
    assert places(topic) == 0
    assert presence.snapshot(scope) == []
