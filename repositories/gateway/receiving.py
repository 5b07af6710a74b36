"""One push over HTTP: taken to disk, judged, held for a while, reported ref by ref."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.translation import gettext as _

from outside import git
from repositories import places, push_requests, pushing, submitting
from repositories.submitting import Push, RefOutcome

from . import pktline, tokens, web
from .pktline import Commands
from .spool import Spool, Spooled
from .tokens import Grant

log = logging.getLogger(__name__)

RESULT = "application/x-git-receive-pack-result"
KEEP_ALIVE_SECONDS = 5.0
POLL_SECONDS = 0.5
FORWARDING_SECONDS = 120.0


async def receive_pack(request: web.Request, grant: Grant, send: web.Send) -> None:
    """Answers the POST of a push. Raises spool.Gone or spool.Refused before it has answered."""
    spool = Spool(places.pushes(grant.origin.workspace_id), is_gzip=request.is_gzip)
    spooled = await spool.take(request.body())
    try:
        if spooled.commands.is_probe and not spooled.problem:
            await web.answer(send, 200, b"", RESULT)
            return
        await web.begin(send, 200, RESULT)
        talk = _Talk(send, spooled.commands)
        try:
            outcomes = await _outcomes(spooled, grant, talk)
        except submitting.NotHere as error:
            outcomes = _all(spooled.commands.updates, str(error))
        except Exception:  # the edge of a socket: git must hear of it, and nothing has left
            log.exception("a push could not be judged")
            words = _("The server could not judge this push; nothing has left. Try again later.")
            outcomes = _all(spooled.commands.updates, words)
        await talk.report(outcomes)
    finally:
        spooled.path.unlink(missing_ok=True)


@dataclass(slots=True)
class _Talk:
    """The answer of a push: words while it waits, the report at the end."""

    send: web.Send
    commands: Commands
    _spoken: float = field(default_factory=time.monotonic)

    @property
    def has_bands(self) -> bool:
        return "side-band-64k" in self.commands.capabilities

    async def say(self, text: str) -> None:
        """Shows up as `remote: Control Center: …` while git waits."""
        lines = "".join(f"Control Center: {line}\n" for line in text.splitlines() if line)
        await self._words(pktline.side(2, lines.encode()))

    async def keep_alive(self) -> None:
        if time.monotonic() - self._spoken > KEEP_ALIVE_SECONDS:
            await self._words(pktline.KEEP_ALIVE)

    async def report(self, outcomes: Sequence[RefOutcome]) -> None:
        """Says the reasons in full, then the report with the short ones."""
        for sentence in dict.fromkeys(_sentence(each) for each in outcomes):
            await self.say(sentence)
        results = [(each.ref, _short(each)) for each in outcomes]
        if "report-status" in self.commands.capabilities:
            report = pktline.report(results)
            await web.piece(self.send, pktline.side(1, report) if self.has_bands else report)
        if self.has_bands:
            await web.piece(self.send, pktline.FLUSH)
        await web.finish(self.send)

    async def _words(self, content: bytes) -> None:
        self._spoken = time.monotonic()
        if self.has_bands:
            await web.piece(self.send, content)


async def _outcomes(spooled: Spooled, grant: Grant, talk: _Talk) -> list[RefOutcome]:
    commands = spooled.commands
    if problem := spooled.problem or _refusal(commands):
        return _all(commands.updates, problem)
    try:
        await web.in_thread(tokens.require_run, grant)
    except tokens.BadToken as error:
        return _all(commands.updates, str(error))
    push = Push(
        origin=grant.origin,
        repository=grant.repository,
        updates=tuple(commands.updates),
        pack=spooled.path if commands.has_pack else None,
        pack_bytes=spooled.size,
        pack_digest=spooled.digest,
        push_options=tuple(commands.push_options),
        is_atomic="atomic" in commands.capabilities,
    )
    await talk.say(_("looking at the push of %(what)s") % {"what": _names(commands.updates)})
    work = asyncio.create_task(web.in_thread(submitting.submit, push))
    while not (await asyncio.wait({work}, timeout=KEEP_ALIVE_SECONDS))[0]:
        await talk.keep_alive()
    return await _hold(grant, work.result(), talk)


async def _hold(grant: Grant, outcomes: list[RefOutcome], talk: _Talk) -> list[RefOutcome]:
    """Waits for the decisions, for as long as a git client may be kept waiting."""
    numbers = sorted({each.number for each in outcomes if each.is_open and each.number})
    if numbers:
        which = ", ".join(map(str, numbers))
        await talk.say(_("the push is held: request %(n)s waits for a decision.") % {"n": which})
    started = time.monotonic()
    while _is_worth_waiting(outcomes, time.monotonic() - started):
        await asyncio.sleep(POLL_SECONDS)
        await talk.keep_alive()
        outcomes = await web.in_thread(pushing.standing, grant.origin, outcomes)
    return outcomes


def _is_worth_waiting(outcomes: Sequence[RefOutcome], waited: float) -> bool:
    limit = settings.PUSH_HOLD_SECONDS
    held = push_requests.State.HELD
    return any(
        waited < (limit if each.state == held else limit + FORWARDING_SECONDS)
        for each in outcomes
        if each.is_open
    )


def _refusal(commands: Commands) -> str:
    if commands.is_shallow:
        return _("Pushes from shallow clones are not taken; run git fetch --unshallow first.")
    names = [update.name for update in commands.updates]
    if len(set(names)) != len(names):
        return _("The push names a ref twice.")
    return ""


def _all(updates: Sequence[git.RefUpdate], sentence: str) -> list[RefOutcome]:
    refused = push_requests.State.REFUSED
    return [RefOutcome(update.name, refused, sentence) for update in updates]


def _names(updates: Sequence[git.RefUpdate]) -> str:
    shown = [git.printable(u.name.removeprefix("refs/heads/")) for u in updates[:5]]
    return ", ".join(shown) + ("…" if len(updates) > 5 else "")


def _short(outcome: RefOutcome) -> str:
    """The reason that git prints beside the ref; empty when the remote has it."""
    if outcome.is_done:
        return ""
    if outcome.is_open:
        return f"held, request {outcome.number}"
    return git.printable(outcome.sentence.splitlines()[0]) if outcome.sentence else outcome.state


def _sentence(outcome: RefOutcome) -> str:
    if outcome.state == push_requests.State.HELD:
        return _(
            "request %(n)s still waits for a decision. It is forwarded by itself once it is"
            " approved, and you are told. Do not push again."
        ) % {"n": outcome.number}
    if outcome.is_open:
        return _("request %(n)s is approved and on its way. Do not push again.") % {
            "n": outcome.number
        }
    return outcome.sentence
