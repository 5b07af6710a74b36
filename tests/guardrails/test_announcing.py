"""What happens to an approval is heard in open inboxes and conversations, after the commit."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from guardrails import approvals, topics
from guardrails.approvals import Answer
from guardrails.models import Approval
from live import valkey
from spaces import topics as space_topics
from tests.cast import Cast
from tests.guardrails.asking import ask

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE_SECONDS = 10


@pytest.fixture
def heard(committed_cast: Cast) -> Iterator[Callable[[], list[tuple[str, dict[str, Any]]]]]:
    """The next two messages: one for the inbox, one for the conversation."""
    cast = committed_cast
    both = {
        "inbox": topics.inbox(cast.workspace.pk),
        "conversation": space_topics.conversation(cast.workspace.pk, cast.conversation.pk),
    }
    subscription = valkey.client().pubsub(  # type: ignore[no-untyped-call]
        ignore_subscribe_messages=True
    )
    subscription.subscribe(*(valkey.channel(topic, "en") for topic in both.values()))

    def next_two() -> list[tuple[str, dict[str, Any]]]:
        found: list[tuple[str, dict[str, Any]]] = []
        while len(found) < 2:
            message = subscription.get_message(timeout=PATIENCE_SECONDS)
            if message is not None:
                said = json.loads(message["data"])
                place = "inbox" if said["topic"] == both["inbox"] else "conversation"
                found.append((place, said))
        return sorted(found, key=lambda pair: pair[0])

    yield next_two
    subscription.close()


def test_asking_answering_and_ending_are_heard_in_both_places(
    committed_cast: Cast, heard: Callable[[], list[tuple[str, dict[str, Any]]]]
) -> None:
    cast, run = committed_cast, uuid4()

    def states() -> list[tuple[str, str]]:
        return [(place, said["data"]["state"]) for place, said in heard()]

    with cast.bound():
        first = ask(cast, run_id=run)
    assert states() == [("conversation", "pending"), ("inbox", "pending")]
    with cast.bound():
        approvals.decide(first, by=cast.ben.principal, answer=Answer.ONCE)
    assert states() == [("conversation", "approved"), ("inbox", "approved")]
    with cast.bound():
        approvals.consume(first.pk, digest=first.digest)
    assert states() == [("conversation", "approved"), ("inbox", "approved")]
    with cast.bound():
        second = ask(cast, run_id=run)
    assert states() == [("conversation", "pending"), ("inbox", "pending")]
    with cast.bound():
        approvals.cancel_for_run(run)
    assert states() == [("conversation", "cancelled"), ("inbox", "cancelled")]
    with cast.bound():
        assert Approval.objects.get(pk=second.pk).state == "cancelled"


def test_what_is_heard_holds_no_word_of_the_question(
    committed_cast: Cast, heard: Callable[[], list[tuple[str, dict[str, Any]]]]
) -> None:
    """An inbox topic is heard by all members; a private space's question is not for all."""
    with committed_cast.bound():
        row = ask(committed_cast)
    for _place, said in heard():
        assert set(said) <= {"topic", "kind", "data", "n", "epoch"}
        assert said["data"] == {"approval": str(row.pk), "state": "pending"}
