"""Executing a run: claim it, hand it to its adapter, write down how it ended.

A run is claimed by compare-and-set; from then on every write carries the fence of that claim. How
the adapter ends it is an exception of one family; anything else is a bug, recorded as such.
"""

import logging
import shutil
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from agents.models import Agent
from harness.errors import Cancelled, Completed, DiskFull, Finished, Parked, Released
from harness.events import Kind
from harness.seam import Ports
from harness.stop import Stop
from repositories.checkouts import CheckoutFailed
from spaces import posting
from workspaces.tenancy import bind

from . import briefing, broadcast, claims, journal, queue, workplace
from .adapters import UnknownAdapter, adapter_of
from .desk import Desk
from .gatekeeper import Gatekeeper
from .journal import FenceLost
from .keeper import keeper, owner
from .liveness import Health, liveness
from .models import Run, RunCursor, RunEvent
from .shelf import Shelf
from .sink import JournalSink

log = logging.getLogger(__name__)

CLAIM = """
UPDATE runs_run SET state = 'running', attempt = attempt + 1, fence = fence + 1,
    lease_owner = %s, lease_until = clock_timestamp() + make_interval(secs => %s),
    started_at = coalesce(started_at, clock_timestamp()), waiting_for = '', waiting_on = NULL,
    stop_requested_at = NULL, pause_requested_at = NULL, stop_reason = ''
WHERE id = %s AND state = 'queued' RETURNING fence
"""


def execute(workspace_id: UUID, run_id: UUID) -> None:
    """Executes the run unless it is somebody else's, has ended, or this process is closing."""
    if keeper.is_closing:
        return
    run = claim(workspace_id, run_id)
    connection.close()
    if run is None:
        return
    with keeper.holding(run) as stop:
        try:
            while not _drive(run, stop):
                pass
        except (FenceLost, Released) as end:
            log.info("run %s is released: %s", run.pk, end)
            _release(run)
        finally:
            connection.close()


