"""The embedded engines and the roles they are made with."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from controlcenter.local import engines, processes
from controlcenter.local.errors import StartError
from controlcenter.local.janitor import Janitor
from controlcenter.local.postgres import UNFINISHED, Postgres
from tests.local.instance import GONE_SECONDS, ROOT


def execute(*command: str, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "controlcenter.local", "exec", "--", *command],
        cwd=ROOT,
        env=_without_servers() | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _without_servers() -> dict[str, str]:
    named = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "CC_DATA_DIR")
    return {name: value for name, value in os.environ.items() if name not in named}


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    home = tmp_path_factory.mktemp("engine")
    made = Postgres(home / "postgres", sockets=home, passwords=None, reckless=True)
    made.create()
    running = made.start()
    made.wait_ready(running)
    made.provide()
    yield made
    made.stop(running)


def test_the_application_role_owns_nothing_and_bypasses_nothing(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url("cc_app")) as connection:
        row = connection.execute(
            "SELECT rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolbypassrls"
            " FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
    assert row == (False, False, False, False, False)


@pytest.mark.parametrize("member", ["cc_app", "cc_owner"])
def test_the_system_role_is_taken_on_and_never_inherited(postgres: Postgres, member: str) -> None:
    with psycopg.connect(postgres.url(member)) as connection:
        row = connection.execute(
            "SELECT pg_has_role(current_user, 'cc_system', 'USAGE'),"
            " pg_has_role(current_user, 'cc_system', 'SET'),"
            " pg_has_role(current_user, 'cc_system', 'USAGE WITH ADMIN OPTION')"
        ).fetchone()
        assert row == (False, True, False)
        connection.execute("SET LOCAL ROLE cc_system")
        assert connection.execute("SELECT current_user").fetchone() == ("cc_system",)


def test_what_only_the_system_role_may_read_the_application_role_may_not(
    postgres: Postgres,
) -> None:
    with psycopg.connect(postgres.url("cc_owner"), autocommit=True) as owner:
        owner.execute("CREATE TABLE private_note (words text)")
        owner.execute("GRANT SELECT ON private_note TO cc_system")
    with psycopg.connect(postgres.url("cc_app")) as app:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute("SELECT * FROM private_note")
        app.rollback()
        app.execute("SET LOCAL ROLE cc_system")
        assert app.execute("SELECT * FROM private_note").fetchall() == []


def test_nobody_signs_in_as_the_system_role(postgres: Postgres) -> None:
    with pytest.raises(psycopg.OperationalError, match="not permitted to log in"):
        psycopg.connect(postgres.url("cc_system"))


def test_it_listens_on_a_private_socket_only(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url("cc_app")) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    mode = (postgres.sockets / ".s.PGSQL.5432").stat().st_mode
    assert stat.S_IMODE(mode) == 0o700


def test_the_owner_may_create_the_databases_of_tests(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url("cc_owner"), autocommit=True) as owner:
        owner.execute("CREATE DATABASE one_more")
        found = owner.execute("SELECT datname FROM pg_database WHERE datname = 'one_more'")
        assert found.fetchone() == ("one_more",)
        owner.execute("DROP DATABASE one_more")


def test_files_of_another_version_are_refused(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("9\n")
    old = Postgres(tmp_path / "postgres", sockets=tmp_path, passwords=None)
    with pytest.raises(StartError, match="was made by PostgreSQL 9"):
        old.start()


def test_files_whose_making_was_killed_are_made_anew(tmp_path: Path) -> None:
    made = Postgres(tmp_path / "postgres", sockets=tmp_path, passwords=None, reckless=True)
    home = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=tmp_path))
    (home / "PG_VERSION").write_text("18\n")
    with pytest.raises(ZeroDivisionError):
        made.create(meanwhile=lambda: 1 / 0)
    assert list(tmp_path.iterdir()) == []
    made.create()
    running = made.start()
    made.wait_ready(running)
    made.stop(running)


def test_a_number_that_another_process_has_by_now_does_not_keep_it_from_starting(
    tmp_path: Path,
) -> None:
    made = Postgres(tmp_path / "postgres", sockets=tmp_path, passwords=None, reckless=True)
    made.create()
    (made.home / "postmaster.pid").write_text(f"{os.getpid()}\n{made.home}\n1\n5432\n\n\n0 0\n")
    running = made.start()
    made.wait_ready(running)
    assert running.poll() is None
    made.stop(running)


def test_a_command_gets_engines_of_its_own_and_its_exit_code_comes_back() -> None:
    asked = execute("sh", "-c", 'echo "$DATABASE_URL|$REDIS_URL|$CC_DATA_DIR"; exit 7')
    words, _ = asked.communicate(timeout=60)
    assert asked.returncode == 7
    database, broker, data = words.strip().split("|")
    assert database.startswith("postgresql://cc_app@/controlcenter?host=")
    assert broker.startswith("unix:///")
    assert not Path(data).exists()


def test_servers_that_are_named_are_used_as_they_are() -> None:
    asked = execute("sh", "-c", 'echo "$DATABASE_URL $REDIS_URL"', DATABASE_URL="d", REDIS_URL="r")
    assert asked.communicate(timeout=60)[0] == "d r\n"


def test_a_command_that_does_not_exist_is_said_in_one_line() -> None:
    asked = execute("no-such-command", DATABASE_URL="d", REDIS_URL="r")
    assert "no-such-command cannot be run" in asked.communicate(timeout=60)[0]
    assert asked.returncode == 1


def test_term_reaches_the_command_and_its_end_is_told() -> None:
    asked = execute(
        "sh", "-c", "echo ready; exec tail -f /dev/null", DATABASE_URL="d", REDIS_URL="r"
    )
    assert asked.stdout
    assert asked.stdout.readline() == "ready\n"
    asked.send_signal(signal.SIGTERM)
    asked.communicate(timeout=60)
    assert asked.returncode == 128 + signal.SIGTERM


def test_kill_9_leaves_neither_process_nor_folder() -> None:
    asked = execute(
        "sh",
        "-c",
        'echo "$CC_DATA_DIR $DATABASE_URL"; (setsid tail -f /dev/null & tail -f /dev/null) | cat',
    )
    assert asked.stdout
    data, database = asked.stdout.readline().split()
    home = Path(str(psycopg.conninfo.conninfo_to_dict(database)["host"]))
    pids = processes.descendants_of([asked.pid])
    assert home.is_dir()
    assert len(pids) > 5
    asked.kill()
    asked.communicate()
    assert processes.wait_gone(pids, seconds=GONE_SECONDS) == []
    assert not home.exists()
    assert not Path(data).exists()


def test_the_janitor_kills_what_its_owner_started_and_removes_its_folders(tmp_path: Path) -> None:
    janitor = Janitor()
    running = subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do read -r x; done"])
    folder = tmp_path / "folder"
    folder.mkdir()
    janitor.child(running.pid)
    janitor.folder(folder)
    janitor.close()
    assert running.wait(timeout=10) == -signal.SIGKILL
    assert not folder.exists()


def test_the_janitor_leaves_alone_what_has_ended() -> None:
    janitor = Janitor()
    other = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    janitor.child(other.pid)
    janitor.gone(other.pid)
    janitor.close()
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_socket_folder_that_others_can_enter_is_refused() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as data:  # short, unlike tmp_path
        run = Path(data) / "run"
        run.mkdir()
        run.chmod(0o755)
        with pytest.raises(StartError, match="a folder of yours alone"):
            engines.socket_folder(Path(data))
