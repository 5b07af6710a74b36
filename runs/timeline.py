"""A conversation as a page shows it: messages and runs in the order in which they began."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from spaces.models import Conversation, Message

from . import transcript, window

PAGE = 60


@dataclass(frozen=True, slots=True)
class Item:
    """A message, or a run with what its fragment is rendered from."""

    at: datetime
    id: UUID
    message: Message | None = None
    run: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of a conversation. `earlier` is the n to ask for what came before; 0 at the start."""

    items: list[Item]
    earlier: int
    last_n: int


def read(conversation: Conversation, *, before: int = 0, after: int = 0) -> Timeline:
    """The newest page, the one before message `before`, or all behind message `after`.

    A run stands where its message stands; the words that close a run are in its transcript.
    """
    rows = Message.objects.filter(conversation=conversation).select_related("author")
    rows = rows.prefetch_related("mentions__principal")
    if after:
        messages = list(rows.filter(n__gt=after).order_by("n"))
    else:
        rows = rows.filter(n__lt=before) if before else rows
        messages = list(reversed(rows.order_by("-n")[:PAGE]))
    first = messages[0] if messages else None
    is_start = first is None or first.n == 1
    runs = window.shown_runs().filter(conversation=conversation, parent=None)
    if after or not is_start:
        runs = runs.filter(queued_at__gte=first.created_at) if first else runs.none()
    if before and messages:
        runs = runs.filter(queued_at__lt=_moment_of(conversation, before))
    items = [Item(m.created_at, m.pk, message=m) for m in messages if not _closes_a_run(m)]
    shown = list(runs.order_by("queued_at"))
    windows = window.read_many(shown)
    items += [
        Item(run.queued_at, run.pk, run=window.context(run, windows[run.pk])) for run in shown
    ]
    items.sort(key=lambda item: (item.at, item.id))
    return Timeline(
        items,
        earlier=0 if is_start or after else first.n if first else 0,
        last_n=messages[-1].n if messages else after,
    )


def below(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same of the subagents that these runs started, and of theirs. No query without any."""
    found: list[dict[str, Any]] = []
    level = runs
    while keys := {
        entry.outcome.child.run_id
        for context in level
        for entry in context["entries"]
        if entry.outcome and entry.outcome.child
    }:
        rows = list(window.shown_runs().filter(pk__in=keys))
        windows = window.read_many(rows)
        level = [window.context(run, windows[run.pk]) for run in rows]
        found += level
    return found


def changes(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The files that these runs changed, by path, with the lines added and removed."""
    files: dict[str, dict[str, Any]] = {}
    for context in runs:
        for entry in context["entries"]:
            detail = entry.outcome.detail if entry.outcome else {}
            if not detail.get("diff"):
                continue
            path = detail.get("path") or next(iter(detail.get("paths", [])), "")
            file = files.setdefault(path, {"path": path, "added": 0, "removed": 0})
            added, removed = transcript.count_lines(detail["diff"])
            file["added"] += added
            file["removed"] += removed
    return sorted(files.values(), key=lambda file: file["path"])


def _closes_a_run(message: Message) -> bool:
    return message.run_id is not None and message.kind == Message.Kind.TEXT


def _moment_of(conversation: Conversation, n: int) -> datetime:
    moments = Message.objects.filter(conversation=conversation, n=n)
    return moments.values_list("created_at", flat=True).first() or conversation.created_at
