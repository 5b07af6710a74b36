"""The push desk of a run: the `git_push` tool's way to the push gateway, without HTTP."""

from harness.seam import Forwarded, Held, PushAnswer, PushWish, Refused
from repositories.pushing import push_from_checkout
from repositories.submitting import NotHere

from . import workplace
from .models import Run


class Desk:
    """Judges and forwards the pushes of one run."""

    def __init__(self, run: Run) -> None:
        self.origin = workplace.origin(run)

    def request(self, wish: PushWish) -> PushAnswer:
        """Held with its approval, forwarded, or refused with a sentence."""
        try:
            outcomes = push_from_checkout(
                self.origin, wish.repository, refspecs=wish.refspecs, force=wish.force
            )
        except NotHere as error:
            return Refused(str(error))
        held = next((each for each in outcomes if each.is_open and each.approval_id), None)
        if held is not None:
            return Held(str(held.approval_id), held.sentence)
        sentence = " ".join(each.sentence for each in outcomes if each.sentence)
        if outcomes and all(each.is_done for each in outcomes):
            return Forwarded(sentence)
        return Refused(sentence)
