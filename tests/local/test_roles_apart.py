"""One role a process against servers that stand elsewhere, as docker-compose.yml starts them."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from controlcenter.local.postgres import Postgres
from controlcenter.local.valkey import Valkey
from tests.local.instance import ROOT, Instance, refused

PASSWORDS = {name: secrets.token_hex(8) for name in ("postgres", "valkey")}


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A PostgreSQL with nothing but its superuser, and a Valkey with a password."""
    home = tmp_path_factory.mktemp("e")
    postgres = Postgres(home / "p", sockets=home, passwords=PASSWORDS)
    valkey = Valkey(home / "v", sockets=home, password=PASSWORDS["valkey"])
    with ExitStack() as stop:
        for engine in (postgres, valkey):
            engine.create()
            running = engine.start()
            stop.callback(engine.stop, running)
            engine.wait_ready(running)
        base = f"@/controlcenter?host={home}"
        yield {
            "DATABASE_URL": f"postgresql://cc_app:for-app{base}",
            "DATABASE_OWNER_URL": f"postgresql://cc_owner:for-owner{base}",
            "DATABASE_ADMIN_URL": postgres.url("postgres").replace("/controlcenter", "/postgres"),
            "REDIS_URL": valkey.url,
        }


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, elsewhere: dict[str, str]) -> Path:
    """The shared data directory, with the database brought to this version."""
    folder = tmp_path_factory.mktemp("shared")
    done = migrate(folder, **elsewhere, CC_HOST="0.0.0.0")
    assert done.returncode == 0, done.stdout
    token = (folder / "secrets" / "setup.token").read_text().strip()
    assert f"asks for this token:  {token}" in done.stdout
    return folder


def migrate(data: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {"DJANGO_SETTINGS_MODULE": "tests.local.small_settings"}
    return subprocess.run(
        [sys.executable, "-m", "controlcenter.local", "migrate", "--data", str(data)],
        cwd=ROOT,
        env=dict(os.environ) | settings | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_migrating_twice_is_harmless(data: Path, elsewhere: dict[str, str]) -> None:
    assert migrate(data, **elsewhere).returncode == 0


def test_the_roles_have_the_passwords_of_their_addresses(
    data: Path, elsewhere: dict[str, str]
) -> None:
    with psycopg.connect(elsewhere["DATABASE_URL"]) as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("cc_app",)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(elsewhere["DATABASE_URL"].replace("for-app", "guess"))


def test_the_four_roles_work_together_as_processes_of_their_own(
    data: Path, elsewhere: dict[str, str]
) -> None:
    given = {name: elsewhere[name] for name in ("DATABASE_URL", "REDIS_URL")}
    with ExitStack() as stop:
        for role in ("worker", "scheduler", "web"):
            one = Instance(data, "--port", "0", CC_ROLE=role, **given)
            stop.callback(one.end)
        one.wait_for("is ready after")
        one.get("/ring")
        counts = one.facts()["counts"]
        while counts["task"] is None or counts["tick"] is None:
            counts = one.facts()["counts"]
        assert not (data / "postgres").exists()


def test_lost_keys_are_refused_for_a_database_elsewhere_too(
    data: Path, elsewhere: dict[str, str], tmp_path: Path
) -> None:
    given = {name: elsewhere[name] for name in ("DATABASE_URL", "REDIS_URL")}
    words = refused(tmp_path / "new", CC_ROLE="web", **given)
    assert "lacks django.key, encryption.keys, audit.key" in words
    assert list((tmp_path / "new" / "secrets").iterdir()) == []
