"""What a run costs above the bare client: milliseconds a turn and memory.

    python bench/harness.py --turns 100                    all three, beside each other, own server
    python bench/harness.py --turns 100 --base-url URL     against any Anthropic-compatible address
    python bench/harness.py --turns 100 --bare             the official client alone
    python bench/harness.py --turns 100 --pure             the harness with a journal in memory
    python bench/harness.py --turns 100 --concurrent 50    memory of one more run in a worker

A turn is one model call, one tool call and its result. The conversation grows by a turn each time,
as a real one does. The third way is the whole product: a message, a claimed run, every event in
PostgreSQL, every event rendered and sent to an open tab. It starts throw-away engines when
DATABASE_URL names none.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import figures, house  # noqa: E402 - after the path
from harness import errors  # noqa: E402 - after the path
from harness.adapters.builtin import BuiltIn  # noqa: E402
from harness.events import Delta, Event  # noqa: E402
from harness.seam import (  # noqa: E402
    Allow,
    GateCall,
    GitIdentity,
    Limits,
    Ports,
    ProviderSettings,
    PushAnswer,
    PushWish,
    Refused,
    RunSpec,
    SkillLine,
    Wake,
)
from harness.stop import Stop  # noqa: E402

Way = Callable[[], Callable[[], None]]  # prepares a conversation; what it returns is measured
BARE, PURE, WHOLE = "bare client", "harness, journal in memory", "stored events, live broadcast"
MOST, MOST_MB = 1.6, 3.0  # DESIGN 16
if TYPE_CHECKING:
    from runs.models import Run

MODEL = "claude-opus-5-5"
TASK = "Read the README as often as you like."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--base-url", help="an Anthropic-compatible address; else our own server")
    parser.add_argument("--api-key", default="bench")
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bare", action="store_true", help="only the client")
    parser.add_argument("--pure", action="store_true", help="only the harness, journal in memory")
    parser.add_argument("--concurrent", type=int, help="that many runs at once: memory of each")
    chosen = parser.parse_args()
    if not (chosen.bare or chosen.pure):
        house.need_engines()
    with tempfile.TemporaryDirectory() as folder, serving(chosen) as url:
        place = Path(folder)
        (place / "README.md").write_text("# Bench\n\nA file to read.\n")
        if chosen.concurrent:
            with whole(url, chosen) as asked:
                concurrent(asked, chosen)
            return
        ways: dict[str, Way] = {
            BARE: lambda: partial(run_bare, place, url, chosen),
            PURE: lambda: partial(run_pure, place, url, chosen),
        }
        if chosen.bare or chosen.pure:
            measure({BARE: ways[BARE]} if chosen.bare else ways, chosen)
            return
        with whole(url, chosen) as asked:
            spent = measure(ways | {WHOLE: asked}, chosen)
        figures.show("a turn, whole product / bare client", spent[WHOLE] / spent[BARE], most=MOST)
        sys.exit(figures.code())


@contextmanager
def serving(chosen: argparse.Namespace) -> Iterator[str]:
    """The address to talk to. Our own server is a process of its own, so that it does not share
    the interpreter with what is measured."""
    if chosen.base_url:
        yield chosen.base_url
        return
    command = [sys.executable, "-m", "tests.scripted.anthropic", "--turns", str(chosen.turns)]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait()


def measure(ways: Mapping[str, Way], chosen: argparse.Namespace) -> dict[str, float]:
    """Milliseconds a turn for each way: the median of rounds that take turns, so that a noisy
    neighbour hits both. The first round warms up. What a way prepares is not measured."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(chosen.rounds + 1):
        for name, way in ways.items():
            run = way()
            started, worked = time.perf_counter(), time.process_time()
            run()
            spent[name].append((time.perf_counter() - started) * 1000 / chosen.turns)
            cpu[name].append((time.process_time() - worked) * 1000 / chosen.turns)
    medians = {name: statistics.median(times[1:]) for name, times in spent.items()}
    for name, middle in medians.items():
        own = statistics.median(cpu[name][1:])
        print(f"{name:36} {middle:8.2f} ms a turn   {own:6.2f} ms of it our processor time")
    print(f"{'peak memory':36} {peak_mb():8.1f} MB")
    return medians


# The bare client: what one writes by hand in an afternoon