def claim(workspace_id: UUID, run_id: UUID) -> Run | None:
    """The run as this worker's, or None when it was not there to be had."""
    with bind(workspace_id):
        with connection.cursor() as cursor:
            cursor.execute(CLAIM, [owner(), settings.LEASE_SECONDS, run_id])
            row = cursor.fetchone()
        if row is None:
            return None
        RunCursor.objects.filter(run_id=run_id).update(fence=row[0], last_output_at=Now())
        run = (
            Run.objects.select_related(
                "agent__principal",
                "agent__reports_to",
                "conversation__space",
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


def _drive(run: Run, stop: Stop) -> bool:
    """One stretch of the run; False when it is to go on at once."""
    try:
        _work(run, stop)
    except Finished as end:
        return _finish(run, end)
    except Parked as end:
        return _park(run, end)
    except (FenceLost, Released):
        raise
    except Exception as error:
        log.exception("run %s ended by a fault of ours", run.pk)
        _finish(run, _fault(error))
        raise
    return True


def _work(run: Run, stop: Stop) -> None:
    with bind(run.workspace_id):
        _require_dispatchable(run)
        brief = briefing.read(run)
        try:
            adapter = adapter_of(run.adapter)
        except UnknownAdapter as error:
            raise Finished(str(error)) from error
        Run.objects.filter(pk=run.pk, fence=run.fence).update(model=brief.model)
    connection.close()
    _require_space()
    try:
        roots, directory = workplace.prepare(run)
    except CheckoutFailed as error:
        raise Finished(str(error)) from error
    with bind(run.workspace_id):
        history = journal.read(run.pk)
        spec = briefing.spec(run, brief, roots, directory)
    connection.close()
    seen = history[-1].seq or 0 if history else 0
    sink = JournalSink(run, stop=stop, seen=seen)
    ports = Ports(
        gate=Gatekeeper(run, roots),
        sink=sink,
        stop=stop,
        push_desk=Desk(run),
        shelf=Shelf(run),
    )
    try:
        adapter.run(spec, history, ports)
    finally:
        sink.close()


def _require_dispatchable(run: Run) -> None:
    agent = Agent.objects.get(pk=run.agent_id)
    if not agent.is_dispatchable:
        raise Cancelled(
            _("@%(name)s was %(lifecycle)s before the run went on.")
            % {"name": agent.name, "lifecycle": agent.get_lifecycle_display().lower()}
        )


def _require_space() -> None:
    folder = settings.DATA_DIR
    if folder.exists() and shutil.disk_usage(folder).free < settings.DISK_RESERVE_BYTES:
        raise DiskFull(
            _(
                "The server's disk is full. What the run did so far is kept; ask again when an "
                "operator has made room."
            )
        )


def _finish(run: Run, end: Finished) -> bool:
    """Writes the end down. False when somebody said something that the agent has not read yet."""
    with bind(run.workspace_id):
        RunCursor.objects.select_for_update().get(run=run)
        if isinstance(end, Completed) and _unread(run, end.seen):
            return False
        ended = Run.objects.filter(pk=run.pk, fence=run.fence, state=Run.State.RUNNING).update(
            state=end.state,
            terminal_reason=end.reason.value,
            summary=end.summary,
            liveness=_final_liveness(run, end),
            ended_at=timezone.now(),
            lease_owner="",
            lease_until=None,
            stop_requested_at=None,
            **_spent(run),
        )
        if not ended:
            raise FenceLost(f"The run {run.pk} was ended or taken over meanwhile.")
        journal.record(run, [end.event()], fence=run.fence, is_output=False)
        if end.state == Run.State.SUCCEEDED and end.summary.strip():
            posting.post(
                run.conversation,
                author=run.agent.principal,
                body=end.summary[: posting.MAX_CHARACTERS],
                run_id=run.pk,
            )
        claims.release_claims(run)
        broadcast.state(run.pk, run.workspace_id)
    return True


def _unread(run: Run, seen: int) -> bool:
    """Whether somebody wrote to the run behind what the agent has read."""
    theirs = RunEvent.objects.filter(run=run, seq__gt=seen)
    return theirs.filter(kind__in=[Kind.STEER.value, Kind.MESSAGE.value]).exists()


def _park(run: Run, end: Parked) -> bool:
    """The slot is free until a decision, a child or a person. False when it is there already."""
    with bind(run.workspace_id):
        RunCursor.objects.select_for_update().get(run=run)
        if _already_answered(run, end):
            return False
        parked = Run.objects.filter(pk=run.pk, fence=run.fence, state=Run.State.RUNNING).update(
            state=Run.State.PARKED,
            waiting_for=end.waiting_for,
            waiting_on=end.ids[0] if end.ids else None,
            liveness="blocked" if end.waiting_for in {"approval", "person"} else "alive",
            lease_owner="",
            lease_until=None,
            pause_requested_at=None,
            **_spent(run),
        )
        if not parked:
            raise FenceLost(f"The run {run.pk} was ended or taken over meanwhile.")
        broadcast.state(run.pk, run.workspace_id)
    return True


def _already_answered(run: Run, end: Parked) -> bool:
    decided = RunEvent.objects.filter(run=run, kind=Kind.APPROVAL.value, data__phase="decided")
    if end.waiting_for == "approval":
        return bool(end.ids) and decided.filter(data__approval_id__in=end.ids).exists()
    if end.waiting_for == "person":
        question = (
            RunEvent.objects.filter(run=run, kind=Kind.MESSAGE.value, data__role="agent")
            .order_by("-seq")
            .first()
        )
        answers = RunEvent.objects.filter(
            run=run,
            kind__in=[Kind.STEER.value, Kind.MESSAGE.value],
            seq__gt=question.seq if question else 0,
        ).exclude(data__role="agent")
        return question is not None and answers.exists()
    return False


def _release(run: Run) -> None:
    """Gives an unfinished run back, so that another worker goes on from its journal."""
    with bind(run.workspace_id):
        moved = Run.objects.filter(pk=run.pk, fence=run.fence, state=Run.State.RUNNING).update(
            state=Run.State.QUEUED, lease_owner="", lease_until=None, fence=F("fence") + 1
        )
        if moved:
            RunCursor.objects.filter(run=run).update(fence=F("fence") + 1)
            broadcast.state(run.pk, run.workspace_id)
            queue.ring(run)


def _fault(error: Exception) -> Finished:
    return Finished(
        _("The run ended by a fault of Control Center (%(kind)s). What it did is kept.")
        % {"kind": type(error).__name__}
    )


def _final_liveness(run: Run, end: Finished) -> str:
    has_output = RunEvent.objects.filter(run=run, kind__in=["text", "tool_result"]).exists()
    return liveness(
        Health(state=end.state, terminal_reason=end.reason.value, has_output=has_output)
    )


def _spent(run: Run) -> dict[str, int]:
    """The sums of the run's usage events, as columns of its row."""
    sums = dict.fromkeys(
        ["input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"], 0
    )
    cost = 0
    for data in RunEvent.objects.filter(run=run, kind=Kind.USAGE.value).values_list(
        "data", flat=True
    ):
        for column in sums:
            sums[column] += data.get(column) or 0
        cost += data.get("cost_microusd") or 0
    return {**sums, "cost_microusd": cost}
