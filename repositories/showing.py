"""A push request as a page shows it: refs, commits, warnings, and its diff in pages."""

import re
from dataclasses import dataclass
from typing import Any

from outside import git
from outside.sentences import unpack
from workspaces.sentences import translated

from . import places, push_requests
from .models import PushRequest, Repository

FILES_A_PAGE = 20
_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)

# The look's names of states, where they differ from ours.
REPOSITORY_MARKS = {"fetching": "running", "removing": "cancelled"}
PUSH_MARKS = {
    "forwarding": "running",
    "forwarded": "succeeded",
    "refused": "denied",
    "stale": "warning",
}


@dataclass(frozen=True, slots=True)
class ShownRef:
    """A ref as ui/refs.html draws it; an id that is not there is empty."""

    name: str
    old: str
    new: str
    created: bool
    deleted: bool
    force: bool


def mark_of(row: PushRequest | Repository) -> str:
    """The name of the state by which the look knows its mark and colour."""
    marks = PUSH_MARKS if isinstance(row, PushRequest) else REPOSITORY_MARKS
    return marks.get(row.state, row.state)


def refs(request: PushRequest) -> list[ShownRef]:
    """The refs of the push, as people read them."""
    return [
        ShownRef(
            name=push_requests.refs_in_words([fact]),
            old="" if fact.old == git.ZERO else fact.old,
            new="" if fact.new == git.ZERO else fact.new,
            created=fact.old == git.ZERO,
            deleted=fact.new == git.ZERO,
            force=fact.kind in {"force", "tag_move"},
        )
        for fact in push_requests.facts_of(request)
    ]


def parts(request: PushRequest) -> dict[str, Any]:
    """What a fragment needs besides the request itself. Reads no file."""
    summary = request.summary
    commits = [
        {"sha": each["oid"], "title": each["subject"], "author": each["author"]}
        for each in summary.get("commits", [])[:MOST_COMMITS]
    ]
    return {
        "refs": refs(request),
        "commits": commits,
        "hidden_commits": summary.get("commit_count", 0) - len(commits),
        "commit_count": summary.get("commit_count", 0),
        "file_count": summary.get("file_count", 0),
        "warnings": [translated(unpack(words)) for words in summary.get("warnings", [])],
        "push_options": request.push_options,
        "mark": mark_of(request),
    }


MOST_COMMITS = 50


def diff_of(request: PushRequest) -> str:
    """The diff that was stored when the push came; "" when it is gone."""
    try:
        return places.diff_file(request).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


@dataclass(frozen=True, slots=True)
class DiffPage:
    """Some files of a diff. Counts from one; `hidden` files stand on other pages."""

    text: str
    number: int
    pages: int
    files: int

    @property
    def hidden(self) -> int:
        shown = len(split(self.text))
        return self.files - shown


def diff_page(request: PushRequest, number: int) -> DiffPage:
    """The files of one page; a number outside is brought inside."""
    files = split(diff_of(request))
    pages = max(1, -(-len(files) // FILES_A_PAGE))
    number = min(max(1, number), pages)
    chosen = files[(number - 1) * FILES_A_PAGE : number * FILES_A_PAGE]
    return DiffPage("".join(chosen), number, pages, len(files))


def split(diff: str) -> list[str]:
    """A unified diff cut into its files."""
    return [part for part in _FILE.split(diff) if part.startswith("diff --git ")]
