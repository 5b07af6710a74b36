"""What can go wrong with git, each with a sentence for people."""

import re
from typing import ClassVar

from outside.sentences import phrase, phrase_noop


class GitError(Exception):
    """One family: `sentence` says what happened and what to do, `detail` is git's last words."""

    code: ClassVar[str] = "git_failed"
    default: ClassVar[str] = phrase_noop("Git could not do this.")

    def __init__(self, sentence: str = "", *, detail: str = "") -> None:
        self.sentence = sentence or phrase(self.default)
        self.detail = detail
        super().__init__(self.sentence)


class BadName(GitError):
    code = "bad_name"
    default = phrase_noop("This is not a name that git accepts.")


class BadAddress(GitError):
    code = "bad_address"
    default = phrase_noop(
        "This is not the address of a git repository. Use an https:// address such as "
        "https://github.com/owner/name."
    )


class NotFound(GitError):
    code = "not_found"
    default = phrase_noop(
        "There is no repository at this address, or it is private. Check the spelling; "
        "for a private repository add a credential that may read it."
    )


class NeedsCredential(GitError):
    code = "needs_credential"
    default = phrase_noop("This repository is private. Add a credential that may read it.")


class WrongCredential(GitError):
    code = "wrong_credential"
    default = phrase_noop(
        "The remote refused the credential. It may have expired or lack access to this repository."
    )


class Unreachable(GitError):
    code = "unreachable"
    default = phrase_noop("The remote does not answer. Check the address, or try again later.")


class Untrusted(GitError):
    code = "untrusted"
    default = phrase_noop("The remote's TLS certificate could not be verified.")


class Moved(GitError):
    code = "moved"
    default = phrase_noop("The repository has moved. Add it again under its new address.")


class NotARepository(GitError):
    code = "not_a_repository"
    default = phrase_noop("Something answers at this address, but it is not a git repository.")


class NotOwned(GitError):
    """A folder of this machine that is somebody else's: its configuration is not ours to trust."""

    code = "not_owned"
    default = phrase_noop(
        "This folder belongs to another user of the server, and git does not read those. Let the "
        "operator give it to the user that Control Center runs as, or make a copy that it owns: "
        "git clone --bare FOLDER COPY."
    )


class EmptyRepository(GitError):
    code = "empty"
    default = phrase_noop(
        "The repository has no commits yet. Push a first commit to it, then fetch again."
    )


class UnknownFormat(GitError):
    code = "unknown_format"
    default = phrase_noop(
        "The repository names its objects by SHA-256, which Control Center cannot hold yet."
    )


class TooLarge(GitError):
    code = "too_large"
    default = phrase_noop("The repository is larger than this server takes.")


class TimedOut(GitError):
    code = "timed_out"
    default = phrase_noop("Git took too long and was stopped. Nothing was changed.")


class DiskFull(GitError):
    code = "disk_full"
    default = phrase_noop(
        "The server's disk is full. Nothing was changed; free some space and try again."
    )


class Broken(GitError):
    code = "broken_transfer"
    default = phrase_noop("The connection broke in the middle of the transfer. Try again.")


class Damaged(GitError):
    code = "damaged"
    default = phrase_noop("The git directory is damaged.")


class Busy(GitError):
    code = "busy"
    default = phrase_noop(
        "Another git command is at work on this repository. Try again in a moment."
    )


class RemoteMoved(GitError):
    """The remote's ref is not where the push expected it."""

    code = "remote_moved"
    default = phrase_noop(
        "The remote has changed since this push was made. Fetch, merge and push again."
    )


class RemoteRefused(GitError):
    code = "remote_refused"
    default = phrase_noop("The remote refused the push.")


class MissingGit(GitError):
    code = "missing_git"
    default = phrase_noop("Git is not installed on this server.")


# First match wins: the more telling lines stand above the general ones that follow them.
_SIGNS: tuple[tuple[str, type[GitError]], ...] = (
    (r"No space left on device|Disk quota exceeded", DiskFull),
    (r"maximum allowed size|File too large", TooLarge),
    (r"dubious ownership", NotOwned),
    (r"Authentication failed|returned error: 401|HTTP Basic: Access denied", WrongCredential),
    (r"could not read (Username|Password)|terminal prompts disabled", NeedsCredential),
    (r"returned error: 403", WrongCredential),
    (r"returned error: 30\d|unable to update url base", Moved),
    (r"SSL certificate|certificate verif|server certificate|SSL_ERROR|gnutls_handshake", Untrusted),
    (r"Repository not found|repository '.*' not found|returned error: 404", NotFound),
    (r"does not exist|No such file or directory", NotFound),
    (r"not valid: is this a git repository|does not appear to be a git", NotARepository),
    (r"not a git repository|protocol error|invalid server response", NotARepository),
    (r"mismatched algorithms|hash algorithm|unknown object format|sha256", UnknownFormat),
    (r"Could not resolve|Failed to connect|Connection refused|timed out|unreachable", Unreachable),
    (r"returned error: 5\d\d|Empty reply", Unreachable),
    (r"early EOF|hung up unexpectedly|RPC failed|transfer closed|Connection reset", Broken),
    (r"transport '.*' not allowed|remote helper|unsupported protocol", BadAddress),
    (r"\.lock': File exists|Unable to create .*\.lock", Busy),
    (
        r"bad object|missing (blob|tree|commit)|invalid object|object corrupt|unresolved delta",
        Damaged,
    ),
)


def explain(stderr: str, *, had_credential: bool = False) -> GitError:
    """The error of the family that git's words mean."""
    detail = stderr.strip()[-2000:]
    for sign, kind in _SIGNS:
        if re.search(sign, stderr, re.IGNORECASE):
            if kind is WrongCredential and not had_credential:
                kind = NeedsCredential
            return kind(detail=detail)
    lines = [line for line in detail.splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith("fatal: ")]
    last = (fatal or lines or [""])[-1].removeprefix("fatal: ").removeprefix("error: ")
    words = phrase("Git could not do this: %(why)s") % {"why": last} if last else ""
    return GitError(words, detail=detail)
