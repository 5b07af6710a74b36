"""Executing a run: claim it, hand it to its adapter, write down how it ended.

A run is claimed by compare-and-set; from then on every write carries the fence of that claim. How
the adapter ends it is an exception of one family; anything else is a bug, recorded as such.
"""

import errno
import logging
import shutil
from dataclasses import replace
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from agents.models import Agent
from guardrails.models import Approval
from harness import sandbox
from harness.adapters.base import Adapter
from harness.calls import open_calls
from harness.errors import Cancelled, Completed, DiskFull, Finished, Parked, Released
from harness.events import Kind
from harness.seam import BUILT_IN_ADAPTER, Ports, Root, RunSpec
from harness.stop import StopReason
from outside import git
from outside.sentences import phrase as _
from outside.sentences import phrase_noop
from repositories.checkouts import CheckoutFailed
from repositories.models import PushRequest
from spaces import posting
from workspaces.tenancy import bind

from . import briefing, broadcast, hearing, journal, locks, moves, workplace, worktrees
from .adapters import UnknownAdapter, adapter_of
from .catalog import Definitions
from .desk import Desk
from .gatekeeper import Gatekeeper
from .journal import FenceLost
from .keeper import Held, in_words, keeper, owner
from .models import Run, RunCursor, RunEvent
from .nursery import Nursery
from .patience import AWAY, patiently
from .shelf import Shelf
from .sink import JournalSink
from .subagents import Child, state_of_git
from .watching import Watcher

log = logging.getLogger(__name__)

WENT: dict[str, str] = {
    Agent.Lifecycle.PAUSED: phrase_noop("@%(name)s was paused before the run went on."),
    Agent.Lifecycle.ARCHIVED: phrase_noop("@%(name)s was archived before the run went on."),
    Agent.Lifecycle.ACTIVE: phrase_noop("@%(name)s lost its name before the run went on."),
}
FULL = (errno.ENOSPC, errno.EDQUOT)
AGENT_TOOL = "agent"


def execute(workspace_id: UUID, run_id: UUID) -> None:
    """Executes the run unless it is somebody else's, has ended, or this process is closing."""
    try:
        if keeper.is_closing:
            _leave(workspace_id, run_id)
            return
        run = claim(workspace_id, run_id)
        if run is None:
            return
        connection.close()
        with keeper.holding(run) as held:
            _drive_to_its_end(held)
    finally:
        connection.close()


def _leave(workspace_id: UUID, run_id: UUID) -> None:
    """The ring was heard by a process that takes nothing more: the sweep rings again at once."""
    with bind(workspace_id):
        Run.objects.filter(pk=run_id, state=Run.State.QUEUED).update(rung_at=None)


def claim(workspace_id: UUID, run_id: UUID) -> Run | None:
    """The run as this worker's, or None when it was not there to be had."""
    if not moves.claim(workspace_id, run_id, owner=owner()):
        return None
    with bind(workspace_id):
        run: Run = (
            Run.objects.select_related(
                "agent__principal",
                "agent__reports_to",
                "conversation",
                "space",
                "message__author",
                "requested_by",
                "workspace",
            )
            .prefetch_related("agent__skill_names")
            .get(pk=run_id)
        )
        broadcast.state(run_id, workspace_id)
        return run


def _drive_to_its_end(held: Held) -> None:
    try:
        while not _drive(held):
            pass
    except (FenceLost, Released) as end:
        log.info("run %s is released: %s", held.run.pk, end)
        _release(held)


def _drive(held: Held) -> bool:
    """One stretch of the run; False when it is to go on at once, from its journal."""
    try:
        _work(held)
    except Parked as end:
        return _park(held, end)
    except Finished as end:
        return _finish(held, end)
    except (FenceLost, Released):
        raise
    except AWAY as error:
        log.warning("run %s goes on when the database is back: %s", held.run.pk, error)
        return patiently(held, lambda _is_retry: _stands(held))
    except OSError as error:
        if error.errno in FULL:
            return _finish(held, _disk_full())
        _record_fault(held, error)
        raise
    except Exception as error:
        _record_fault(held, error)
        raise
    return True


