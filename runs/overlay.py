"""What the server lays into a run's own directory: `.claude/skills` and the composed `AGENTS.md`.

Command-line agents read skills from there, so the scanned bytes lie there as copies. The directory
stands in no checkout, and an ignore file of its own keeps it out of any repository that an agent
makes around it. It is built elsewhere and put in place by a rename, old ones first taken away;
whatever a killed worker left behind is cleared by the next.
"""

import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from outside.git.locks import exclusive
from skills.install import write_files
from skills.scanning import File

FOLDER, SKILLS, PROFILE = ".claude", "skills", "AGENTS.md"
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Overlay:
    """The overlay of one agent in one conversation. `staging` is the server's own, on the same
    file system, and never mounted."""

    def __init__(self, directory: Path, staging: Path) -> None:
        self._directory, self._staging = directory, staging

    @property
    def folder(self) -> Path:
        """What the agent may read and never write."""
        return self._directory / FOLDER

    def stand(self) -> None:
        """The folder is there, empty: no skill of an earlier run is left."""
        with self._mine():
            self._swap(None)

    def put(self, skills: Mapping[str, Mapping[str, File]], profile: str) -> None:
        """Exactly these skills, by the name of their folder, and this profile are there."""
        with self._mine():
            fresh = self._staging / f"new-{secrets.token_hex(6)}"
            fresh.mkdir()
            (fresh / ".gitignore").write_text("*\n")
            for name, files in skills.items():
                write_files(fresh / name, files, lasting=False)
            self._swap(fresh)
            self._profile(profile)

    def take_away(self) -> None:
        """Nothing of it is left."""
        with self._mine():
            self._swap(None)
            with _opened(self._directory) as here:
                self._aside(PROFILE, here)

    @contextmanager
    def _mine(self) -> Iterator[None]:
        self._staging.mkdir(parents=True, exist_ok=True)
        with exclusive(self._staging):
            self._clear()
            try:
                yield
            finally:
                self._clear()

    def _clear(self) -> None:
        for left in self._staging.iterdir():
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)

    def _swap(self, fresh: Path | None) -> None:
        with _opened(self._directory) as here:
            self._own_folder(here)
            with _opened(FOLDER, at=here) as folder:
                self._aside(SKILLS, folder)
                if fresh is not None:
                    os.rename(fresh, SKILLS, dst_dir_fd=folder)

    def _own_folder(self, here: int) -> None:
        """A directory stands there, and no link or file that an agent put in its place."""
        with suppress(FileExistsError):
            os.mkdir(FOLDER, 0o755, dir_fd=here)
        try:
            os.close(os.open(FOLDER, _FOLDER_FLAGS, dir_fd=here))
        except OSError:
            self._aside(FOLDER, here)
            os.mkdir(FOLDER, 0o755, dir_fd=here)

    def _aside(self, name: str, folder: int) -> None:
        with suppress(FileNotFoundError):
            os.rename(name, self._staging / f"old-{secrets.token_hex(6)}", src_dir_fd=folder)

    def _profile(self, text: str) -> None:
        fresh = self._staging / f"profile-{secrets.token_hex(6)}"
        fresh.write_text(text, encoding="utf-8")
        with _opened(self._directory) as here:
            self._aside(PROFILE, here)
            os.rename(fresh, PROFILE, dst_dir_fd=here)


@contextmanager
def _opened(folder: Path | str, *, at: int | None = None) -> Iterator[int]:
    handle = os.open(folder, _FOLDER_FLAGS, dir_fd=at)
    try:
        yield handle
    finally:
        os.close(handle)
