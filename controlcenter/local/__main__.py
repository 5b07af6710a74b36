"""`python -m controlcenter.local`: start everything, or one command with its own engines."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from controlcenter import env
from controlcenter.env import BadSetting
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
            return migration.run(_data(given.data), host=env.text("CC_HOST", "127.0.0.1"))
        return start.up(_options(given))
    except (StartError, BadSetting) as error:
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
    return start.Options(
        data=_data(given.data),
        host=given.host or env.text("CC_HOST", "127.0.0.1"),
        port=given.port if given.port is not None else _port(),
        role=env.choice("CC_ROLE", "all", ("all", *start.ROLES)),
        opens_browser=not given.no_browser,
    )


def _data(given: Path | None) -> Path:
    return given.expanduser().resolve() if given else env.path("CC_DATA_DIR", PROJECT / "data")


def _port() -> int | None:
    return env.number("CC_PORT", 0, high=65535) if env.text("CC_PORT") else None


if __name__ == "__main__":
    sys.exit(main())
