"""What was written down in one language is read by each in the own one: titles, reasons, ends."""

import pytest
from django.utils import translation

from guardrails.models import Approval
from repositories.models import PushRequest
from runs import dispatch, recovery, runner
from runs.models import Run
from spaces.models import Message
from tests.cast import Cast
from tests.runs.stage import Stage, WithRepository
from tests.scripted.script import Call, Step

pytestmark = pytest.mark.django_db(transaction=True)


def page(cast: Cast, path: str, language: str) -> str:
    answer = cast.client(cast.ada).get(cast.path(path), headers={"accept-language": language})
    assert answer.status_code == 200
    return str(answer.content.decode())


def assert_reads(cast: Cast, path: str, *, english: str, portuguese: str) -> None:
    assert english in page(cast, path, "en")
    in_portuguese = page(cast, path, "pt")
    assert portuguese in in_portuguese
    assert english not in in_portuguese


def test_a_push_is_asked_about_in_each_readers_language(stage: WithRepository) -> None:
    [run] = stage.say("@engineer add a CHANGELOG and push it")
    stage.execute(run)
    with stage.cast.bound():
        approval = Approval.objects.get()
        push = PushRequest.objects.get()
    assert_reads(
        stage.cast,
        f"inbox/{approval.pk}/",
        english="Push 1 commit to",
        portuguese="Push de 1 commit para",
    )
    english, portuguese = "Exactly these commits are forwarded", "Exatamente estes commits"
    assert_reads(stage.cast, f"inbox/{approval.pk}/", english=english, portuguese=portuguese)

    # Decided by somebody who reads Portuguese: the sentences stay everybody's.
    with stage.cast.bound(), translation.override("pt-pt"):
        dispatch.stop(Run.objects.get(pk=run.pk), by=stage.cast.ada.principal)
    assert_reads(
        stage.cast, f"runs/{run.pk}/", english="Stopped by @ada.", portuguese="Parada por @ada."
    )
    assert_reads(
        stage.cast,
        f"repositories/pushes/{push.pk}/",
        english="The run ended before the push",
        portuguese="terminou antes de o push",
    )


def test_what_went_wrong_is_said_in_each_readers_language(plain: Stage) -> None:
    with plain.model(Step(first=["401"])) as model:
        [run] = plain.say("@engineer tidy up")
        assert plain.execute(run).state == "failed"
        model.give_up()
    assert_reads(
        plain.cast,
        f"runs/{run.pk}/",
        english="does not accept the key",
        portuguese="não aceita a chave",
    )
    assert_reads(plain.cast, "", english="does not accept the key", portuguese="não aceita a chave")


def test_a_lost_worker_is_told_in_each_readers_language(plain: Stage) -> None:
    [run] = plain.say("@engineer tidy up")
    runner.claim(run.workspace_id, run.pk)
    plain.change(run, lease_until="2020-01-01T00:00:00Z")
    recovery.sweep()
    assert_reads(
        plain.cast,
        f"runs/{run.pk}/",
        english="The worker was lost",
        portuguese="O worker perdeu-se",
    )


def test_a_notice_is_told_in_each_readers_language(plain: Stage) -> None:
    with plain.cast.bound():
        type(plain.cast.engineer).objects.filter(pk=plain.cast.engineer.pk).update(
            lifecycle="paused"
        )
    plain.say("@engineer wake up")
    with plain.cast.bound():
        assert Message.objects.get(kind="notice").body.startswith("@engineer is paused")
    place = f"spaces/{plain.cast.space.slug}/{plain.cast.conversation.pk}/"
    assert_reads(
        plain.cast, place, english="is paused and was not", portuguese="está em pausa e não"
    )


def test_a_command_is_asked_about_in_each_readers_language(plain: Stage) -> None:
    with plain.model(Step(calls=[Call("bash", {"command": "rm -rf build"})])):
        [run] = plain.say("@engineer tidy up")
        plain.execute(run)
    approval = plain.pending()
    assert_reads(
        plain.cast,
        f"inbox/{approval.pk}/",
        english="Run rm -rf build",
        portuguese="Executar rm -rf build",
    )
    assert "Porque lhe é perguntado" in page(plain.cast, f"inbox/{approval.pk}/", "pt")
    assert "No rule says anything" not in page(plain.cast, f"inbox/{approval.pk}/", "pt")
