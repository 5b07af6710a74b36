"""python -m tests.remote --root DIR --port 0 [--log FILE] [--create NAME ...] [--user U:PASSWORD]

Serves the bare repositories below DIR until it is ended; prints its address on the first line.
"""

import argparse
import signal
import sys
import threading
from pathlib import Path

from tests.remote.server import serve


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.remote")
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, help="one JSON line for each request")
    parser.add_argument("--create", action="append", default=[], help="make this repository")
    parser.add_argument("--user", default="", help="name:password that a write must show")
    chosen = parser.parse_args()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    signal.signal(signal.SIGINT, lambda *_: ended.set())
    with serve(chosen.root, port=chosen.port, log=chosen.log) as remote:
        if chosen.user:
            name, _, password = chosen.user.partition(":")
            remote.credential = (name, password)
        for name in chosen.create:
            if not (chosen.root / name).exists():
                remote.create(name, {"README.md": f"# {name}\n"})
        sys.stdout.write(f"http://127.0.0.1:{remote.port}\n")
        sys.stdout.flush()
        ended.wait()


if __name__ == "__main__":
    main()
