"""Where the compatibility corpus is, and what it expects."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Machines are busy: how long an example takes says nothing about the reader.
settings.register_profile(
    "library", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("library")

HERE = Path(__file__).parent
CORPUS = Path(os.environ.get("CC_CORPUS") or HERE.parents[2].parent / "shared" / "corpus")


@dataclass(frozen=True)
class Expected:
    """One record of `expected.jsonl` about an agent file, with the file's bytes."""

    record: dict[str, Any]
    data: bytes

    @property
    def path(self) -> str:
        return str(self.record["path"])

    def accepts(self, outcome: str, *, dialect: str = "") -> bool:
        """The outcome is one of those the record allows (for the file read as `dialect`)."""
        record = self.record["outcomes"][dialect] if dialect else self.record
        return outcome in (record.get("acceptable") or [record["outcome"]])


@pytest.fixture(scope="session")
def corpus() -> list[Expected]:
    """The agent files of the corpus. Without a corpus the test is skipped, and says so."""
    if not (CORPUS / "expected.jsonl").is_file():
        pytest.skip(f"no corpus: set CC_CORPUS (looked in {CORPUS})")
    return list(_records())


def _records() -> Iterator[Expected]:
    for line in (CORPUS / "expected.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if record["kind"] == "agent":
            yield Expected(record, (CORPUS / record["path"]).read_bytes())