def _work(held: Held) -> None:
    run = held.run
    with bind(run.workspace_id):
        _require_dispatchable(run)
        brief = briefing.read(run)
    connection.close()
    adapter = _adapter(run)
    _require_space()
    try:
        roots, directory = workplace.prepare(run)
    except CheckoutFailed as error:
        raise _no_checkout(error) from error
    if isinstance(brief.acting, Child) and brief.acting.row.isolation:
        roots, directory = worktrees.stand(run, brief.acting.row, roots)
    with bind(run.workspace_id):
        _begin(run, brief)
        history = journal.read(run.pk)
        spec = briefing.spec(run, brief, roots, directory)
    connection.close()
    nursery = Nursery(run, roots, model=spec.model, effort=brief.effort)
    spec = _with_children(spec, run, nursery, roots, is_new=not history)
    sink = JournalSink(held, history)
    shelf = Shelf(run, roots, workplace.overlay(run, directory), check=held.stop.check)
    try:
        shelf.open()
        ports = Ports(
            gate=Gatekeeper(
                run,
                pushes_are_held=spec.gateway_socket is not None,
                nursery=nursery,
                child=brief.acting if isinstance(brief.acting, Child) else None,
            ),
            sink=Watcher(sink, shelf, roots, foreign=run.adapter != BUILT_IN_ADAPTER),
            stop=held.stop,
            push_desk=Desk(run),
            shelf=shelf,
            catalog=Definitions(run, roots),
            nursery=nursery,
        )
        adapter.run(spec, history, ports)
    finally:
        if not _shares_its_place(run):
            shelf.close()
        sink.close()


def _with_children(
    spec: RunSpec, run: Run, nursery: Nursery, roots: tuple[Root, ...], *, is_new: bool
) -> RunSpec:
    """The run with the agent tool, if there is somebody to start; a new child is told of git."""
    is_allowed = spec.allowed_tools is None or AGENT_TOOL in spec.allowed_tools
    spec = replace(spec, may_delegate=is_allowed and bool(nursery.types()))
    if not (run.parent_id and is_new and spec.prompt.tells_of_place):
        return spec
    told = "\n\n".join(filter(None, (spec.prompt.references, state_of_git(roots))))
    return replace(spec, prompt=replace(spec.prompt, references=told))


def _shares_its_place(run: Run) -> bool:
    """Whether another run of the agent works in the same directory: a parent, or a child. Who
    cannot tell leaves it to the next; how the run ended must not be lost over it."""
    try:
        with bind(run.workspace_id):
            others = Run.objects.filter(
                conversation_id=run.conversation_id, agent_id=run.agent_id, state=Run.State.RUNNING
            )
            return others.exclude(pk=run.pk).exists()
    except AWAY as error:
        log.warning("whether run %s is alone cannot be told: %s", run.pk, error)
        return True
    finally:
        connection.close()


def _begin(run: Run, brief: briefing.Brief) -> None:
    """What the run works with stands in its row; from now on its silence counts."""
    Run.objects.filter(pk=run.pk, fence=run.fence).update(
        model=brief.model, effort=brief.effort, sandboxed=sandbox.probe().is_usable
    )
    RunCursor.objects.filter(run=run, fence=run.fence).update(began_at=Now())


def _adapter(run: Run) -> Adapter:
    try:
        return adapter_of(run.adapter)
    except UnknownAdapter as error:
        raise Finished(str(error)) from error


def _require_dispatchable(run: Run) -> None:
    agent = Agent.objects.get(pk=run.agent_id)
    if not agent.is_dispatchable:
        raise Cancelled(_(WENT[agent.lifecycle]) % {"name": agent.name})


def _require_space() -> None:
    folder = settings.DATA_DIR
    if folder.exists() and shutil.disk_usage(folder).free < settings.DISK_RESERVE_BYTES:
        raise _disk_full()


def _no_checkout(error: CheckoutFailed) -> Finished:
    return DiskFull(str(error)) if error.code in {"disk", "disk_full"} else Finished(str(error))


def _disk_full() -> DiskFull:
    return DiskFull(
        _(
            "The server's disk is full. What the run did so far is kept; ask again when an "
            "operator has made room."
        )
    )


# ---------------------------------------------------------------- ending and waiting


def _finish(held: Held, end: Finished) -> bool:
    """Writes the end down. False when somebody said something that the agent has not read yet."""
    if held.run.parent_id:
        _judge_worktrees(held.run)
    return patiently(held, lambda _is_retry: _finish_once(held.run, end))


def _judge_worktrees(run: Run) -> None:
    """What an isolated child changed is to be kept; where that cannot be told, all of it is."""
    try:
        worktrees.judge(run)
    except (git.GitError, OSError, *AWAY) as error:
        log.warning("the worktrees of run %s cannot be looked at: %s", run.pk, error)


