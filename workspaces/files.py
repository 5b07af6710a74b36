"""Files that are whole at every moment: a reader sees the old bytes or the new ones."""

import os
import tempfile
from pathlib import Path


def replace_file(file: Path, data: bytes, *, prefix: str) -> None:
    """The file holds the data, and still does after a power cut.

    What a kill leaves behind lies beside it under the prefix. Raises OSError; then the file is as
    it was.
    """
    descriptor, temp = tempfile.mkstemp(prefix=prefix, dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        Path(temp).chmod(0o644)
        Path(temp).replace(file)
    except BaseException:
        Path(temp).unlink(missing_ok=True)
        raise
    sync_folder(file.parent)


def sync_folder(folder: Path) -> None:
    """The names in the folder last."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
