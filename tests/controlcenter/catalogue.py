"""What the sources say and what the catalogue answers, read without gettext's tools."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.utils.translation.template import templatize

ROOT = Path(__file__).parents[2]
PO = ROOT / "locale" / "pt" / "LC_MESSAGES" / "django.po"
ROOMS = ["agents", "controlcenter", "guardrails", "live", "repositories", "runs", "skills"]
ROOMS += ["harness", "outside", "spaces", "tickets", "workspaces"]
CALLS = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"}
CALLS |= {"phrase", "phrase_many", "phrase_noop"}
IN_CONTEXT = {"pgettext", "pgettext_lazy"}
# As templatize writes it: gettext('…'), _("…"), ngettext('…', '…', count), pgettext('…', '…').
STRING = r"""u?("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
CALL = re.compile(rf"\b(p?n?gettext|_)\(\s*{STRING}(?:\s*,\s*{STRING})?", re.DOTALL)

Entry = dict[str, str]


def in_sources() -> dict[str, str]:
    """msgid → the file that says it, for every template and every room."""
    said = {}
    for file in sorted((ROOT / "templates").rglob("*.html")):
        said.update(dict.fromkeys(_in_template(file), str(file.relative_to(ROOT))))
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            said.update(dict.fromkeys(_in_python(file), str(file.relative_to(ROOT))))
    return said


def _in_template(file: Path) -> Iterator[str]:
    for call, first, second in CALL.findall(templatize(file.read_text(encoding="utf-8"))):
        yield ast.literal_eval(second if call.startswith("p") else first)


def _in_python(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and node.args):
            continue
        name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
        words = node.args[int(name in IN_CONTEXT)] if name in CALLS | IN_CONTEXT else None
        if isinstance(words, ast.Constant) and isinstance(words.value, str):
            yield words.value


def entries() -> list[Entry]:
    """The entries of the .po but its header: msgid, msgstr or msgstr[0]…, flags."""
    blocks = PO.read_text(encoding="utf-8").split("\n\n")
    return [entry for entry in map(_entry, blocks) if entry.get("msgid")]


def _entry(block: str) -> Entry:
    entry: Entry = {"flags": ""}
    field = "flags"
    for line in block.splitlines():
        if line.startswith("#"):
            entry["flags"] += line[2:] if line.startswith("#,") else ""
        elif line.startswith('"'):
            entry[field] += ast.literal_eval(line)
        elif line:
            field, _, text = line.partition(" ")
            entry[field] = ast.literal_eval(text)
    return entry