def _finish_once(run: Run, end: Finished) -> bool:
    with bind(run.workspace_id):
        locks.hold_conversation(run.conversation_id)
        fresh = _hold_mine(run)
        end = stopped(fresh) or end
        if isinstance(end, Completed):
            if _unread(run, end.seen):
                return False
            if push := _open_push(run):
                moves.park(fresh, waiting_for="approval", waiting_on=push.approval_id)
                return True
        moves.end(fresh, state=end.state, reason=end.reason.value, summary=end.summary)
        if end.state == "succeeded" and end.summary.strip() and not run.parent_id:
            posting.post(
                run.conversation,
                author=run.agent.principal,
                body=end.summary[: posting.MAX_CHARACTERS],
                run_id=run.pk,
            )
    return True


def _park(held: Held, end: Parked) -> bool:
    """The slot is free until a decision, a child or a person. False when it is there already."""
    return patiently(held, lambda _is_retry: _park_once(held.run, end))


def _park_once(run: Run, end: Parked) -> bool:
    with bind(run.workspace_id):
        fresh = _hold_mine(run)
        asked = stopped(fresh)
        if asked is None:
            if _is_answered(run, end):
                return False
            on = end.ids[0] if end.ids else None
            moves.park(fresh, waiting_for=end.waiting_for, waiting_on=on)
            return True
    return _finish_once(run, asked)


def _release(held: Held) -> None:
    """Gives an unfinished run back, so that another worker goes on from its journal."""
    try:
        with bind(held.run.workspace_id):
            give_back(_hold_mine(held.run))
    except FenceLost:
        log.info("run %s is somebody else's already", held.run.pk)
    except AWAY as error:
        log.warning("run %s is left to the sweep: %s", held.run.pk, error)


def give_back(run: Run) -> None:
    """A run that nobody executes any more is queued again, or does what was asked of it meanwhile.

    The caller has locked it and has its fence.
    """
    if asked := stopped(run):
        moves.end(run, state=asked.state, reason=asked.reason.value, summary=asked.summary)
    elif run.pause_requested_at is not None:
        moves.park(run, waiting_for=Run.WaitingFor.PAUSE, waiting_on=None)
    else:
        moves.release(run)


def _stands(held: Held) -> bool:
    """False while the run is still this worker's, which is then to go on. Raises FenceLost."""
    with bind(held.run.workspace_id):
        _hold_mine(held.run)
    return False


def _hold_mine(run: Run) -> Run:
    """The run as it is now, locked with its claims. Raises FenceLost when it is another's."""
    fresh = locks.hold_with_claims(run.pk)
    if fresh is None or fresh.fence != run.fence or fresh.state != Run.State.RUNNING:
        raise FenceLost(f"The run {run.pk} was ended or taken over meanwhile.")
    return fresh


def stopped(run: Run) -> Cancelled | None:
    """A stop that a person was told of holds, however the run would have ended otherwise."""
    if run.stop_requested_at is None or run.stop_reason != "cancel":
        return None
    by = run.stop_requested_by
    return Cancelled(in_words(StopReason.CANCEL, by=by.handle if by else None))


def _unread(run: Run, seen: int) -> bool:
    """Whether somebody wrote to the run behind what the agent has read."""
    theirs = RunEvent.objects.filter(run=run, seq__gt=seen)
    kinds = [Kind.STEER.value, Kind.MESSAGE.value, Kind.CHILD.value]
    return theirs.filter(kind__in=kinds).exists()


def _open_push(run: Run) -> PushRequest | None:
    """A push that was typed in a shell and still waits: its decision is what the run waits for."""
    rows = PushRequest.objects.open().filter(run_id=run.pk, approval__isnull=False)
    push: PushRequest | None = rows.order_by("number").first()
    return push


def _is_answered(run: Run, end: Parked) -> bool:
    """Whether what the run would wait for has come already."""
    if end.waiting_for == "pause":
        return False
    # Who decides before the question stands in the journal finds no call to answer; now it does.
    for approval in Approval.objects.filter(pk__in=end.ids).exclude(state=Approval.State.PENDING):
        hearing.hear(approval)
    if any(call.standing != "waiting" for call in open_calls(journal.read(run.pk))):
        return True
    if end.waiting_for != "child":
        return False
    return Run.objects.filter(pk__in=end.ids, state__in=Run.ENDED).exists()


def _record_fault(held: Held, error: Exception) -> None:
    log.exception("run %s ended by a fault of ours", held.run.pk)
    _finish(
        held,
        Finished(
            _("The run ended by a fault of Control Center (%(kind)s). What it did is kept.")
            % {"kind": type(error).__name__}
        ),
    )
