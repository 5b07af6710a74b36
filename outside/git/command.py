"""One hardened git command line: which verbs, which environment, which configuration.

GitPython stands behind this wrapper for what it does well (reading git's progress, refusing unsafe
options and protocols). Its own process handling is not used: it copies the server's whole
environment into git, reads output without a limit, and kills a child by enumerating processes
instead of by its process group.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from shutil import which

from . import names
from .credentials import Credential
from .errors import BadName, MissingGit

VERBS = frozenset(
    [
        *("cat-file", "checkout-index", "commit-tree", "diff-tree", "fetch", "for-each-ref"),
        *("index-pack", "log", "ls-files", "ls-remote", "ls-tree", "merge-base", "pack-objects"),
        *("push", "read-tree", "remote-http", "remote-https", "rev-list", "rev-parse"),
        *("update-index", "update-ref", "upload-pack", "write-tree"),
    ]
)
# Verbs whose own argument readers do not know --end-of-options (git 2.39).
_PLAIN = frozenset(
    [
        *("index-pack", "checkout-index", "read-tree", "remote-http", "remote-https"),
        *("update-index", "write-tree", "rev-parse"),
    ]
)
_UNSAFE = ["--upload-pack", "--receive-pack", "--exec", "--config", "--output", "--ext-diff"]

# Configuration that no repository can override: nothing in it names a program to run.
_CONFIG = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.askPass=",
    "core.pager=cat",
    "core.editor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.alternateRefsCommand=true",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.quotePath=false",
    "core.bigFileThreshold=16m",
    "credential.helper=",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "diff.renames=true",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.followRedirects=false",
    "http.proxy=",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "i18n.logOutputEncoding=UTF-8",
    "pack.threads=1",
    "pack.windowMemory=256m",
)
_PASSED_ON = ("PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO")


@dataclass(frozen=True, slots=True)
class Place:
    """Which git directory, work tree and index a command works on; all of them the server's own,
    but for the work tree."""

    git_dir: Path | None = None
    work_tree: Path | None = None
    index: Path | None = None

    def environment(self) -> dict[str, str]:
        # Without a directory git must not look for one around the server's own.
        found = {"GIT_DIR": str(self.git_dir or "/dev/null")}
        if self.work_tree:
            found["GIT_WORK_TREE"] = str(self.work_tree)
        if self.index:
            found["GIT_INDEX_FILE"] = str(self.index)
        return found


NOWHERE = Place()


@dataclass(frozen=True, slots=True)
class Command:
    """A verb with its options (our own literals), operands (checked) and paths (after `--`)."""

    verb: str
    options: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None
    place: Place = NOWHERE
    config: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    protocols: str = "none"
    credential: Credential | None = None

    def argv(self) -> list[str]:
        """The full command line. Raises BadName when an argument is not what its place asks for."""
        if self.verb not in VERBS:
            raise BadName(f"git {self.verb} is not on the list of allowed verbs.")
        _check_options(self.options)
        line = [program()]
        for setting in (*_CONFIG, *self.config):
            line += ["-c", setting]
        line += [self.verb, *self.options]
        if self.operands:
            line += [] if self.verb in _PLAIN else ["--end-of-options"]
            line += [names.operand(operand) for operand in self.operands]
        if self.paths is not None:
            line += ["--", *self.paths]
        return line

    def environ(self) -> dict[str, str]:
        """The whole environment of the process: nothing of the server's own secrets is in it."""
        return {
            **{name: os.environ[name] for name in _PASSED_ON if name in os.environ},
            "HOME": "/dev/null",
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": self.protocols,
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_ADVICE": "0",
            **self.place.environment(),
            **self.environment,
        }


def _check_options(options: tuple[str, ...]) -> None:
    # GitPython knows every abbreviation of an unsafe option.
    from git import Git  # starts a process at its import, so not before the first command

    for option in options:
        if not option.startswith("-") or "\0" in option:
            raise BadName(f"{names.printable(option)} is not an option.")
    Git.check_unsafe_options(list(options), _UNSAFE)


@cache
def program() -> str:
    """Where git is. Raises MissingGit."""
    found = which("git")
    if found is None:
        raise MissingGit()
    return found
