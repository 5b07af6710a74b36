"""A workspace whose space has one repository, hosted on loopback."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from repositories import adding
from repositories.models import Repository, SpaceRepository
from tests.cast import Cast
from tests.remote.server import Remote, serve


@pytest.fixture
def remote(tmp_path: Path, settings: Any) -> Iterator[Remote]:
    """A hosting site on loopback that the operator allowed."""
    with serve(tmp_path / "hosted") as running:
        settings.ALLOW_HOSTS = [f"127.0.0.1:{running.port}"]
        yield running


@pytest.fixture
def apple(cast: Cast, remote: Remote) -> Repository:
    """`apple`, added by Ada, fetched, and linked to the engine room."""
    address = remote.create("apple", {"README.md": "hello\n"})
    return add_and_fetch(cast, address)


def add_and_fetch(cast: Cast, address: str, **given: str) -> Repository:
    with cast.bound():
        repository = adding.add(address, by=cast.ada.principal, **given)
        SpaceRepository.objects.create(space=cast.space, repository=repository)
    adding.fetch(cast.workspace.pk, repository.pk)
    with cast.bound():
        row: Repository = Repository.objects.get(pk=repository.pk)
    return row


@pytest.fixture
def celery_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """What was rung for: the wire to the broker is cut here."""
    calls: list[tuple[str, list[str]]] = []

    def send_task(name: str, *, args: list[str], queue: str) -> None:
        calls.append((name, args))

    monkeypatch.setattr("celery.current_app.send_task", send_task)
    monkeypatch.setattr("django.db.transaction.on_commit", lambda call, **_: call())
    return calls
