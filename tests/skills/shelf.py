"""A hosting site with skills on it, and a worker that does its jobs when the test says so."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skills import bringing, requests, rescanning, restoring, rules, sources
from skills.models import Skill, SkillRequest, SkillSource
from tests.cast import Cast
from tests.remote.server import Remote, serve
from tests.skills.texts import INVISIBLE, KIT, NOTES, POINTER, SCRIPT, WARNED, named

__all__ = ["INVISIBLE", "KIT", "NOTES", "POINTER", "SCRIPT", "WARNED", "named"]


@contextmanager
def site(folder: Path, settings: Any) -> Iterator[Remote]:
    """A site on loopback that the operator allowed."""
    with serve(folder / "hosted") as running:
        settings.ALLOW_HOSTS = [f"127.0.0.1:{running.port}"]
        yield running


def work(cast: Cast) -> None:
    """What the background would do, until nothing is left to do."""
    for _round in range(4):
        with cast.bound():
            busy = [one.pk for one in SkillSource.objects.all() if one.is_busy]
            rows = list(SkillRequest.objects.unfinished())
        for key in busy:
            sources.sync(cast.workspace.pk, key)
        for row in rows:
            is_written = row.state == SkillRequest.State.INSTALLING
            job = bringing.write if is_written else bringing.examine
            job(cast.workspace.pk, row.pk)
        if not busy and not rows:
            return


def add_source(cast: Cast, address: str) -> SkillSource:
    """The source, registered by Ada and read."""
    with cast.bound():
        row = sources.register(address, by=cast.ada.principal)
    work(cast)
    with cast.bound():
        fresh: SkillSource = SkillSource.objects.get(pk=row.pk)
    assert fresh.is_added, fresh.error
    return fresh


def look(cast: Cast, source: SkillSource, name: str) -> SkillRequest:
    """A request for the skill of that name, looked at."""
    with cast.bound():
        listing = source.listings.get(name=name)
        asked = requests.preview(listing, by=cast.ada.principal)
    work(cast)
    return fresh(cast, asked)


def install(cast: Cast, source: SkillSource, name: str) -> Skill:
    """The skill, installed with Ada's yes."""
    from skills import holds

    asked = look(cast, source, name)
    with cast.bound():
        row = requests.install(asked, by=cast.ada.principal)
        if row.state == SkillRequest.State.HELD:
            holds.accept(row, by=cast.ada.principal, note="Read it.")
    work(cast)
    with cast.bound():
        found: Skill = Skill.objects.get(slug=asked.slug)
    return found


def fresh(cast: Cast, asked: SkillRequest) -> SkillRequest:
    with cast.bound():
        row: SkillRequest = SkillRequest.objects.select_related("skill").get(pk=asked.pk)
    return row


def rescan(cast: Cast) -> None:
    rescanning.rescan(cast.workspace.pk, everything=True)


def restore(cast: Cast) -> None:
    restoring.restore(cast.workspace.pk)


def set_rules(cast: Cast, **given: Any) -> None:
    with cast.bound():
        rules.change(
            by=cast.ada.principal,
            **{"accepts_first_prose": False, "accepts_warnings": False, **given},
        )
