"""An event on its way to many open tabs: the hub beside one channel-layer member per socket.

    python bench/live.py [--server uvicorn] [--tabs 200 1000] [--rounds 3] [--peers FOLDER]

Both sides run on this machine in one go, with the same server, Valkey, tabs and payload. The
peer needs channels_redis (`requirements/bench.in`), which the product itself does not."""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import django  # noqa: E402
from django.conf import settings  # noqa: E402

from bench import figures  # noqa: E402
from tests.live.engines import Site, Valkey, running  # noqa: E402

HTML = '<article id="event-1" hx-swap-oob="beforeend:#transcript">' + "x" * 170 + "</article>"
Publish = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Figures:
    """Milliseconds from the commit to the tab; `cpu`: what the server spent on one event, which
    is the figure to trust on a machine that is busy with something else."""

    cpu: float
    p50: float
    p95: float
    p99: float
    lost: int
    twice: int
    join_seconds: float

    def __str__(self) -> str:
        return (
            f"cpu {self.cpu:5.1f}  p50 {self.p50:6.1f}  p95 {self.p95:6.1f}  p99 {self.p99:6.1f} ms"
            f"  lost {self.lost}  twice {self.twice}  all joined in {self.join_seconds:.1f} s"
        )


def measure(site: Site, publish: Publish, *, tabs: int, events: int, pause: float) -> Figures:
    """`events` go out one every `pause` seconds (with jitter), after all tabs have joined."""
    command = [sys.executable, "bench/live_tabs.py", str(site.port), str(tabs), "s", str(events)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = process.stdout.readline().split()
        time.sleep(1)
        before = _cpu(site)
        for i in range(events):
            publish({"at": time.monotonic(), "i": i})
            time.sleep(pause * random.uniform(0.7, 1.3))
        result = json.loads(process.stdout.readline())
    cpu = (_cpu(site) - before) / events * 1000
    cuts = statistics.quantiles(result["latencies"], n=100)
    p50, p95, p99 = (cuts[i] * 1000 for i in (49, 94, 98))
    return Figures(cpu, p50, p95, p99, result["lost"], result["twice"], float(ready[1]))


def _cpu(site: Site) -> float:
    fields = Path(f"/proc/{site.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def through_hub(valkey: Valkey, server: str, **size: Any) -> Figures:
    import live

    valkey.client.set("site:session:s", "ada")
    valkey.client.sadd("site:topics:ada", "bench")
    with running(site := Site(server, valkey.url, {"tabs_per_user": 10_000})):
        return measure(
            site, lambda data: live.publish("bench", "event", html=HTML, data=data), **size
        )


def through_layer(valkey: Valkey, server: str, **size: Any) -> Figures:
    from channels_redis.pubsub import RedisPubSubChannelLayer

    layer = RedisPubSubChannelLayer(hosts=[valkey.url])
    with asyncio.Runner() as runner:

        def publish(data: dict[str, Any]) -> None:
            text = json.dumps({"topic": "bench", "kind": "event", "html": HTML, "data": data})
            runner.run(layer.group_send("bench", {"type": "event", "text": text}))

        with running(site := Site(server, valkey.url, {}, app="bench.live_peer:application")):
            return measure(site, publish, **size)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", choices=["uvicorn", "daphne"], default="daphne")
    parser.add_argument("--tabs", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", help="a folder with channels_redis, if it is not installed")
    options = parser.parse_args()
    if options.peers:
        sys.path.append(options.peers)
        os.environ["PYTHONPATH"] = options.peers
    with tempfile.TemporaryDirectory() as folder, running(valkey := Valkey(Path(folder))):
        settings.configure(REDIS_URL=valkey.url, LANGUAGES=[("en", "English"), ("pt", "Português")])
        django.setup()
        for tabs in options.tabs:
            compare(valkey, options.server, tabs, options.rounds)
    return figures.code()


def compare(valkey: Valkey, server: str, tabs: int, rounds: int) -> None:
    """Both sides in turn; prints the median of the rounds. To be met: 200 tabs within 60 ms (p95),
    1,000 tabs five times sooner than the peer (p99), none lost or doubled."""
    size = {"tabs": tabs} | (
        {"events": 60, "pause": 0.1} if tabs <= 200 else {"events": 20, "pause": 0.8}
    )
    has_peer = find_spec("channels_redis") is not None
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(through_hub(valkey, server, **size))
        if has_peer:
            theirs.append(through_layer(valkey, server, **size))
    mine = median(ours)
    print(f"{server}, {tabs} tabs, hub            {mine}", flush=True)
    if has_peer:
        print(f"{server}, {tabs} tabs, channel layer  {median(theirs)}", flush=True)
    figures.show(f"event → {tabs:,} tabs, lost or doubled", mine.lost + mine.twice, "", most=0)
    if tabs <= 200:
        figures.show(f"event → {tabs:,} tabs, p95", mine.p95, "ms", most=60)
    if has_peer:
        _against(median(theirs), mine, tabs)
    else:
        print("  no peer: channels_redis is not installed (requirements/bench.in)")


def _against(layer: Figures, hub: Figures, tabs: int) -> None:
    print(f"  layer / hub: cpu {layer.cpu / hub.cpu:.1f}, p95 {layer.p95 / hub.p95:.1f}")
    if tabs > 200:
        figures.show(f"event → {tabs:,} tabs, p99: layer / hub", layer.p99 / hub.p99, least=5)


def median(seen: list[Figures]) -> Figures:
    """Of each figure by itself; what was lost or doubled is summed up."""
    middle = {
        name: statistics.median(getattr(each, name) for each in seen)
        for name in ("cpu", "p50", "p95", "p99", "join_seconds")
    }
    lost, twice = sum(each.lost for each in seen), sum(each.twice for each in seen)
    return Figures(**middle, lost=lost, twice=twice)


if __name__ == "__main__":
    sys.exit(main())
