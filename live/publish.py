"""The one door to the tabs: a plain Valkey PUBLISH after the commit.

An announcement never fails the act that makes it. While Valkey is away the topic is noted and
its tabs back-fill afterwards (`live.missed`).
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.utils import translation

from live import valkey, wire
from live.missed import missed

log = logging.getLogger(__name__)

Render = Callable[[str], str]


def publish(
    topic: str,
    kind: str,
    *,
    html: str | None = None,
    data: dict[str, Any] | None = None,
    n: int | None = None,
) -> None:
    """After the commit, or at once outside of a transaction, every tab on `topic` gets the message.

    `html` are htmx out-of-band fragments, the same bytes for every reader; `data` is small JSON.
    `n` is the topic's own number of the event (a run's seq, without gaps); a topic either always
    brings it or never, and then the room counts."""
    head = wire.head(topic, kind, html=html, data=data)
    _announce(topic, lambda: wire.send(topic, head, n))


def publish_rendered(
    topic: str,
    kind: str,
    render: Render,
    *,
    data: dict[str, Any] | None = None,
    n: int | None = None,
) -> None:
    """As `publish`, with `render(locale)` called after the commit, once for each locale that has
    a reader somewhere, with that language active. It binds its own tenancy if it reads rows.
    A render that raises is logged and its tabs are told to back-fill."""
    _announce(topic, lambda: _send_rendered(topic, kind, render, data, n))


@dataclass(frozen=True)
class Numbered:
    """One event of a series: its topic's own number, and how it is rendered; None shows nothing."""

    n: int
    kind: str
    render: Render | None = None
    data: dict[str, Any] | None = None


def publish_series(topic: str, series: Sequence[Numbered]) -> None:
    """As `publish_rendered` for the events of one commit, in their order: two round trips for all
    of them, and one where nobody reads."""
    if series:
        _announce(topic, lambda: _send_series(topic, series))


def resync(topic: str) -> None:
    """After the commit the tabs on `topic` fetch it again."""
    after_commit(lambda: _control("resync", topic))


def recheck(user_id: str) -> None:
    """After the commit every socket of that user is asked again what it may read; what it lost
    (signed out, removed, a smaller role) closes it. Call it wherever one of those happens."""
    after_commit(lambda: _control("recheck", user_id))


def cursor(topic: str) -> str:
    """The place `epoch:n` up to which a page is current that reads its rows after this call.
    Empty when nobody knows; the tab then back-fills. For topics that the room counts."""
    if missed().is_open:
        return ""
    try:
        n, epoch = wire.place(topic)
    except valkey.DOWN:
        return ""
    return f"{epoch}:{n}"


def sequence(n: int) -> str:
    """The same for a topic that brings its own numbers."""
    return f"{wire.SEQUENCE}:{n}"


def after_commit(act: Callable[[], None]) -> None:
    # Asking the connection first keeps a process without a transaction from opening one.
    if connection.in_atomic_block:
        transaction.on_commit(act, robust=True)
    else:
        act()


def _announce(topic: str, send: Callable[[], None]) -> None:
    after_commit(lambda: guarded(("resync", topic), send))


def _control(word: Any, value: str) -> None:
    control: wire.Control = (word, value)
    guarded(control, lambda: wire.send_controls([control]))


def guarded(note: wire.Control, send: Callable[[], None], *, again: bool = False) -> None:
    """Sends now. While Valkey is away `note` is kept for when it is back, or with `again` the
    sending itself."""
    later = send if again else None
    if missed().is_open:
        missed().note(note, later)
        return
    try:
        send()
    except valkey.DOWN:
        missed().note(note, later)


def _send_rendered(
    topic: str, kind: str, render: Render, data: dict[str, Any] | None, n: int | None
) -> None:
    n, epoch, locales = wire.claim(topic, n)
    heads = _rendered(topic, [(kind, render, data)], locales)
    if heads is not None:
        wire.send_rendered(topic, [(n, each) for each in heads], epoch)


def _send_series(topic: str, series: Sequence[Numbered]) -> None:
    _, epoch, locales = wire.claim(topic, series[-1].n)
    heads = _rendered(topic, [(each.kind, each.render, each.data) for each in series], locales)
    if heads is not None and locales:
        numbers = [each.n for each in series]
        wire.send_rendered(topic, list(zip(numbers, heads, strict=True)), epoch)


def _rendered(
    topic: str,
    messages: Sequence[tuple[str, Render | None, dict[str, Any] | None]],
    locales: Sequence[str],
) -> list[dict[str, str]] | None:
    """Each message as locale → bytes; None, and the tabs back-fill, when one cannot be rendered."""
    heads: list[dict[str, str]] = [{} for _ in messages]
    try:
        for locale in locales:
            with translation.override(locale):
                for (kind, render, data), head in zip(messages, heads, strict=True):
                    html = render(locale) if render else None
                    head[locale] = wire.head(topic, kind, html=html, data=data)
    except Exception:
        log.exception("a fragment for %s could not be rendered", topic.split("/")[-2:])
        wire.send_controls([("resync", topic)])
        return None
    return heads
