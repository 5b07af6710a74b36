"""Git directories that the server lays out itself: every byte of their configuration is ours."""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from . import folders, names
from .errors import BadName, Damaged

CONFIG = """\
[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = {bare}
\tlogallrefupdates = false
[gc]
\tauto = 0
"""


def lay_out(
    git_dir: Path,
    *,
    head: str,
    bare: bool = True,
    objects_from: Iterable[Path] = (),
    extra_config: str = "",
) -> None:
    """Afterwards `git_dir` is a git directory with exactly this configuration, HEAD and alternates.

    What it holds besides (objects, refs, index) stays. Alternates are written relative, so that the
    data directory can move. `head` is an object id or the full name of a branch.
    """
    for part in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info", "hooks"):
        (git_dir / part).mkdir(parents=True, exist_ok=True)
    objects = git_dir / "objects"
    lines = [os.path.relpath(source / "objects", objects) for source in objects_from]
    write(objects / "info" / "alternates", "".join(f"{line}\n" for line in lines))
    write(git_dir / "config", CONFIG.format(bare=str(bare).lower()) + extra_config)
    write(git_dir / "HEAD", f"ref: {head}\n" if head.startswith("refs/") else f"{head}\n")


def write(path: Path, text: str) -> None:
    """The file has this text; a reader sees the old or the new one. Never follows a link."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def write_refs(git_dir: Path, refs: Mapping[str, str]) -> None:
    """The packed refs of a git directory are exactly these."""
    lines = [f"{names.oid(oid)} {name}\n" for name, oid in sorted(refs.items())]
    write(git_dir / "packed-refs", "# pack-refs with: sorted \n" + "".join(lines))


def take_packs(source: Path, *, into: Path) -> None:
    """Afterwards `into` has the packs of `source`; an index appears only behind its pack."""
    for ending in (".pack", ".idx"):
        for file in (source / "objects" / "pack").glob(f"pack-*{ending}"):
            there = into / "objects" / "pack" / file.name
            if not there.exists():
                fresh = there.with_name(f"tmp_taken_{os.getpid()}_{file.name}")
                shutil.copyfile(file, fresh)
                fresh.chmod(0o444)
                fresh.replace(there)


def clear_stale_locks(git_dir: Path) -> None:
    """Removes what a killed git left behind. Only for who holds the directory exclusively."""
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/pack/.tmp-*"):
        for left in git_dir.glob(pattern):
            left.unlink(missing_ok=True)
    for left in (git_dir / "objects").glob("incoming-*"):
        shutil.rmtree(left, ignore_errors=True)


def read_ref(git_dir: Path, name: str) -> str | None:
    """The object id of a ref, read as data: git is not run and no configuration is read.

    None when there is no such ref. Raises Damaged when the file holds something else.
    """
    loose = folders.read(git_dir, names.ref(name))
    if loose is not None:
        return _oid_or_damaged(loose, name)
    packed = folders.read(git_dir, "packed-refs", limit=64 * 2**20) or b""
    for line in packed.splitlines():
        oid, _, found = line.partition(b" ")
        if found == name.encode():
            return _oid_or_damaged(oid, "packed-refs")
    return None


def read_head(git_dir: Path, *, refs_in: Path | None = None) -> tuple[str, str | None]:
    """(branch, object id) of HEAD; the branch is "" when detached, the id None when unborn.

    `refs_in` is where its branches are, when that is another directory. Raises Damaged.
    """
    text = (folders.read(git_dir, "HEAD") or b"").decode("utf-8", "replace").strip()
    if not text.startswith("ref: "):
        return "", _oid_or_damaged(text.encode(), "HEAD")
    name = text.removeprefix("ref: ").strip()
    if not name.startswith("refs/heads/"):
        raise Damaged("HEAD of this checkout does not point to a branch.")
    try:
        return name.removeprefix("refs/heads/"), read_ref(refs_in or git_dir, name)
    except BadName as bad:
        raise Damaged(bad.sentence) from bad


def _oid_or_damaged(text: bytes, place: str) -> str:
    try:
        return names.oid(text.decode("ascii", "replace").strip())
    except BadName:
        raise Damaged(f"{place} of this checkout is damaged.") from None
