"""Skills that ship with the program: through the same gate as any other."""

import logging
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from skills.scanning import Decision, File, Verdict, decide, version

from . import bringing, describing, install, judging, lockfile, previews, rules, trees
from .models import Skill

log = logging.getLogger(__name__)

LEGACY = "shipped with the program"  # what stood for a ruleset before these were scanned


def shipped(name: str) -> dict[str, File] | None:
    """The files of a skill that ships with the program; None when there is no such one."""
    folder = Path(settings.CC_SHIPPED_SKILLS) / name
    if not (folder / "SKILL.md").is_file():
        return None
    return {
        file.relative_to(folder).as_posix(): File(0o100644, file.read_bytes())
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def judge_all() -> None:
    """Every shipped skill has its verdict, so that `put_all` holds no transaction open for it."""
    for name in names():
        _verdict(name, version())


def put_all(workspace_id: UUID) -> None:
    """The shipped skills that the gate accepts stand in the bound workspace. Existing ones are left
    alone; a missing directory is written again. Safe to run twice."""
    install.turn()
    _begin_lock(workspace_id)
    rows = {row.slug: row for row in Skill.objects.filter(slug__in=names())}
    for name in names():
        row = rows.get(name)
        if row is None or row.ruleset == LEGACY or _is_lost(workspace_id, row):
            _put(name, row or Skill(slug=name, origin=Skill.Origin.SEEDED))


def names() -> list[str]:
    folders = Path(settings.CC_SHIPPED_SKILLS).iterdir()
    return sorted(folder.name for folder in folders if folder.is_dir())


def _is_lost(workspace_id: UUID, row: Skill) -> bool:
    is_ours = row.origin == Skill.Origin.SEEDED and not row.previous_digest
    return is_ours and not install.directory(workspace_id, row.slug).exists()


def _put(name: str, row: Skill) -> None:
    files = shipped(name)
    assert files is not None
    verdict = _verdict(name, version())
    bringing.require_verdict(verdict, files)
    answer = decide(verdict, rules.current(), first=False)
    if answer.decision is not Decision.ACCEPTED:
        log.warning("the shipped skill %s is not accepted: %s", name, ", ".join(answer.reasons))
        return
    row.description = previews.front(files, "SKILL.md")[0][:1024]
    row.digest, row.computed_hash = verdict.digest, lockfile.computed_hash(files)
    row.tree_sha, row.installed_at = trees.of_files(files), timezone.now()
    describing.by_verdict(row, verdict, Skill.Decision.ACCEPTED)
    install.put(row, files)


def _begin_lock(workspace_id: UUID) -> None:
    """A workspace from before there was a lock gets its first one."""
    has_lock = (install.root(workspace_id) / lockfile.NAME).exists()
    if not has_lock and not Skill.objects.exclude(ruleset=LEGACY).exists():
        install.write_lock(workspace_id, lockfile.Lock())


@cache
def _verdict(name: str, ruleset: str) -> Verdict:
    """The real gate's verdict over the shipped bytes, once a process and set of rules."""
    files: Mapping[str, File] | None = shipped(name)
    assert files is not None
    return judging.judge(files, name)
