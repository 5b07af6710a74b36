"""`python -m controlcenter.local`: start everything, or one command with its own engines."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from controlcenter.local import execute, migration, start
from controlcenter.local.errors import StartError

PROJECT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    given = _parser().parse_args(arguments)
    try:
        if given.command == "exec":
            return execute.run(given.words)
        if given.command == "migrate":
            return migration.run(_data(given.data), host=os.environ.get("CC_HOST", "127.0.0.1"))
        return start.up(_options(given))
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m controlcenter.local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start everything, or the role that CC_ROLE names")
    up.add_argument("--data", type=Path, help="the data directory (CC_DATA_DIR, ./data)")
    up.add_argument("--host", help="the address to listen on (CC_HOST, 127.0.0.1)")
    up.add_argument("--port", type=int, help="the port to listen on (CC_PORT, 8765)")
    up.add_argument("--no-browser", action="store_true", help="open no browser")
    ready = commands.add_parser("migrate", help="make a database elsewhere ready for this version")
    ready.add_argument("--data", type=Path, help="the data directory (CC_DATA_DIR, ./data)")
    one = commands.add_parser("exec", help="run a command with throw-away PostgreSQL and Valkey")
    one.add_argument("words", nargs="+", metavar="-- CMD", help="the command and its arguments")
    return parser


def _options(given: argparse.Namespace) -> start.Options:
    named = os.environ
    role = named.get("CC_ROLE") or "all"
    if role not in {"all", *start.ROLES}:
        raise StartError(f"CC_ROLE must be all or one of {', '.join(start.ROLES)}, not {role!r}.")
    return start.Options(
        data=_data(given.data),
        host=given.host or named.get("CC_HOST") or "127.0.0.1",
        port=given.port if given.port is not None else _port(named.get("CC_PORT", "")),
        role=role,
        opens_browser=not given.no_browser,
    )


def _data(given: Path | None) -> Path:
    return (given or Path(os.environ.get("CC_DATA_DIR") or PROJECT / "data")).expanduser().resolve()


def _port(text: str) -> int | None:
    if not text:
        return None
    if not text.isdigit() or int(text) > 65535:
        raise StartError(f"CC_PORT must be a number up to 65535, not {text!r}.")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
