"""A page of 50 rows through our server, beside a WSGI server and Django's own ASGI handler.

    python bench/pages.py [--rounds 5] [--seconds 3] [--connections 8]

All sides run the same view, middleware and PostgreSQL, in one go, taking turns. The WSGI server
is Granian with 4 threads (`requirements/bench.in`), which the product itself does not need.
"""

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlcenter.settings")

from bench import figures, house  # noqa: E402 - after the path
from controlcenter.local import processes  # noqa: E402
from controlcenter.onehop import PAGES_AT_ONCE  # noqa: E402

WSGI = "granian, WSGI"
# What is to be reached (DESIGN 16): ours, the other side, the least ratio of requests a second.
FIGURES = (
    ("daphne, one hop", WSGI, 0.75),
    ("uvicorn, one hop", WSGI, 0.85),
    ("daphne, one hop", "daphne, Django's handler", 1.4),
    ("uvicorn, one hop", "uvicorn, Django's handler", 1.4),
)


@dataclass
class Side:
    """One server and what was seen of it."""

    name: str
    command: list[str]
    port: int = 0
    cpu_seconds: float = 0.0
    rates: list[float] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    @property
    def p99(self) -> float:
        return statistics.quantiles(self.milliseconds, n=100)[98]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--connections", type=int, default=8)
    chosen = parser.parse_args()
    cookie = prepare()
    sides = [side for name in ("daphne", "uvicorn") for side in asgi_sides(name)]
    if find_spec("granian"):
        sides.append(Side(WSGI, granian()))
    with ExitStack() as running:
        pids = {}
        for side in sides:  # the next starts when this one is warm
            pids[side.name] = running.enter_context(serving(side))
            asyncio.run(load(side, cookie, seconds=1.0, connections=2, counts=False))
        for _ in range(chosen.rounds):
            for side in sides:
                before = cpu_seconds(pids[side.name])
                size = {"seconds": chosen.seconds, "connections": chosen.connections}
                asyncio.run(load(side, cookie, **size))
                side.cpu_seconds += cpu_seconds(pids[side.name]) - before
    return report(sides)


def report(sides: list[Side]) -> int:
    """Prints the table and the ratios."""
    print(f"{'':28} requests/s   p99 ms   CPU ms a page")
    for side in sides:
        cpu = 1000 * side.cpu_seconds / len(side.milliseconds)
        print(f"{side.name:28} {side.rate:10.0f} {side.p99:8.0f} {cpu:15.1f}")
    known = {side.name: side for side in sides}
    for ours, other, least in FIGURES:
        if other not in known:
            print(f"{ours} / {other}: no peer: granian is not installed (requirements/bench.in)")
            continue
        figures.show(f"page: {ours} / {other}", known[ours].rate / known[other].rate, least=least)
    return figures.code()


def prepare() -> str:
    """50 people in the database, and the cookie of one who is signed in."""
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    call_command("migrate", database="owner", interactive=False, verbosity=0)
    people = get_user_model()._default_manager
    if people.count() < 50:
        people.bulk_create(get_user_model()(email=f"person{n}@example.org") for n in range(50))
    return "=".join(house.session_of(people.order_by("pk")[0]))


def asgi_sides(server: str) -> list[Side]:
    site = [sys.executable, "bench/page_site.py", server]
    return [
        Side(f"{server}, one hop", [*site, f"onehop{PAGES_AT_ONCE}"]),
        Side(f"{server}, one hop, 4 at once", [*site, "onehop4"]),
        Side(f"{server}, Django's handler", [*site, "django"]),
    ]


def granian() -> list[str]:
    options = ["--interface", "wsgi", "--workers", "1", "--blocking-threads", "4", "--no-ws"]
    return [sys.executable, "-m", "granian", *options, "--log-level", "error", "--port"]


@contextmanager
def serving(side: Side) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as held:
        side.port = held.getsockname()[1]
        if side.name == WSGI:
            held.close()
            command, descriptors = [*side.command, str(side.port), "bench.page_site:wsgi"], []
        else:
            command, descriptors = [*side.command, str(held.fileno())], [held.fileno()]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=descriptors, process_group=0)
    try:
        wait_for(side.port)
        yield process.pid
    finally:
        processes.stop(process)


def cpu_seconds(pid: int) -> float:
    """What the server and its children have used; a busy machine changes it little."""
    ticks = 0
    for one in processes.descendants_of([pid]):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_for(port: int) -> None:
    for _ in range(1200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"Nothing listens on port {port}.")


async def load(
    side: Side, cookie: str, *, seconds: float, connections: int, counts: bool = True
) -> None:
    """Ask for the page over kept connections until the time is over."""
    request = f"GET /rows/ HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n".encode()
    taken: list[float] = []
    began_at = time.perf_counter()
    until = began_at + seconds
    await asyncio.gather(*(ask(side.port, request, until, taken) for _ in range(connections)))
    if counts:
        side.rates.append(len(taken) / (time.perf_counter() - began_at))
        side.milliseconds += taken


async def ask(port: int, request: bytes, until: float, taken: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (began_at := time.perf_counter()) < until:
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise SystemExit(f"The page failed: {head.decode()}")
        length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        body = await reader.readexactly(length)
        assert body.count(b"<tr ") == 50
        taken.append((time.perf_counter() - began_at) * 1000)
    writer.close()


if __name__ == "__main__":
    sys.exit(main())
