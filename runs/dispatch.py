"""Who runs: a message wakes the agents that it means; a decision wakes the run that waits."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.models import Agent
from guardrails.models import Approval
from harness import events
from spaces import posting
from spaces.models import Conversation, Message
from workspaces.models import Principal

from . import broadcast, journal, queue
from .adapters import capabilities_of
from .claims import release_claims
from .liveness import Health, liveness
from .models import Run, RunCursor, RunEvent


class CannotDo(RuntimeError):
    """The run is in no state, or its adapter has no way, to do that. Says why, in words."""


def post(
    conversation: Conversation,
    *,
    author: Principal,
    body: str,
    client_key: UUID | None = None,
) -> tuple[Message, list[Run]]:
    """Says it in the conversation and wakes or steers whom it means. Twice is once.

    Raises ValidationError for a text that cannot be posted.
    """
    message, is_new = posting.post(conversation, author=author, body=body, client_key=client_key)
    return message, wake(message) if is_new else list(message.runs.all())


def wake(message: Message) -> list[Run]:
    """A run for each agent that the message means; an agent already at work here is steered.

    An agent that cannot be dispatched is named in a notice, with the reason.
    """
    return [run for agent in _meant(message) if (run := _wake_one(message, agent)) is not None]


def _meant(message: Message) -> Sequence[Agent]:
    mentioned = {mention.principal_id: None for mention in message.mentions.all()}
    if mentioned:
        agents = {a.principal_id: a for a in Agent.objects.filter(principal__in=mentioned)}
        return [agents[principal] for principal in mentioned if principal in agents]
    main = message.conversation.agent
    return [main] if main is not None else []


def _wake_one(message: Message, agent: Agent) -> Run | None:
    if not agent.is_dispatchable:
        posting.notice(
            message.conversation,
            _("@%(name)s is %(lifecycle)s and was not woken. An admin can activate it again.")
            % {"name": agent.name, "lifecycle": agent.get_lifecycle_display().lower()},
        )
        return None
    at_work = (
        Run.objects.select_for_update()
        .filter(agent=agent, conversation=message.conversation, state__in=Run.OPEN)
        .order_by("queued_at")
        .first()
    )
    if at_work is not None:
        _say_to(at_work, message)
        return at_work
    return start(
        agent,
        conversation=message.conversation,
        message=message,
        requested_by=message.author,
        reason=Run.Wake.USER_MESSAGE,
    )


def start(
    agent: Agent,
    *,
    conversation: Conversation,
    message: Message | None,
    requested_by: Principal | None,
    reason: str,
) -> Run:
    """A queued run with its journal begun; on commit a worker hears of it."""
    run = Run(
        agent=agent,
        space=conversation.space,
        conversation=conversation,
        message=message,
        requested_by=requested_by,
        wake_reason=reason,
        adapter=agent.adapter,
        mode=conversation.space.mode,
    )
    try:
        with transaction.atomic():
            run.save()
    except IntegrityError as error:
        if "run_once_per_mention" not in str(error):
            raise
        return Run.objects.get(message=message, agent=agent, parent=None)
    RunCursor.objects.create(run=run)
    broadcast.started(run)
    queue.ring(run)
    return run


def _say_to(run: Run, message: Message) -> None:
    """The agent reads the message at its next tool boundary, or when it goes on."""
    said = events.message(
        message.body,
        author=message.author.handle if message.author else "",
        message_id=str(message.pk),
    )
    if run.waiting_for != Run.WaitingFor.PERSON and not capabilities_of(run.adapter).steering:
        posting.notice(
            message.conversation,
            _("@%(name)s reads this when its run has ended; its adapter cannot be steered.")
            % {"name": run.agent.name},
        )
        return
    journal.record(run, [said], is_output=False)
    if run.state == Run.State.PARKED and run.waiting_for == Run.WaitingFor.PERSON:
        queue.requeue(run)


def stop(run: Run, *, by: Principal) -> None:
    """The run ends as cancelled: at once when nobody executes it, else at its next breath.

    Raises CannotDo when it has ended already.
    """
    Run.objects.filter(pk=run.pk).update(stop_requested_by=by)
    summary = _("Stopped by @%(handle)s.") % {"handle": by.handle}
    if end_unattended(run, "cancelled", "cancelled_by_user", summary):
        return
    asked = Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).update(
        stop_requested_at=timezone.now(), stop_reason="cancel"
    )
    if not asked:
        raise CannotDo(_("The run has already ended; there was nothing to stop."))


def end_unattended(
    run: Run, state: Literal["failed", "cancelled"], reason: str, summary: str
) -> bool:
    """Ends a run that nobody executes; False when somebody does, or when it has ended."""
    ended = Run.objects.filter(pk=run.pk, state__in=[Run.State.QUEUED, Run.State.PARKED]).update(
        state=state,
        terminal_reason=reason,
        summary=summary,
        liveness=liveness(Health(state=state, terminal_reason=reason)),
        waiting_for="",
        waiting_on=None,
        ended_at=timezone.now(),
    )
    if not ended:
        return False
    journal.record(run, [events.done(state, reason, summary)], is_output=False)
    release_claims(run)
    broadcast.state(run.pk, run.workspace_id)
    return True


def pause(run: Run, *, by: Principal) -> None:
    """The run parks at its next event. Raises CannotDo when it has ended or cannot pause."""
    if not capabilities_of(run.adapter).pause:
        raise CannotDo(_("%(adapter)s cannot pause a run; it can be stopped.") % _named(run))
    if not Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).update(
        pause_requested_at=timezone.now(), stop_requested_by=by, stop_reason="pause"
    ):
        raise CannotDo(_("Only a run that is working can be paused."))


def resume(run: Run, *, by: Principal) -> None:
    """A paused run is queued again. Raises CannotDo when it is not paused."""
    fresh = Run.objects.get(pk=run.pk)
    if fresh.waiting_for != Run.WaitingFor.PAUSE or not queue.requeue(fresh):
        raise CannotDo(_("The run is not paused."))


def steer(run: Run, *, text: str, by: Principal) -> None:
    """The agent reads the words at its next tool boundary. Raises CannotDo or ValidationError."""
    if not capabilities_of(run.adapter).steering:
        raise CannotDo(_("%(adapter)s cannot be steered while it works.") % _named(run))
    words = posting.clean(text)
    fresh = Run.objects.select_for_update().get(pk=run.pk)
    if not fresh.is_open:
        raise CannotDo(_("The run has already ended; write a new message instead."))
    journal.record(fresh, [events.steer(words, author=by.handle)], is_output=False)
    if fresh.waiting_for == Run.WaitingFor.PERSON:
        queue.requeue(fresh)


def answer(approval: Approval) -> None:
    """The run that waits for this approval hears the answer and goes on. Twice is once."""
    run = Run.objects.filter(pk=approval.run_id).first()
    if run is None or not run.is_open:
        return
    asked = (
        RunEvent.objects.filter(run=run, kind="approval", data__approval_id=str(approval.pk))
        .order_by("-seq")
        .first()
    )
    if asked is not None and asked.data.get("phase") == "asked":
        is_yes = approval.state == Approval.State.APPROVED
        by = approval.decided_by
        decided = events.decided(
            str(approval.pk),
            call_id=asked.data["call_id"],
            decision="allow" if is_yes else "deny",
            note=approval.note,
            decided_by=f"@{by.handle}" if by else "",
        )
        journal.record(run, [decided], is_output=False)
    if asked is not None and run.waiting_for == Run.WaitingFor.APPROVAL:
        queue.requeue(run)


def _named(run: Run) -> dict[str, str]:
    return {"adapter": run.adapter}
