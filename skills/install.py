"""The one function that writes skill files: exactly the bytes that a verdict was given on."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from uuid import UUID

from django.conf import settings

from workspaces.models import HANDLE
from workspaces.tenancy import on_rollback, writable_workspace

from .models import Skill

SHIPPED = "shipped with the program"


def write_seeded(folder: Path) -> Skill:
    """The skill of a folder that ships with the program stands in the bound workspace.

    Its text is part of the program, as reviewed and signed as the code, so its verdict is `pass`.
    Existing files are left alone; a missing directory is written again.
    """
    files = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
    skill = Skill.objects.filter(slug=folder.name).first() or Skill.objects.create(
        slug=folder.name,
        description=_description(files["SKILL.md"].decode()),
        origin=Skill.Origin.SEEDED,
        verdict="pass",
        digest=digest(files),
        ruleset=SHIPPED,
    )
    if not directory(skill.workspace_id, skill.slug).exists():
        _write(skill, files)
    return skill


def directory(workspace_id: UUID, slug: str) -> Path:
    """Where a skill of the workspace stands."""
    if not HANDLE.match(slug):
        raise ValueError(f"{slug!r} is not a name that a directory may have.")
    return settings.DATA_DIR / "workspaces" / str(workspace_id) / "skills" / slug


def digest(files: Mapping[str, bytes]) -> str:
    """`sha256:` over length-prefixed path, mode, size and bytes, by the path's UTF-8 bytes."""
    total = sha256()
    for path in sorted(files, key=str.encode):
        name, body = path.encode(), files[path]
        total.update(len(name).to_bytes(8, "big") + name + b"100644")
        total.update(len(body).to_bytes(8, "big") + body)
    return f"sha256:{total.hexdigest()}"


def _write(skill: Skill, files: Mapping[str, bytes]) -> None:
    assert skill.workspace_id == writable_workspace()
    target = directory(skill.workspace_id, skill.slug)
    target.parent.mkdir(parents=True, exist_ok=True)
    on_rollback(lambda: shutil.rmtree(target, ignore_errors=True))
    temp = Path(tempfile.mkdtemp(prefix=".skill-", dir=target.parent))
    try:
        for path, body in files.items():
            file = temp / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as out:
                out.write(body)
                out.flush()
                os.fsync(out.fileno())
        temp.chmod(0o755)
        temp.rename(target)
    except BaseException:
        shutil.rmtree(temp, ignore_errors=True)
        raise


def _description(text: str) -> str:
    for line in text.splitlines()[1:20]:
        if line.startswith("description:"):
            return line.partition(":")[2].strip().strip('"')[:1024]
    return ""
