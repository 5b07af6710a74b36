"""The queue of skills that wait for an admin, and the recorded answers."""

from workspaces.models import Principal

from .models import SkillRequest


class CannotDecide(RuntimeError):
    """It was decided before, or nobody may accept it; the text is a sentence for people."""


def accept(request: SkillRequest, *, by: Principal, note: str = "") -> SkillRequest:
    """The admin takes the risk of exactly this digest and verdict, on record; the skill is being
    installed. Works on held requests, and on refused ones whose findings may be accepted
    (`is_acceptable`), which need a note. The first decision wins. Raises CannotDecide.
    """
    raise NotImplementedError


def refuse(request: SkillRequest, *, by: Principal, note: str = "") -> SkillRequest:
    """The request ends as refused, on record; nothing was written. Raises CannotDecide."""
    raise NotImplementedError
