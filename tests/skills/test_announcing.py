"""A skill that begins or ends to wait for an admin is heard where admins listen."""

import json

import pytest

from live import valkey
from skills import holds, requests, topics
from skills.models import SkillRequest
from tests.cast import Cast

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_inbox_hears_that_a_skill_waits_and_waits_no_more(committed_cast: Cast) -> None:
    cast = committed_cast
    topic = topics.inbox(cast.workspace.pk)
    ear = valkey.client().pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
    ear.subscribe(valkey.channel(topic, "en"))

    def heard() -> str:
        while (message := ear.get_message(timeout=10)) is None:
            pass
        said = json.loads(message["data"])
        return str(said["data"]["request"])

    with cast.bound():
        asked = SkillRequest.objects.create(kind="install", slug="notes", state="scanning")
        requests.move(asked, SkillRequest.State.SCANNING, SkillRequest.State.HELD)
    assert heard() == str(asked.pk)
    with cast.bound():
        holds.refuse(asked, by=cast.ada.principal)
    assert heard() == str(asked.pk)
    ear.close()
