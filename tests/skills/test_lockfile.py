# ruff: noqa: E501 - a row of a table is one line
"""The lock: what is written is read back whole, and nothing else is ever read."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from skills.lockfile import (
    Given,
    Lock,
    LockMismatch,
    LockUnreadable,
    Pin,
    State,
    computed_hash,
    dump,
    parse,
)
from skills.scanning import Decision, File, digest

FILES = {"SKILL.md": File(0o100644, b"text\n"), "run.sh": File(0o100755, b"#!/bin/sh\n")}
PIN = Pin(
    source="ada/skills",
    source_type="github",
    source_url="https://github.com/ada/skills",
    ref="main",
    skill_path="skills/tables/SKILL.md",
    commit="a" * 40,
    tree_sha="b" * 40,
    digest=digest(FILES),
    computed_hash=computed_hash(FILES),
    verdict=Given(
        Decision.ACCEPTED, "2026-08-30+0123456789ab", datetime(2026, 9, 1, 12, tzinfo=UTC), "ada"
    ),
)
LOCK = Lock({"tables": PIN, "charts": PIN})


@pytest.mark.req("CC-36")
def test_a_lock_is_read_back_as_it_was_written() -> None:
    assert parse(dump(LOCK)) == LOCK
    assert dump(parse(dump(LOCK))) == dump(LOCK)


@pytest.mark.req("CC-36")
def test_the_public_command_line_finds_its_keys() -> None:
    data = json.loads(dump(LOCK))
    assert data["version"] == 1
    assert list(data["skills"]) == ["charts", "tables"]
    entry = data["skills"]["tables"]
    assert {"source", "sourceType", "skillPath", "computedHash", "ref", "sourceUrl"} <= set(entry)
    assert entry["commit"] == "a" * 40
    assert dump(LOCK).endswith(b"}\n")
    assert b'\n  "skills": {' in dump(LOCK)


def test_keys_of_others_survive() -> None:
    data = json.loads(dump(LOCK))
    data["skills"]["tables"]["pluginName"] = "x"
    again = json.loads(dump(parse(json.dumps(data).encode())))
    assert again["skills"]["tables"]["pluginName"] == "x"


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    data = json.loads(dump(LOCK))
    change(data)
    return json.dumps(data).encode()


def entry(**fields: object) -> bytes:
    return changed(lambda data: data["skills"]["tables"].update(fields))


def without(key: str) -> bytes:
    return changed(lambda data: data["skills"]["tables"].pop(key))


def verdict(**fields: object) -> bytes:
    return changed(lambda data: data["skills"]["tables"]["verdict"].update(fields))


@pytest.mark.req("CC-36")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"version": 1}',
        b'{"skills": {}}',
        b'{"version": 2, "skills": {}}',
        b'{"version": true, "skills": {}}',
        b'{"version": 1, "skills": []}',
        b'{"version": 1, "skills": {}, "more": 1}',
        b'{"version": 1, "version": 1, "skills": {}}',
        b'{"version": NaN, "skills": {}}',
        b"[" * 100_000,
        b"\xff\xfe{}",
        dump(LOCK)[:-20],
        b"<<<<<<< HEAD\n" + dump(LOCK),
        changed(lambda data: data["skills"].update({"../x": data["skills"]["tables"]})),
        changed(lambda data: data["skills"].update({"x": "y"})),
        entry(commit="main"),
        entry(commit="a" * 39),
        entry(commit="A" * 40),
        entry(digest=""),
        entry(digest="sha256:" + "0" * 63),
        entry(computedHash=""),
        entry(source=""),
        entry(skillPath="../x/SKILL.md"),
        entry(skillPath="/x/SKILL.md"),
        entry(source=7),
        *(without(key) for key in (
            "source", "sourceType", "skillPath", "commit", "treeSha", "digest", "computedHash", "verdict",
        )),
        verdict(decision="held"),
        verdict(decision="refused"),
        verdict(decision="yes"),
        verdict(ruleset=""),
        verdict(scannedAt="yesterday"),
        verdict(scannedAt="2026-09-01T12:00:00"),
        verdict(more="x"),
    ],
    ids=lambda data: repr(data[-40:]),
)  # fmt: skip
def test_a_lock_that_is_not_whole_is_never_an_empty_one(data: bytes) -> None:
    with pytest.raises(LockUnreadable) as error:
        parse(data)
    assert error.value.problems


def test_every_problem_of_a_lock_is_told() -> None:
    with pytest.raises(LockUnreadable) as error:
        parse(entry(commit="x", digest="y", source=""))
    assert len(error.value.problems) == 3


@pytest.mark.req("CC-36")
@pytest.mark.parametrize(
    ("name", "files", "state"),
    [
        ("tables", FILES, State.MATCHED),
        ("tables", {**FILES, "SKILL.md": File(0o100644, b"other\n")}, State.DRIFTED),
        ("tables", {**FILES, "more.md": File(0o100644, b"")}, State.DRIFTED),
        ("tables", {**FILES, "run.sh": File(0o100644, b"#!/bin/sh\n")}, State.DRIFTED),
        ("tables", {}, State.DRIFTED),
        ("tables", None, State.MISSING),
        ("strange", FILES, State.UNLISTED),
    ],
)
def test_what_stands_on_disk(name: str, files: dict[str, File] | None, state: State) -> None:
    assert LOCK.state(name, files) is state
    if state is State.MATCHED:
        assert LOCK.require(name, files) is PIN
        return
    with pytest.raises(LockMismatch) as error:
        LOCK.require(name, files)
    assert (error.value.name, error.value.state) == (name, state)


def test_pins_come_and_go() -> None:
    assert LOCK.without("tables").with_pin("tables", PIN) == LOCK
    assert "tables" not in LOCK.without("tables").pins


def test_the_public_hash_orders_as_a_browser_does() -> None:
    names = ["b.md", "A.md", "a.md", "SKILL.md", "_x", "9.md"]
    from_one_order = computed_hash({name: File(0o100644, name.encode()) for name in names})
    from_another = computed_hash({name: File(0o100644, name.encode()) for name in sorted(names)})
    assert from_one_order == from_another
