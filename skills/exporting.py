"""Taking skills along: a ZIP of their directories with the lock entries beside them."""

import io
import zipfile
from collections.abc import Collection

from workspaces.tenancy import writable_workspace

from . import install, standing
from .lockfile import NAME, Lock, dump
from .scanning import File, git_mode

_WHEN = (2020, 1, 1, 0, 0, 0)


def archive(slugs: Collection[str]) -> bytes:
    """A ZIP with `<slug>/…` for each and a `skills-lock.json` of their entries; the same skills
    always give the same bytes. Raises lockfile.LockUnreadable or lockfile.LockMismatch."""
    workspace_id = writable_workspace()
    lock = install.read_lock(workspace_id)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        for slug in sorted(set(slugs)):
            for path, file in sorted(standing.checked(workspace_id, slug).items()):
                _add(pack, f"{slug}/{path}", file)
        named = Lock({slug: lock.pins[slug] for slug in sorted(set(slugs))})
        _add(pack, NAME, File(0o100644, dump(named)))
    return out.getvalue()


def _add(pack: zipfile.ZipFile, path: str, file: File) -> None:
    entry = zipfile.ZipInfo(path, _WHEN)
    entry.external_attr = int(git_mode(file), 8) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    pack.writestr(entry, file.data)
