"""From a message to a commit at the remote: the spine, with everything real but the model."""

import pytest

from guardrails.approvals import Answer
from runs.models import Run
from spaces.models import Message
from tests.runs.stage import WithRepository

pytestmark = pytest.mark.django_db(transaction=True)
ASK = "@engineer add a CHANGELOG and push it"


@pytest.mark.req("CC-13", "CC-40", "CC-52", "CC-56", "CC-71", "CC-72", "CC-73")
def test_a_push_waits_for_a_yes_and_leaves_exactly_once(stage: WithRepository) -> None:
    [run] = stage.say(ASK)
    assert run.adapter == "cc-harness"

    parked = stage.execute(run)
    assert (parked.state, parked.waiting_for) == ("parked", "approval")
    assert stage.remote.writes == []
    approval = stage.pending()
    assert "refs/heads/main" in str(approval.shown["moves"])

    stage.decide(Answer.ONCE)
    assert len(stage.remote.writes) == 1
    assert stage.fresh(run).state == "queued"

    done = stage.execute(run)
    assert (done.state, done.terminal_reason) == ("succeeded", "completed")
    assert "CHANGELOG.md" in stage.remote.git("engine", "ls-tree", "--name-only", "main")
    author = stage.remote.git("engine", "log", "-1", "--format=%an <%ae>%n%b", "main")
    assert author.startswith("Engineer (agent) <")
    assert "Co-Authored-By: Ada Lovelace <ada@example.org>" in author
    with stage.cast.bound():
        closing = Message.objects.get(run_id=run.pk)
        assert closing.author == stage.cast.engineer.principal
    assert len(stage.remote.writes) == 1


def test_a_denied_push_tells_the_agent_why(stage: WithRepository) -> None:
    [run] = stage.say(ASK)
    stage.execute(run)
    stage.decide(Answer.DENY, note="Not on a Friday.")
    done = stage.execute(run)
    assert done.state == "succeeded"
    assert stage.remote.writes == []
    with stage.cast.bound():
        said = [str(event.data) for event in run.events.all()]
    assert any("Not on a Friday." in text for text in said)


def test_the_journal_counts_without_gaps(stage: WithRepository) -> None:
    [run] = stage.say(ASK)
    stage.execute(run)
    stage.decide(Answer.ONCE)
    stage.execute(run)
    with stage.cast.bound():
        seqs = list(run.events.values_list("seq", flat=True))
        assert seqs == list(range(1, len(seqs) + 1))
        last = run.events.order_by("-seq").first()
        assert last is not None
        assert last.kind == "done"
        assert Run.objects.get(pk=run.pk).cursor.last_seq == len(seqs)
