"""Sees in which checkout an agent writes, whatever executes it: every adapter's events pass here.

A tool that writes says where. After a command, or what a foreign agent did by itself, the files are
looked at, before and after. Reading changes nothing. With one checkout there is nothing to see.
"""

import logging
from collections.abc import Mapping, Sequence

from harness.events import Delta, Event, Kind
from harness.seam import EventSink, Root
from outside import git

from .shelf import Shelf

log = logging.getLogger(__name__)

WRITES = frozenset({"write", "edit"})
COMMITS = frozenset({"git_commit"})
BEGINS = frozenset({"bash"})  # changes files between its start and its result
QUIET = frozenset({"read", "glob", "grep", "todo", "ask_user", "skill", "git_push"})
Looks = Mapping[str, str]


class Watcher:
    """The run's sink, and what was written since it was asked last."""

    def __init__(self, sink: EventSink, shelf: Shelf, roots: Sequence[Root], *, foreign: bool):
        self._sink, self._shelf = sink, shelf
        self._roots = [root for root in roots if root.checkout is not None]
        self._is_foreign = foreign
        self._leaves_shells = False
        self._looks: Looks = self._look() if foreign and self._has_choice else {}

    @property
    def _has_choice(self) -> bool:
        return len(self._roots) > 1

    def record(self, *events: Event) -> int:
        last = self._sink.record(*events)
        if self._has_choice:
            for event in events:
                self._see(event)
        return last

    def delta(self, delta: Delta) -> None:
        self._sink.delta(delta)

    def arrived(self) -> Sequence[Event]:
        return self._sink.arrived()

    def _see(self, event: Event) -> None:
        if event.kind is Kind.TOOL_START and event.data["name"] in BEGINS:
            # What another agent of the conversation changed before is not this command's doing;
            # where commands run on in the background nobody can tell any more.
            if not (self._leaves_shells and self._looks):
                self._looks = self._look()
        elif event.kind is Kind.TOOL_RESULT:
            self._result(event)
        elif event.kind is Kind.USAGE and self._is_foreign:
            self._compare()

    def _result(self, event: Event) -> None:
        name, detail = event.data["name"], event.data.get("detail") or {}
        if name in WRITES:
            if place := _checkout_of(str(detail.get("path", ""))):
                self._shelf.wrote([place])
        elif name in COMMITS:
            if place := str(detail.get("repository", "")):
                self._shelf.wrote([place])
        elif name not in QUIET:
            self._leaves_shells |= bool(detail.get("shell"))
            self._compare()

    def _compare(self) -> None:
        """Files that look otherwise than before were written."""
        before, self._looks = self._looks, self._look()
        changed = [
            name for name, look in self._looks.items() if name in before and before[name] != look
        ]
        if changed:
            self._shelf.wrote(changed)

    def _look(self) -> Looks:
        return {root.name: look for root in self._roots if (look := _look_of(root))}


def _look_of(root: Root) -> str:
    assert root.checkout is not None
    try:
        return git.look_of(root.checkout)
    except (git.GitError, OSError) as error:
        log.warning("%s cannot be looked at: %s", root.name, error)
        return ""


def _checkout_of(path: str) -> str:
    """The checkout that a path of a tool's result lies in, "" for the agent's own files."""
    folder, _, rest = path.partition("/")
    return rest.partition("/")[0] if folder == "repos" else ""
