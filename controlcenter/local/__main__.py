"""`python -m controlcenter.local`: start everything, or one command with its own engines."""

import argparse
import sys
from collections.abc import Sequence

from controlcenter.local import execute
from controlcenter.local.errors import StartError


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m controlcenter.local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("exec", help="run a command with throw-away PostgreSQL and Valkey")
    one.add_argument("words", nargs="+", metavar="-- CMD", help="the command and its arguments")
    given = parser.parse_args(arguments)
    try:
        return execute.run(given.words)
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
