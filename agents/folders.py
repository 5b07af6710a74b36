"""Steps on disk that undo themselves when the bound transaction fails, also at its commit.

Nothing here follows a link: what is a link, or is no plain file or directory where one belongs,
is taken away as it stands.
"""

import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction

from workspaces.files import replace_file
from workspaces.tenancy import on_rollback


@dataclass(frozen=True, slots=True)
class Steps:
    """What is taken away lies in `aside` until the commit, on the same file system."""

    aside: Path

    def make_directory(self, path: Path) -> None:
        """A real directory stands at the path; what stood in its place is gone."""
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            self.take_away(path)
        if path.is_dir():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir()

        def undo() -> None:
            with suppress(OSError):
                path.rmdir()

        on_rollback(undo)

    def put(self, file: Path, data: bytes) -> None:
        """The file holds the data. A reader sees the old bytes or the new ones, never a half."""
        if file.is_symlink() or (file.exists() and not file.is_file()):
            self.take_away(file)
        before = file.read_bytes() if file.exists() else None
        if before == data:
            return

        def undo() -> None:
            if before is None:
                file.unlink(missing_ok=True)
            else:
                replace_file(file, before, prefix=".AGENTS-")

        on_rollback(undo)
        replace_file(file, data, prefix=".AGENTS-")

    def link(self, place: Path, target: Path) -> None:
        """A relative link stands at the place, where nothing stood."""
        place.symlink_to(target, target_is_directory=True)
        on_rollback(place.unlink)

    def move(self, old: Path, new: Path) -> None:
        """The directory stands at its new place; what stood there is gone."""
        if new.is_symlink() or new.exists():
            self.take_away(new)
        old.rename(new)
        on_rollback(lambda: _rename(new, old))

    def take_away(self, path: Path) -> None:
        """Nothing stands at the path. It comes back with a roll-back, whole and unopened."""
        if path.is_symlink():
            target = path.readlink()
            path.unlink()
            on_rollback(lambda: path.symlink_to(target))
            return
        self.aside.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(dir=self.aside))
        path.rename(place / "it")

        def undo() -> None:
            (place / "it").rename(path)
            place.rmdir()

        on_rollback(undo)
        transaction.on_commit(lambda: shutil.rmtree(place, ignore_errors=True))


def _rename(old: Path, new: Path) -> None:
    old.rename(new)