def run_bare(place: Path, url: str, chosen: argparse.Namespace) -> None:
    import anthropic

    client = anthropic.Anthropic(api_key=chosen.api_key, base_url=url, max_retries=0)
    tool: Any = {
        "name": "read",
        "description": "Read a file",
        "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}},
    }
    messages: list[Any] = [{"role": "user", "content": TASK}]
    for _ in range(chosen.turns + 1):
        with client.messages.stream(
            model=MODEL, max_tokens=4096, messages=messages, tools=[tool]
        ) as stream:
            for _ in stream:
                pass
            answer = stream.get_final_message()
        messages.append({"role": "assistant", "content": answer.content})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return
        text = (place / "README.md").read_text()
        messages.append(
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": call.id, "content": text}
                    for call in calls
                ],
            }
        )


# The harness with nothing behind it


class MemorySink:
    def __init__(self) -> None:
        self.seq = 0

    def record(self, *events: Event) -> int:
        for event in events:
            json.dumps(event.data)
        self.seq += len(events)
        return self.seq

    def delta(self, delta: Delta) -> None:
        pass

    def arrived(self) -> Sequence[Event]:
        return ()


class OpenGate:
    def check(self, call: GateCall) -> Allow:
        return Allow()


class NoDesk:
    def request(self, wish: PushWish) -> PushAnswer:
        return Refused("not in a bench")


class EmptyShelf:
    def index(self) -> Sequence[SkillLine]:
        return ()

    def body(self, name: str, *, asked: bool = False) -> None:
        return None

    def news(self) -> Sequence[Event]:
        return ()


def bench_spec(place: Path, url: str, chosen: argparse.Namespace) -> RunSpec:
    """A run that reads a README as often as the server says."""
    settings = ProviderSettings("anthropic", "anthropic", api_key=chosen.api_key, base_url=url)
    return RunSpec(
        run_id="bench",
        workspace_id="bench",
        agent_id="bench",
        agent_name="engineer",
        agent_title="Engineer",
        model=f"anthropic/{MODEL}",
        providers={"anthropic": settings},
        mode="chat",
        working_directory=place,
        artefact_directory=place / "artefacts",
        roots=(),
        git_identity=GitIdentity("Bench", "bench@example.invalid"),
        wake=Wake("api", TASK),
        limits=Limits(
            max_turns=chosen.turns + 5,
            identical_calls_steer=chosen.turns + 5,
            identical_calls_end=chosen.turns + 5,
        ),
    )


def run_pure(place: Path, url: str, chosen: argparse.Namespace) -> None:
    ports = Ports(
        gate=OpenGate(), sink=MemorySink(), stop=Stop(), push_desk=NoDesk(), shelf=EmptyShelf()
    )
    try:
        BuiltIn().run(bench_spec(place, url, chosen), [], ports)
    except errors.Completed:
        return


# The whole product


@contextmanager
def whole(url: str, chosen: argparse.Namespace) -> Iterator[Way]:
    """A run that waits, watched by an open tab, for a worker to execute it from claim to end."""
    built = house.build(base_url=url, api_key=chosen.api_key)
    from django.conf import settings
    from django.db import connection

    from runs import runner

    most = chosen.turns + 5
    settings.CC_RUN_LIMITS = {
        "max_turns": most,
        "identical_calls_steer": most,
        "identical_calls_end": most,
    }
    with house.open_tab() as tab:

        def ask() -> Callable[[], None]:
            run = built.ask(built.converse(), f"@bench {TASK}")
            connection.close()  # as a page does when it has answered
            tab.opens(run)
            return partial(execute, run)

        def execute(run: "Run") -> None:
            runner.execute(run.workspace_id, run.pk)
            done = built.fresh(run)
            connection.close()
            assert done.state == "succeeded", done.summary

        yield ask


def concurrent(way: Way, chosen: argparse.Namespace) -> None:
    """Runs that all work at the same moment, and what one more of them holds."""
    way()()
    runs = [way() for _ in range(chosen.concurrent)]
    before = memory_mb()
    threads = [threading.Thread(target=run) for run in runs]
    for thread in threads:
        thread.start()
    highest = before
    while any(thread.is_alive() for thread in threads):
        highest = max(highest, memory_mb())
        time.sleep(0.01)
    each = (highest - before) / chosen.concurrent
    figures.show(f"memory of one more run, {chosen.concurrent} at once", each, "MB", most=MOST_MB)
    sys.exit(figures.code())


def memory_mb() -> float:
    """Resident now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
