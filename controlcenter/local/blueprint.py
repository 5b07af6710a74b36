"""The shape of a new database as one script, instead of the steps that led there.

`blueprint.sql` is what the migrations make, as `pg_dump` tells it: `make blueprint` draws it again.
Its head names the migrations that it stands for, with a mark of each one's text; later ones follow
as usual, and where a mark or the server is another, all of them run one by one.
"""

import hashlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from controlcenter.local import binaries

FILE = Path(__file__).with_name("blueprint.sql")
HEAD = "-- The shape of a new database. Drawn by `make blueprint`, not by hand.\n"
# Any number will do that nobody else uses: the letters "ccplan".
LOCK_KEY = 0x6363706C616E
# Of a dump: what is said beside the statements, and what would outlive the transaction.
_TITLE = re.compile(r"^--\n-- .*\n--\n+", re.MULTILINE)
_SETTING = re.compile(r"^(SET |SELECT pg_catalog\.set_config\(|\\).*\n", re.MULTILINE)
_QUIET = "SET LOCAL check_function_bodies = false;\nSET LOCAL search_path = '';\n"

Key = tuple[str, str]


class Blueprint(NamedTuple):
    """The server's major version, the marks of the migrations, and the script."""

    server: int
    marks: dict[Key, str]
    script: str


def read(file: Path = FILE) -> Blueprint:
    text = file.read_text()
    known = re.findall(r"^-- (\w+)\.(\w+) ([0-9a-f]{16})$", text, re.MULTILINE)
    server = re.search(r"^-- PostgreSQL (\d+)$", text, re.MULTILINE)
    marks = {(label, name): mark for label, name, mark in known}
    return Blueprint(int(server[1]) if server else 0, marks, text)


def mark(migration: object) -> str:
    """What changes when the migration's text does."""
    source = inspect.getsourcefile(type(migration)) or ""
    return hashlib.sha256(Path(source).read_bytes()).hexdigest()[:16]


def fits(blueprint: Blueprint, migrations: Mapping[Key, object], server: int) -> bool:
    """Whether the script stands for exactly these migrations, or for the first of them."""
    if not blueprint.marks or blueprint.server != server:
        return False
    return all(
        key in migrations and mark(migrations[key]) == known
        for key, known in blueprint.marks.items()
    )


def build_new(executor: Any) -> bool:
    """Whether the executor's database was new and has its shape now, but for later migrations."""
    loader, connection = executor.loader, executor.connection
    if loader.applied_migrations:
        return False
    blueprint = read()
    if not fits(blueprint, loader.disk_migrations, connection.pg_version // 10000):
        return False
    built = build(connection, blueprint)
    loader.build_graph()
    return built


def build(connection: Any, blueprint: Blueprint) -> bool:
    """Gives an empty database its shape, all of it or nothing; False when it is not empty."""
    from django.db.migrations.recorder import MigrationRecorder
    from django.db.transaction import atomic

    with atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])
        cursor.execute("SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace LIMIT 1")
        if cursor.fetchone() is not None:
            return False
        cursor.execute(blueprint.script)
        cursor.execute("SET LOCAL search_path = public")
        recorder = MigrationRecorder(connection)
        for label, name in blueprint.marks:
            recorder.record_applied(label, name)
    return True


def draw(database_url: str, migrations: Mapping[Key, object]) -> str:
    """The blueprint of a database to which all these migrations were applied."""
    command = [str(binaries.postgres("pg_dump")), "--no-owner", "--inserts"]
    options = ["--rows-per-insert=1000", "--exclude-table-data=django_migrations", database_url]
    dump = subprocess.run([*command, *options], capture_output=True, text=True, check=True).stdout
    server = re.search(r"^-- Dumped from database version (\d+)", dump, re.MULTILINE)
    assert server, "no dump"
    known = (f"-- {key[0]}.{key[1]} {mark(migrations[key])}" for key in sorted(migrations))
    return "\n".join([f"{HEAD}-- PostgreSQL {server[1]}", *known, "", _QUIET, *_statements(dump)])


def _statements(dump: str) -> Iterator[str]:
    _, _, rest = dump.partition("-- Dumped by pg_dump version")
    rest = _TITLE.sub("", rest.partition("\n")[2]).partition("--\n-- PostgreSQL database dump")[0]
    yield re.sub(r"\n{3,}", "\n\n", _SETTING.sub("", rest)).strip() + "\n"


def main() -> None:
    """Draws the blueprint anew, on the empty database that the environment names."""
    from django.core.management import call_command
    from django.db import connections
    from django.db.migrations.loader import MigrationLoader

    from controlcenter.local import programs

    programs.load()
    call_command("migrate", database="owner", interactive=False, verbosity=0)
    migrations = MigrationLoader(connections["owner"]).disk_migrations
    as_superuser = os.environ["DATABASE_OWNER_URL"].replace("//cc_owner@", "//postgres@")
    FILE.write_text(draw(as_superuser, migrations))
    sys.stdout.write(f"{FILE.name} stands for {len(migrations)} migrations.\n")


if __name__ == "__main__":
    main()
