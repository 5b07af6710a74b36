"""How far a job is: what a page is told while it goes on, in counts that are true."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from outside.sentences import phrase
from skills import telling
from skills.telling import Telling
from tests.skills.life.conftest import TABLES, Stage
from workspaces.sentences import SentenceField


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Each stage that is written down, in English."""
    monkeypatch.setattr(telling, "STEP_SECONDS", 0)
    stages: list[str] = []
    field = SentenceField()

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith("UPDATE") and '"stage" = ' in sql:
            place = sql[: sql.index('"stage" = ')].count("%s")
            said = str(field.from_db_value(params[place], None, connection) or "")
            stages.extend([said] if said not in {"", *stages[-1:]} else [])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield stages


def test_a_source_says_how_many_of_how_many(stage: Stage, told: list[str]) -> None:
    stage.source()
    begun = [said.partition(": ")[0] for said in told]
    assert list(dict.fromkeys(begun)) == [
        "Looking for the repository",
        "Reading its list of files",
        "Fetching what 2 skills say",
        "Reading what its skills say of themselves",
    ]
    assert told[-1] == "Reading what its skills say of themselves: 2 of 2"


def test_a_look_and_an_install_say_files_and_bytes(stage: Stage, told: list[str]) -> None:
    asked = stage.look(stage.source(), "skills/tables")
    size = sum(len(text) for path, text in TABLES.items() if path.startswith("skills/tables/"))
    assert told[-1] == f"Scanning 2 files, {size} B"
    assert "Fetching 2 files" in told
    told.clear()
    assert stage.say_yes(asked).stage == ""
    assert told[-2:] == [f"Scanning 2 files, {size} B", f"Writing 2 files, {size} B"]


def test_an_end_that_nobody_knows_has_no_percentage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "STEP_SECONDS", 0)
    said: list[tuple[str, int | None]] = []
    job = Telling(lambda stage, percent: said.append((str(stage), percent)))
    job.stage(phrase("Fetching"))
    job.received(340_000)
    job.tick()
    job.stage(phrase("Counting"), most=400)
    job.done(100)
    assert said == [
        ("Fetching", None),
        ("Fetching: 340 KB so far", None),
        ("Counting", 0),
        ("Counting: 100 of 400", 25),
    ]
    assert [telling.in_words(size) for size in (1, 1_000, 1_234_567)] == ["1 B", "1 KB", "1.2 MB"]
