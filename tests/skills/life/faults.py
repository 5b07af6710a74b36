"""Ways in which a scan, a fetch or a write goes wrong, each with the real part broken."""

import shutil
import sys
from pathlib import Path

from django.db import connection, connections

from skills.scanning.child import Ceilings, Scanner

ROOT = Path(__file__).resolve().parents[3]

_OF_SOMETHING_ELSE = """
import sys
sys.path.insert(0, {root!r})
from skills.scanning import helper, File
other = b"---\\nname: x\\n---\\nfine\\n"
helper._files = lambda listed, body: {{"SKILL.md": File(0o100644, other)}}
helper.serve()
"""


def scanner(kind: str, folder: Path) -> Scanner:
    """A scanner with this fault."""
    python = [sys.executable, "-I", "-B", "-c"]
    match kind:
        case "scanner_raise":
            return Scanner(command=[*python, "raise SystemExit('no')"])
        case "scanner_hang":
            hasty = Ceilings(seconds=0.1, start_seconds=0.1)
            return Scanner(hasty, command=[*python, "import time; time.sleep(600)"])
        case "scanner_oom":
            return Scanner(Ceilings(memory=1 << 20))
        case "verdict_for_other_digest":
            return Scanner(command=[*python, _OF_SOMETHING_ELSE.format(root=str(ROOT))])
        case "rules_missing" | "rules_corrupt" | "rules_older":
            return Scanner(command=[*python, _with_rules(kind, folder)])
    raise AssertionError(kind)


def _with_rules(kind: str, folder: Path) -> str:
    """The scanner's program over a copy of the package whose rules are spoilt."""
    if not folder.exists():
        shutil.copytree(ROOT / "skills" / "scanning", folder / "skills" / "scanning")
        (folder / "skills" / "__init__.py").touch()
        rules = folder / "skills" / "scanning" / "rules" / "catalogue.yaml"
        if kind == "rules_missing":
            rules.unlink()
        elif kind == "rules_corrupt":
            rules.write_text("version: [\n")
        else:
            rules.write_text(rules.read_text() + "\n# an older edition\n")
    return (
        f"import sys; sys.path.insert(0, {str(folder)!r});"
        "from skills.scanning.helper import serve; serve()"
    )


def hang_up() -> None:
    """The database ends this thread's connection under its feet."""
    key = connection.connection.info.backend_pid
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [key])


def hang_up_at_the_links(_slugs: object) -> None:
    """The same, when everything is written and only the commit is left."""
    hang_up()
