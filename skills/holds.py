"""The queue of skills that wait for an admin, and the recorded answers."""

from django.utils import timezone
from django.utils.translation import gettext as _

from workspaces import audit
from workspaces.models import Principal

from . import requests
from .models import SkillRequest

State = SkillRequest.State
MOST_NOTE = 1000


class CannotDecide(RuntimeError):
    """It was decided before, or nobody may accept it; the text is a sentence for people."""


def accept(request: SkillRequest, *, by: Principal, note: str = "") -> SkillRequest:
    """The admin takes the risk of exactly this digest and verdict, on record; the skill is being
    installed. Works on held requests, and on refused ones whose findings may be accepted
    (`is_acceptable`), which need a note. The first decision wins. Raises CannotDecide.
    """
    now = requests.fresh(request)
    _require_open(now)
    if now.state == State.REFUSED:
        _require_acceptable(now, note)
    try:
        requests.require_current(now)
    except requests.CannotRequest as error:
        raise CannotDecide(str(error)) from error
    requests.move(
        now, now.state, State.INSTALLING, decided_by=by, decided_at=timezone.now(),
        risk_accepted=True, note=note.strip()[:MOST_NOTE],
    )  # fmt: skip
    audit.record("skill.accept", actor=by, subject=now.slug, detail=_facts(now, note))
    requests.ring(requests.INSTALL, now)
    return requests.fresh(now)


def refuse(request: SkillRequest, *, by: Principal, note: str = "") -> SkillRequest:
    """The request ends as refused, on record; nothing was written. Raises CannotDecide."""
    now = requests.fresh(request)
    _require_open(now)
    requests.move(
        now, now.state, State.REFUSED, decided_by=by, decided_at=timezone.now(),
        note=note.strip()[:MOST_NOTE], sealed=b"", ended_at=timezone.now(), is_acceptable=False,
    )  # fmt: skip
    audit.record(
        "skill.refuse", actor=by, subject=now.slug, outcome="deny", detail=_facts(now, note)
    )
    return requests.fresh(now)


def _facts(request: SkillRequest, note: str) -> dict[str, object]:
    return {**requests.facts(request), "note": note.strip()[:MOST_NOTE]}


def _require_open(request: SkillRequest) -> None:
    if request.decided_at is not None:
        raise CannotDecide(
            _("%(who)s decided this already.") % {"who": request.decided_by or _("Somebody")}
        )
    if request.state not in {State.HELD, State.REFUSED} or request.ended_at is not None:
        raise CannotDecide(_("This request is not waiting for a decision."))


def _require_acceptable(request: SkillRequest, note: str) -> None:
    if not request.is_acceptable:
        raise CannotDecide(
            _("Nobody can accept this skill: its findings are faults that no reason makes good.")
        )
    if not note.strip():
        raise CannotDecide(_("Say why the risk is taken; it is recorded with your name."))
