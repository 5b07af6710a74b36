"""`make requirements`: which numbered requirements have a passing test, and which have none.

Reads the catalogue (CC_REQUIREMENTS, else ../shared/requirements.md) and what the last `make test`
and `make soak` noted in `test-results/` from the `req` markers.
"""

import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CATALOGUE = Path(os.environ.get("CC_REQUIREMENTS") or ROOT / "../shared/requirements.md")
ROW = re.compile(r"^\|\s*((?:CC|JA|JW|FX|QW)-\d+)\s*\|\s*([^|]*)", re.MULTILINE)


def catalogue(text: str) -> dict[str, str]:
    """The ids in their order, each with the start of what it asks for; the first row of an id."""
    rows: dict[str, str] = {}
    for name, words in ROW.findall(text):
        rows.setdefault(name, words.strip())
    return rows


def proven(folder: Path) -> set[str]:
    """The ids of which at least one test ran and all that ran passed."""
    outcomes: dict[str, set[str]] = {}
    for file in sorted(folder.glob("proofs-*.json")):
        for name, tests in json.loads(file.read_text()).items():
            outcomes.setdefault(name, set()).update(tests.values())
    return {name for name, seen in outcomes.items() if seen == {"passed"}}


def main() -> int:
    """Prints the list; 1 when there is nothing to read."""
    if not CATALOGUE.is_file():
        sys.stderr.write(f"No catalogue at {CATALOGUE}; name it in CC_REQUIREMENTS.\n")
        return 1
    rows, passing = catalogue(CATALOGUE.read_text()), proven(ROOT / "test-results")
    for name, words in rows.items():
        sys.stdout.write(f"{'ok' if name in passing else '--'}  {name:7} {words[:80]}\n")
    sys.stdout.write(f"{len(passing & rows.keys())} of {len(rows)} have a passing test.\n")
    if unknown := sorted(passing - rows.keys()):
        sys.stdout.write(f"Marked, but not in the catalogue: {', '.join(unknown)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
