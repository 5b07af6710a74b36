"""Who runs: a message wakes the agents that it means; a decision wakes the run that waits."""

from collections.abc import Sequence
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from agents.models import Agent
from guardrails.models import Approval
from harness import events
from harness.events import Kind
from harness.stop import StopReason
from outside.sentences import phrase, phrase_noop
from repositories import skill_names
from spaces import posting
from spaces.models import Conversation, Message, Participant, Space
from workspaces.models import Principal

from . import broadcast, journal, locks, moves, queue
from .adapters import capabilities_of
from .keeper import in_words
from .models import Run, RunCursor, RunEvent, Subagent

NOT_WOKEN: dict[str, str] = {
    Agent.Lifecycle.PAUSED: phrase_noop(
        "@%(name)s is paused and was not woken. An admin can activate it again."
    ),
    Agent.Lifecycle.ARCHIVED: phrase_noop(
        "@%(name)s is archived and was not woken. An admin can activate it again."
    ),
    Agent.Lifecycle.ACTIVE: phrase_noop("@%(name)s has no name yet and was not woken."),
}


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
    # One after the other: of two who write at once the second finds the first one's run.
    locks.hold_conversation(conversation.pk)
    _require_space_in_use(conversation)
    if not _is_said_already(conversation, client_key):
        _require_skills(conversation, body)
    message, is_new = posting.post(conversation, author=author, body=body, client_key=client_key)
    return message, wake(message) if is_new else list(message.runs.all())


def _require_space_in_use(conversation: Conversation) -> None:
    """Raises ValidationError in a space that was archived, also a moment ago by somebody else."""
    if Space.objects.filter(pk=conversation.space_id, archived_at__isnull=False).exists():
        reason = _("This space is archived; an admin can bring it back in its settings.")
        kept = _("Nothing was sent; your text is still in the field.")
        raise ValidationError(f"{reason} {kept}")


def _is_said_already(conversation: Conversation, client_key: UUID | None) -> bool:
    said = Message.objects.filter(conversation=conversation, client_key=client_key)
    return client_key is not None and said.exists()


def _require_skills(conversation: Conversation, body: str) -> None:
    """Raises ValidationError when the text asks for a skill that cannot be had."""
    try:
        skill_names.require(conversation, body)
    except skill_names.NoSuchSkill as error:
        kept = _("Nothing was sent; your text is still in the field.")
        raise ValidationError(f"{error} {kept}") from error


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
            phrase(NOT_WOKEN[agent.lifecycle]) % {"name": agent.name},
        )
        return None
    open_runs = Run.objects.filter(
        agent=agent, conversation=message.conversation, state__in=Run.OPEN, parent=None
    )
    for known in open_runs.order_by("queued_at", "id"):
        at_work = locks.hold(known.pk)
        if at_work is not None and at_work.is_open:
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
    take_part(agent, conversation)
    queue.ring(run)  # first, so that no worker waits until the tabs have been told
    broadcast.started(run)
    return run


def take_part(agent: Agent, conversation: Conversation) -> None:
    """Who works in a space stands in its list, beside the people."""
    row = Participant(
        workspace_id=agent.workspace_id, space_id=conversation.space_id, principal=agent.principal
    )
    Participant.objects.bulk_create([row], ignore_conflicts=True)


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
            phrase("@%(name)s reads this when its run has ended; its adapter cannot be steered.")
            % {"name": run.agent.name},
        )
        return
    journal.record(run, [said])
    if _listens(run):
        moves.requeue(run)


def stop(run: Run, *, by: Principal) -> None:
    """The run ends as cancelled: at once when nobody executes it, else at its next breath.

    Raises CannotDo when it has ended already.
    """
    fresh = _open(run, locks.hold_with_claims(run.pk))
    if fresh.state != Run.State.RUNNING or _is_abandoned(fresh):
        summary = in_words(StopReason.CANCEL, by=by.handle)
        moves.end(fresh, state="cancelled", reason="cancelled_by_user", summary=summary)
        return
    Run.objects.filter(pk=run.pk).update(
        stop_requested_at=Now(), stop_requested_by=by, stop_reason="cancel"
    )


def pause(run: Run, *, by: Principal) -> None:
    """The run parks at its next event. Raises CannotDo when it has ended or cannot pause."""
    if not capabilities_of(run.adapter).pause:
        raise CannotDo(_("%(adapter)s cannot pause a run; it can be stopped.") % _named(run))
    fresh = _open(run, locks.hold(run.pk))
    if fresh.state != Run.State.RUNNING or fresh.stop_requested_at is not None:
        raise CannotDo(_("Only a run that is working can be paused."))
    Run.objects.filter(pk=run.pk).update(
        pause_requested_at=Now(), stop_requested_by=by, stop_reason="pause"
    )


def resume(run: Run, *, by: Principal) -> None:
    """A paused run is queued again. Raises CannotDo when it is not paused."""
    fresh = _open(run, locks.hold(run.pk))
    if fresh.waiting_for != Run.WaitingFor.PAUSE:
        raise CannotDo(_("The run is not paused."))
    moves.requeue(fresh)


def steer(run: Run, *, text: str, by: Principal) -> None:
    """The agent reads the words at its next tool boundary. Raises CannotDo or ValidationError."""
    if not capabilities_of(run.adapter).steering:
        raise CannotDo(_("%(adapter)s cannot be steered while it works.") % _named(run))
    words = posting.clean(text)
    _require_skills(run.conversation, words)
    fresh = _open(run, locks.hold(run.pk))
    journal.record(fresh, [events.steer(words, author=by.handle)])
    if _listens(fresh):
        moves.requeue(fresh)


def _listens(run: Run) -> bool:
    """Whether a parked run goes on when it is spoken to: it waits for a person, or only for what
    works in the background."""
    if run.waiting_for == Run.WaitingFor.PERSON:
        return True
    at_work = Subagent.objects.filter(parent=run, background=False, run__state__in=Run.OPEN)
    return run.waiting_for == Run.WaitingFor.CHILD and not at_work.exists()


def answer(approval: Approval) -> None:
    """The run that waits for this approval hears the answer and goes on. Twice is once."""
    run = locks.hold(approval.run_id) if approval.run_id else None
    if run is None or not run.is_open:
        return
    call_id = call_that_asks(run, approval.pk)
    if not call_id:
        return
    by = approval.decided_by
    decided = events.decided(
        str(approval.pk),
        call_id=call_id,
        decision="allow" if approval.state == Approval.State.APPROVED else "deny",
        note=approval.note,
        decided_by=by.handle if by else "",
    )
    journal.record(run, [decided])
    if run.waiting_for == Run.WaitingFor.APPROVAL:
        moves.requeue(run)


def call_that_asks(run: Run, approval_id: UUID) -> str:
    """The call that waits for this approval; empty when none does, or when it was told before."""
    rows = RunEvent.objects.filter(
        run=run, kind=Kind.APPROVAL.value, data__approval_id=str(approval_id)
    )
    newest: RunEvent | None = rows.order_by("-seq").first()
    if newest is None or newest.data.get("phase") != "asked":
        return ""
    return str(newest.data["call_id"])


def _open(run: Run, fresh: Run | None) -> Run:
    if fresh is None or not fresh.is_open:
        raise CannotDo(_("The run has already ended; write a new message instead."))
    return fresh


def _is_abandoned(run: Run) -> bool:
    """Whether its worker is gone: nobody would hear a request."""
    return bool(Run.objects.filter(pk=run.pk, lease_until__lt=Now()).exists())


def _named(run: Run) -> dict[str, str]:
    return {"adapter": run.adapter}
