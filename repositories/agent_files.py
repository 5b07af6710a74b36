"""Gathering the agent files of a repository at one commit, or of a folder, for an import."""

import logging
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from agents import importing
from agents.definitions import DefinitionImport
from outside import git
from outside.egress import Guard
from outside.egress.guard import Refused
from outside.git.memory import Entry, Session, reading
from workspaces.credentials import CannotUnseal
from workspaces.tenancy import bind

from . import reach
from .connections import give_back
from .models import Repository

log = logging.getLogger(__name__)
State = DefinitionImport.State
_FILES = (0o100644, 0o100755)


def gather(workspace_id: UUID, import_id: UUID) -> None:
    """The files wait to be confirmed, or the import says why they cannot be had. Twice is once."""
    with bind(workspace_id):
        waiting = DefinitionImport.objects.filter(pk=import_id, state=State.QUEUED)
        if not waiting.update(state=State.READING, begun_at=timezone.now()):
            return
        row: DefinitionImport = DefinitionImport.objects.get(pk=import_id)
    give_back()
    try:
        files, left_out = _gather(row)
    except (git.GitError, Refused) as error:
        log.warning("agent files of %s: %s", row.source, error)
        _settle(row, failure=error.sentence)
    except (CannotUnseal, OSError, ValueError) as error:
        _settle(row, failure=str(error))
    else:
        _settle(row, files=files, left_out=left_out)
    finally:
        give_back()


def _gather(row: DefinitionImport) -> tuple[dict[str, bytes], list[dict[str, str]]]:
    if row.kind == DefinitionImport.Kind.FOLDER:
        guard = Guard.of(hosts=settings.ALLOW_HOSTS, paths=settings.ALLOW_PATHS)
        folder = guard.local_path(row.source)
        if not folder.is_dir():
            raise ValueError(_("There is no folder at this path."))
        return importing.gather_folder(folder)
    remote = _remote(row)
    commit = _commit(remote, row.ref)
    with reading(remote, guard=reach.guard()) as session:
        return _read(row, session, commit)


def _read(
    row: DefinitionImport, session: Session, commit: str
) -> tuple[dict[str, bytes], list[dict[str, str]]]:
    row.commit, entries = session.files(commit)
    known = {entry.path: entry for entry in entries}
    chosen = [known[path] for path in importing.choose(known)]
    left_out = [{"path": each.path, "why": _why(each)} for each in chosen if _why(each)]
    wanted = [each for each in chosen if not _why(each)][: importing.MOST_FILES + 1]
    blobs = session.blobs({each.oid for each in wanted})
    return {each.path: blobs[each.oid] for each in wanted}, left_out


def _remote(row: DefinitionImport) -> git.Remote:
    if row.repository_id is None:
        return git.Remote(_with_git(git.normal(row.source)))
    with bind(row.workspace_id):
        repository = (
            Repository.objects.filter(pk=row.repository_id).select_related("credential").first()
        )
        if repository is None:
            raise ValueError(_("This repository is not in the workspace any more."))
        return reach.remote_of(repository)


def _with_git(address: str) -> str:
    """A folder with a checkout is read by the git directory inside it."""
    inside = Path(address) / ".git"
    return str(inside) if address.startswith("/") and inside.is_dir() else address


def _commit(remote: git.Remote, ref: str) -> str:
    """The commit of a branch, a tag or an id; without a word that of the default branch."""
    if len(ref) == 40 and all(char in "0123456789abcdef" for char in ref):
        return ref
    seen = git.probe(remote, guard=reach.guard())
    if seen.is_empty:
        raise git.EmptyRepository()
    refs, wanted = seen.refs(), ref or seen.default_branch
    for name in (f"refs/heads/{wanted}", f"refs/tags/{wanted}"):
        if name in refs:
            return refs[name]
    raise git.NotFound(
        _("The repository has no branch, tag or commit %(ref)s.") % {"ref": git.printable(wanted)}
    )


def _why(entry: Entry) -> str:
    """Why a file of the tree is not read; empty when it is."""
    if entry.mode in _FILES:
        return ""
    return _("A link or a submodule, which is not followed.")


def _settle(
    row: DefinitionImport,
    *,
    files: dict[str, bytes] | None = None,
    left_out: list[dict[str, str]] | None = None,
    failure: str = "",
) -> None:
    with bind(row.workspace_id):
        still = DefinitionImport.objects.filter(pk=row.pk, state=State.READING).exists()
        if not still:
            return
        if files:
            importing.keep(row, files, left_out=left_out or [])
        else:
            importing.fail(row, failure or _("There are no agent files there."))
