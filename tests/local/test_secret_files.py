"""The keys of an instance: every process that starts with it reads the same whole ones."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from controlcenter.local import passwords
from controlcenter.secret_files import Secrets, kept

MANY = 8


def test_processes_that_begin_together_read_one_whole_key(tmp_path: Path) -> None:
    def read(folder: Path, start: Barrier) -> str:
        start.wait(timeout=30)
        return Secrets(folder).audit_key

    with ThreadPoolExecutor(MANY) as pool:
        for number in range(10):
            folder, start = tmp_path / str(number), Barrier(MANY)
            found = list(pool.map(read, [folder] * MANY, [start] * MANY))
            assert len(found[0]) == 64
            assert set(found) == {found[0]}
            assert [file.name for file in folder.iterdir()] == ["audit.key"]


def test_a_kept_file_is_its_owners_alone_and_stays_what_it_is(tmp_path: Path) -> None:
    file = tmp_path / "secrets" / "x.key"
    assert kept(file, "first") == "first"
    assert kept(file, "second") == "first"
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_who_ends_in_the_middle_leaves_no_half_made_key(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        kept(tmp_path / "x.key", "half \ud800")
    assert list(tmp_path.iterdir()) == []
    assert kept(tmp_path / "x.key", "whole") == "whole"


def test_the_engines_passwords_are_made_once(tmp_path: Path) -> None:
    made = passwords.load_or_make(tmp_path / "passwords.json")
    assert set(made) == set(passwords.NAMES)
    assert passwords.load_or_make(tmp_path / "passwords.json") == made
