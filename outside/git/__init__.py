"""The one module that runs git.

    from outside import git

    git.probe(remote, guard=guard)              look at a remote
    git.fetch_mirror(mirror, remote, guard=…)   bring it into a bare mirror
    git.make_checkout(checkout, branch=…, …)    lay out a conversation's checkout
    git.status / diff / log / commit(checkout)  work with it
    git.quarantine(…), git.inspect(…)           read what an agent wants to push
    git.forward(…)                              move refs on the remote, from exactly old to new

Errors are `git.GitError` and its family; each has a `sentence` for people.
"""

from .addresses import Remote, normal
from .checkouts import (
    Checkout,
    branch_tip,
    condition,
    head,
    make_checkout,
    mend,
    note_remote_ref,
)
from .command import Place
from .credentials import Credential
from .errors import (
    BadAddress,
    BadName,
    Broken,
    Busy,
    Damaged,
    DiskFull,
    EmptyRepository,
    GitError,
    MissingGit,
    Moved,
    NeedsCredential,
    NotARepository,
    NotFound,
    NotOwned,
    RemoteMoved,
    RemoteRefused,
    TimedOut,
    TooLarge,
    UnknownFormat,
    Unreachable,
    Untrusted,
    WrongCredential,
)
from .history import Change, Commit, Diff, added_lines_log, exists
from .names import ZERO, printable
from .names import oid as check_oid
from .names import ref as check_ref
from .packs import Inspected, inspect, quarantine, write_pack
from .process import Progress, directory_bytes
from .remotes import (
    Forwarded,
    Probe,
    RefUpdate,
    absorb,
    fetch_mirror,
    forward,
    mirrored,
    probe,
)
from .serving import serving_path, serving_view, upload_pack
from .trees import blobs, has_commit, listing, look_of, readable
from .work import (
    Identity,
    NothingToCommit,
    Unfinished,
    builds_on,
    commit,
    diff,
    log,
    snapshot,
    status,
)
from .worktrees import is_untouched, make_worktree, remove_worktree, worktree_of

__all__ = [
    "ZERO",
    "BadAddress",
    "BadName",
    "Broken",
    "Busy",
    "Change",
    "Checkout",
    "Commit",
    "Credential",
    "Damaged",
    "Diff",
    "DiskFull",
    "EmptyRepository",
    "Forwarded",
    "GitError",
    "Identity",
    "Inspected",
    "MissingGit",
    "Moved",
    "NeedsCredential",
    "NotARepository",
    "NotFound",
    "NotOwned",
    "NothingToCommit",
    "Place",
    "Probe",
    "Progress",
    "RefUpdate",
    "Remote",
    "RemoteMoved",
    "RemoteRefused",
    "TimedOut",
    "TooLarge",
    "Unfinished",
    "UnknownFormat",
    "Unreachable",
    "Untrusted",
    "WrongCredential",
    "absorb",
    "added_lines_log",
    "blobs",
    "branch_tip",
    "builds_on",
    "check_oid",
    "check_ref",
    "commit",
    "condition",
    "diff",
    "directory_bytes",
    "exists",
    "fetch_mirror",
    "forward",
    "has_commit",
    "head",
    "inspect",
    "is_untouched",
    "listing",
    "log",
    "look_of",
    "make_checkout",
    "make_worktree",
    "mend",
    "mirrored",
    "normal",
    "note_remote_ref",
    "printable",
    "probe",
    "quarantine",
    "readable",
    "remove_worktree",
    "serving_path",
    "serving_view",
    "snapshot",
    "status",
    "upload_pack",
    "worktree_of",
    "write_pack",
]
