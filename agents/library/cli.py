"""Check agent files: `python -m agents.library.cli PATH… [--jsonl]`. No database, no server.

`manage.py read_agents` is the same program.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from agents.library import frontmatter
from agents.library.definition import AgentDefinition, Dialect
from agents.library.loading import agent_files, read_file
from agents.library.warning import Level, LoadWarning

MISSING = 2  # exit code when a path does not exist


class Writer(Protocol):
    """Where lines go: a stream, or what a management command has for one."""

    def write(self, text: str, /) -> object:
        """Take this text, which ends with LF."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the program, for whatever face it wears."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files or folders")
    parser.add_argument("--jsonl", action="store_true", help="one JSON object a file")
    parser.add_argument(
        "--dialect",
        choices=[dialect.value for dialect in Dialect if dialect is not Dialect.NONE],
        help="read every file as this dialect instead of finding out",
    )


def run(paths: Sequence[str], *, jsonl: bool, dialect: str | None, out: Writer, err: Writer) -> int:
    """Print what each file holds; the exit code is 2 when a path does not exist, else 0."""
    forced = Dialect(dialect) if dialect else None
    code = 0
    for path in paths:
        if not os.path.lexists(path):
            err.write(f"read_agents: no such file or folder: {path}\n")
            code = MISSING
            continue
        for name in files_of(path):
            record = as_record(name, read_file_at(name, forced))
            out.write(_json_line(record) if jsonl else _line(record))
    return code


def files_of(path: str) -> Iterator[str]:
    """The path itself, or each Markdown file below it when it is a folder."""
    if not Path(path).is_dir():
        yield path
        return
    for relative, _ in agent_files(Path(path)):
        yield f"{path.rstrip('/') or '/'}/{relative}" if path != "/" else f"/{relative}"


def read_file_at(path: str, dialect: Dialect | None) -> AgentDefinition:
    """The file as a definition; its whole path is what tells its place."""
    if dialect is not None:
        return read_file(path, dialect=dialect)
    return read_file(str(Path(path).absolute()))


def as_record(path: str, definition: AgentDefinition) -> dict[str, object]:
    """What is printed about a file. `model` is what the file says, even where the dialect
    ignores it (`ignored` says so); `tools` null means all; `slug` is the name made safe.
    """
    tools = definition.tools
    return {
        "path": path,
        "dialect": definition.dialect,
        "outcome": definition.outcome,
        "name": definition.declared_name or None,
        "slug": definition.slug or None,
        "description": definition.description or None,
        "tools": None if tools is None else list(tools),
        "disallowed_tools": list(definition.disallowed_tools),
        "model": definition.model or _declared_model(definition),
        "body_sha256": frontmatter.body_sha256(definition.body),
        "warnings": [_said(w) for w in definition.warnings if w.level is Level.WARNING],
        "notes": [_said(w) for w in definition.warnings if w.level is Level.NOTE],
        "ignored": list(definition.ignored),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The program itself."""
    parser = argparse.ArgumentParser(prog="read_agents", description=__doc__)
    add_arguments(parser)
    options = parser.parse_args(arguments)
    return run(
        options.paths,
        jsonl=options.jsonl,
        dialect=options.dialect,
        out=sys.stdout,
        err=sys.stderr,
    )


def _declared_model(definition: AgentDefinition) -> str | None:
    model = definition.values.get("model")
    return model if isinstance(model, str) else None


def _said(warning: LoadWarning) -> dict[str, object]:
    said: dict[str, object] = {"code": warning.code, "sentence": warning.sentence}
    return {**said, "line": warning.line} if warning.line else said


def _json_line(record: dict[str, object]) -> str:
    """ASCII, so that it can be printed on any terminal and into any file."""
    return json.dumps(record) + "\n"


def _line(record: dict[str, object]) -> str:
    warnings = record["warnings"]
    head = f"{record['outcome']:<16} {record['dialect']:<9} {record['path']}"
    sentences = [f"\n    {w['code']}: {w['sentence']}" for w in warnings]  # type: ignore[attr-defined]
    text = "".join([head, *sentences]) + "\n"
    return text.encode("ascii", errors="backslashreplace").decode()


if __name__ == "__main__":
    sys.exit(main())
