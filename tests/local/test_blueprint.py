"""A new database gets its shape from one script: the same shape that the migrations make."""

import re
import subprocess
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import ProgrammingError, connections
from django.db.migrations.loader import MigrationLoader

from controlcenter.local import binaries, blueprint, programs

pytestmark = pytest.mark.django_db
ROWS = (
    "SELECT app_label, model FROM django_content_type ORDER BY 1, 2",
    "SELECT app_label, model, codename, name FROM auth_permission"
    " JOIN django_content_type AS of ON of.id = content_type_id ORDER BY 1, 2, 3",
    "SELECT app, name FROM django_migrations ORDER BY 1, 2",
)


@pytest.fixture
def migrated() -> Any:
    """The database of the tests, to which every migration was applied one by one."""
    return connections["owner"]


@pytest.fixture
def new(migrated: Any) -> Iterator[Any]:
    """An empty database, which is the owner's for as long as the test runs."""
    name = f"{migrated.settings_dict['NAME']}_new"
    connection = migrated.copy()
    connection.settings_dict = {**migrated.settings_dict, "NAME": name}
    with psycopg.connect(**migrated.get_connection_params(), autocommit=True) as owner:
        owner.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        connections["owner"] = connection
        try:
            yield connection
        finally:
            connections["owner"] = migrated
            connection.close()
            owner.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def shape(connection: Any) -> str:
    known = connection.get_connection_params()
    wanted = ("host", "port", "user", "password", "dbname")
    address = psycopg.conninfo.make_conninfo(**{key: known[key] for key in wanted if key in known})
    command = [str(binaries.postgres("pg_dump")), "--schema-only", "--dbname", address]
    dump = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return CAST.sub(_cast_one_by_one, re.sub(r"^\\.*$", "", dump, flags=re.MULTILINE))


# What PostgreSQL tells of a list it tells otherwise once it has read it back.
CAST = re.compile(r"\(ARRAY\[((?:'[^']*'::character varying(?:, )?)+)\]\)::text\[\]")


def _cast_one_by_one(found: re.Match[str]) -> str:
    return f"ARRAY[{', '.join(f'({one})::text' for one in found[1].split(', '))}]"


def rows(connection: Any) -> list[list[tuple[Any, ...]]]:
    with connection.cursor() as cursor:
        found = []
        for query in ROWS:
            cursor.execute(query)
            found.append(cursor.fetchall())
    return found


def test_a_new_database_is_like_one_that_was_migrated_step_by_step(
    migrated: Any, new: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    programs.migrate()
    assert "The database has the shape of this version." in capsys.readouterr().out
    assert shape(new) == shape(migrated)
    assert rows(new) == rows(migrated)
    programs.migrate()
    assert capsys.readouterr().out == ""


def test_it_stands_for_the_migrations_as_they_are(migrated: Any) -> None:
    """Otherwise each new folder waits for all of them: run `make blueprint`."""
    migrations = MigrationLoader(migrated).disk_migrations
    assert blueprint.fits(blueprint.read(), migrations, migrated.pg_version // 10000)


def test_a_script_that_ends_in_the_middle_leaves_nothing(new: Any) -> None:
    whole = blueprint.read()
    with pytest.raises(ProgrammingError, match="no_such_thing"):
        blueprint.build(new, whole._replace(script=f"{whole.script}SELECT no_such_thing();"))
    assert blueprint.build(new, whole)
    assert not blueprint.build(new, whole)


def test_another_server_or_another_text_of_a_migration_is_migrated_step_by_step(
    migrated: Any,
) -> None:
    migrations = MigrationLoader(migrated).disk_migrations
    whole = blueprint.read()
    key = ("workspaces", "0001_initial")
    edited = whole._replace(marks={**whole.marks, key: "0" * 16})
    assert not blueprint.fits(edited, migrations, whole.server)
    assert not blueprint.fits(whole, migrations, whole.server + 1)
    assert not blueprint.fits(whole, {key: migrations[key]}, whole.server)
    assert not blueprint.fits(whole._replace(marks={}), migrations, whole.server)
