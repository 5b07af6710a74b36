"""The judge of pushes, injected by settings: what it is told, what it answers, what it hears later.

`CC_PUSH_JUDGE` names a function `(PushFacts) -> Allow | Deny | Ask`, called inside the transaction
that stores the push request, with its workspace bound. `CC_RUN_CHECK` names a function
`(workspace_id, run_id, fence) -> bool`. `CC_PUSH_SETTLED` names a function `(PushEnd) -> None`,
called inside the transaction that ends a held request, with its workspace bound.
A judge or check that is missing or fails means no.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from harness.seam import Allow, Ask, Deny, Verdict
from outside.sentences import phrase as _

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who pushes, from where. `fence` is the claim of the worker for which the push is made: one
    that has lost the run pushes nothing, however long its shell lives on."""

    workspace_id: UUID
    run_id: UUID
    conversation_id: UUID
    space_id: UUID
    agent_principal_id: UUID
    fence: int


@dataclass(frozen=True, slots=True)
class RefFacts:
    """One ref. `old` and `new` are full ids, forty zeros where there is none; `kind` is create,
    update, force or delete for branches, tag_create, tag_move or tag_delete for tags."""

    ref: str
    old: str
    new: str
    kind: str

    @property
    def rewrites(self) -> bool:
        """Whether something that the remote has would be lost."""
        return self.kind in {"force", "delete", "tag_move", "tag_delete"}


@dataclass(frozen=True, slots=True)
class CommitFacts:
    oid: str
    subject: str
    author: str
    at: datetime


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One changed path; line counts are None for binary files."""

    status: str
    path: str
    old_path: str
    added: int | None
    removed: int | None


@dataclass(frozen=True, slots=True)
class PushFacts:
    """Everything that a rule or a person decides on. `digest` covers repository, space, refs with
    old and new ids, and push options; the same digest is the same push. `warnings` are sentences
    (secrets that the commits seem to hold, workflow files, odd names)."""

    push_request_id: UUID
    number: int
    origin: Origin
    repository_id: UUID
    repository: str
    address: str
    refs: tuple[RefFacts, ...]
    push_options: tuple[str, ...]
    commits: tuple[CommitFacts, ...]
    commit_count: int
    files: tuple[FileFacts, ...]
    file_count: int
    diff: str
    diff_is_whole: bool
    warnings: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class PushEnd:
    """How a push request ended: state is forwarded, refused, cancelled, stale or failed."""

    push_request_id: UUID
    number: int
    workspace_id: UUID
    run_id: UUID
    approval_id: UUID | None
    state: str
    sentence: str
    refs: tuple[RefFacts, ...]
    repository: str


class PushJudge(Protocol):
    def __call__(self, facts: PushFacts) -> Verdict: ...


def judge(facts: PushFacts) -> Verdict:
    """The rule's answer; Deny when there is no judge or it fails."""
    try:
        verdict = _named("CC_PUSH_JUDGE")(facts)
    except ImportError:
        log.exception("no judge of pushes")
        return Deny(_("Pushes cannot be judged on this server; an operator has to look at it."))
    if not isinstance(verdict, Allow | Deny | Ask):
        raise TypeError(f"The judge of pushes answered {verdict!r}.")
    return verdict


def may_use_git(origin: Origin) -> bool:
    """Whether the run still is with the worker for which its git was set up; False when that cannot
    be found out."""
    try:
        return _named("CC_RUN_CHECK")(origin.workspace_id, origin.run_id, origin.fence) is True
    except ImportError:
        log.exception("no check of runs")
        return False


def settled(end: PushEnd) -> None:
    """Tells the room above how a push ended."""
    try:
        listener = _named("CC_PUSH_SETTLED")
    except ImportError:
        log.warning("nobody hears how pushes end")
        return
    listener(end)


def _named(setting: str) -> Callable[..., object]:
    found: Callable[..., object] = import_string(getattr(settings, setting))
    return found
