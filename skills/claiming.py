"""Which worker is at a request, how far it is, and how it ends when it ends badly."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from django.db import connection
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from outside import git
from outside.sentences import phrase as _
from workspaces.credentials import CannotUnseal
from workspaces.tenancy import bind

from . import fetching, requests
from .lockfile import LockUnreadable
from .models import SkillRequest
from .standing import unreadable
from .telling import Telling

log = logging.getLogger(__name__)

BEAT_SECONDS = 120  # longer than a scan may take, which says nothing meanwhile
ATTEMPTS = 3
PASSING = (git.Unreachable, git.TimedOut, git.Broken, git.DiskFull, git.Busy)
State = SkillRequest.State


class Ended(Exception):
    """The request comes to no good end. `code` names why, the text is a sentence for people.

    `is_passing`: the same may well work later, so what was looked at stays open.
    """

    def __init__(self, code: str, sentence: str, *, is_passing: bool = False) -> None:
        super().__init__(sentence)
        self.code, self.sentence, self.is_passing = code, sentence, is_passing


def claim(workspace_id: UUID, request_id: UUID, before: str, now: str) -> SkillRequest | None:
    """The row, ours to work on; None when another worker is at it, or it is past that."""
    with bind(workspace_id):
        row = SkillRequest.objects.select_for_update().filter(pk=request_id).first()
        if row is None:
            return None
        waiting = Q(state=before) if before != now else Q(state=now, percent=None)
        stuck = Q(state__in=_states_of(now)) & is_stuck()
        mine = SkillRequest.objects.filter(pk=request_id).filter(waiting | stuck)
        if row.attempts >= ATTEMPTS:
            mine.update(
                state=State.FAILED, error_code="interrupted", ended_at=timezone.now(), sealed=b"",
                error=_("The server was interrupted %(n)s times while it worked on this skill.")
                % {"n": ATTEMPTS},
            )  # fmt: skip
            requests.announce(workspace_id, request_id)
            return None
        if not mine.update(
            state=now, beat_at=Now(), percent=0, stage="", attempts=F("attempts") + 1,
            fence=F("fence") + 1,
        ):  # fmt: skip
            return None
        requests.announce(workspace_id, request_id)
        found: SkillRequest = SkillRequest.objects.select_related(
            "source__credential", "skill", "requested_by", "decided_by"
        ).get(pk=request_id)
    give_back()
    return found


def _states_of(now: str) -> tuple[str, ...]:
    return (State.FETCHING, State.SCANNING) if now == State.FETCHING else (now,)


def step(request: SkillRequest, state: str, stage: str) -> None:
    """The request is at the next state now. Raises Ended when it was stopped."""
    with bind(request.workspace_id):
        if not _mine(request).update(state=state, stage=stage, beat_at=Now()):
            raise _stopped()
        requests.announce(request.workspace_id, request.pk)
    give_back()


def held(request: SkillRequest) -> SkillRequest:
    """The row as it is now, locked until the transaction ends. Raises Ended when it is not ours any
    more: it was stopped, or given to another worker."""
    now = requests.fresh(request)
    if not now.is_working or now.fence != request.fence:
        raise _stopped()
    return now


@contextmanager
def settling(request: SkillRequest) -> Iterator[None]:
    """Within: whatever goes wrong ends in the row, with nothing written."""
    try:
        yield
    except Ended as end:
        _settle(request, end)
    except git.GitError as error:
        log.warning("%s of %s: %s", request.pk, request.source_name, error.code)
        _settle(request, Ended(error.code, error.sentence, is_passing=isinstance(error, PASSING)))
    except fetching.NotOffered as error:
        _settle(request, Ended("not_offered", error.sentence))
    except CannotUnseal as error:
        _settle(request, Ended("sealed", str(error)))
    except requests.CannotRequest as error:
        _settle(request, Ended("changed", str(error)))
    except LockUnreadable as error:
        _settle(request, Ended("lock", unreadable(error), is_passing=True))
    except OSError as error:
        log.warning("%s cannot be written: %s", request.pk, error.strerror)
        _settle(request, Ended("disk", disk_sentence(error), is_passing=True))
    except MemoryError:
        _settle(request, Ended("too_large", _("The skill is too large for this server's memory.")))
    except Exception:
        _settle(
            request, Ended("error", _("Something went wrong on the server. Nothing was written."))
        )
        raise
    finally:
        give_back()


def disk_sentence(error: OSError) -> str:
    return _("The skill could not be written: %(why)s. Nothing was changed; try again.") % {
        "why": error.strerror or type(error).__name__
    }


def _settle(request: SkillRequest, end: Ended) -> None:
    with bind(request.workspace_id):
        now = requests.fresh(request)
        if not now.is_working or now.fence != request.fence:
            return
        said = {"error": end.sentence, "error_code": end.code, "percent": None}
        if end.is_passing and now.state == State.INSTALLING:
            back = State.HELD if now.risk_accepted else State.PREVIEWED
            requests.move(
                now, now.state, back, risk_accepted=False, decided_by=None, decided_at=None,
                attempts=0, **said,
            )  # fmt: skip
            return
        state = State.CANCELLED if end.code == "up_to_date" else State.FAILED
        requests.move(now, now.state, state, **said)


def telling(request: SkillRequest) -> Telling:
    """Says how far it is and that a worker lives. Raises TimedOut when it was stopped."""

    def write(stage: str, percent: int | None) -> None:
        with bind(request.workspace_id):
            # A worker is at it: never None.
            if not _mine(request).update(stage=stage, percent=percent or 0, beat_at=Now()):
                raise git.TimedOut(_("The request was stopped."))
            requests.announce(request.workspace_id, request.pk)
        give_back()

    return Telling(write)


def is_stuck() -> Q:
    """Rows whose worker has not been heard of; a clock that was set back does not save them."""
    away = timedelta(seconds=BEAT_SECONDS)
    return Q(beat_at__lt=Now() - away) | Q(beat_at__gt=Now() + away)


def _mine(request: SkillRequest) -> QuerySet[SkillRequest]:
    """The row, as long as it is at work under the claim that `request` was given with."""
    rows: QuerySet[SkillRequest] = SkillRequest.objects.filter(
        pk=request.pk, fence=request.fence, state__in=SkillRequest.WORKING
    )
    return rows


def _stopped() -> Ended:
    return Ended("stopped", _("The request was stopped."))


def give_back() -> None:
    """The connection returns to the pool, unless a transaction of the caller's is open."""
    if not connection.in_atomic_block:
        connection.close()
