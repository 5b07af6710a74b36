"""The org chart of 1,000 agents in Chromium: how soon it is drawn, and how smoothly it is panned.

    python bench/orgchart.py [--agents 1000] [--rounds 5]

Drawn is: from the click on the address until the first frame that shows every box. The peer is the
browser alone with as many plain boxes and words, without a server and without a style. What moves
is measured from the first frame on, and also while others' runs change the boxes.
"""

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import figures, house, start  # noqa: E402 - after the path

SECONDS, FRAMES = 1.0, 30.0  # DESIGN 16
UNDER = 8  # how many report to one
DRAWN = """count => new Promise(done => {
    const shown = () => requestAnimationFrame(() => setTimeout(() => done(performance.now())));
    const isThere = () => document.querySelectorAll("svg .node").length >= count;
    const look = () => isThere() ? shown() : setTimeout(look, 5);
    look();
})"""
# A finger or a wheel, frame by frame: scrolled, zoomed about a point, both, and while news come.
MOVE = """([frames, how]) => new Promise(done => {
    const place = document.querySelector("[data-board-place]");
    const gaps = [];
    let last = performance.now();
    const wheel = deltaY => place.dispatchEvent(new WheelEvent("wheel", {
        deltaY, ctrlKey: true, bubbles: true, cancelable: true, clientX: 700, clientY: 450,
    }));
    const news = () => document.body.dispatchEvent(new CustomEvent("live-roster"));
    const step = now => {
        const n = gaps.push(now - last);
        last = now;
        if (how.includes("pan")) place.scrollBy(n % 60 < 30 ? 24 : -24, n % 120 < 60 ? 16 : -16);
        if (how.includes("zoom")) wheel(n % 80 < 40 ? -8 : 8);
        if (how.includes("live") && n % 40 === 5) news();
        n < frames ? requestAnimationFrame(step) : done(gaps.slice(1));
    };
    requestAnimationFrame(step);
})"""
WAYS = {
    "panned": "pan",
    "zoomed": "zoom",
    "panned while zoomed": "pan zoom",
    "panned, live": "pan live",
}
BOX = '<g><rect x="{x}" y="{y}" width="204" height="64"/><text x="{x}" y="{y}">{n}</text></g>'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agents", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    house.need_engines()
    built = house.build()
    fill(built, chosen.agents)
    with web() as address, page(address, built) as tab:
        chart = f"{address}/w/{built.workspace.slug}/orgchart/"
        drawn, plain = [], []
        slowest: dict[str, list[float]] = {way: [] for way in WAYS}
        for _ in range(chosen.rounds):
            tab.goto(chart, wait_until="commit")
            drawn.append(tab.evaluate(DRAWN, chosen.agents) / 1000)
            for way, how in WAYS.items():
                slowest[way].append(p98(tab.evaluate(MOVE, [160, how])))
            plain.append(boxes_alone(tab, chosen.agents))
    report(chosen.agents, drawn, plain, slowest)
    return figures.code()


def p98(gaps: list[float]) -> float:
    """Of the milliseconds between two frames."""
    return statistics.quantiles(gaps, n=100)[97]


def report(
    agents: int, drawn: list[float], plain: list[float], slowest: dict[str, list[float]]
) -> None:
    middle, alone = statistics.median(drawn), statistics.median(plain)
    print(f"{agents:,} plain boxes, the browser alone: {alone * 1000:.0f} ms", end=", ")
    print(f"the chart takes {middle / alone:.1f} × that")
    figures.show(f"org chart of {agents:,}, drawn", middle, "s", most=SECONDS)
    print("frames/s below which one frame in fifty falls: the best round, (all of them)")
    for way, rounds in slowest.items():
        print(f"{way:20} ({', '.join(f'{1000 / each:.0f}' for each in rounds)})")
        name = f"org chart of {agents:,}, {way} (p98)"
        figures.show(name, 1000 / min(rounds), "fps", least=FRAMES)


def fill(built: house.House, count: int) -> None:
    """So many agents, eight below each."""
    from django.utils import timezone

    from agents.models import Agent
    from workspaces.models import Principal, Workspace
    from workspaces.tenancy import bind

    with bind(built.workspace):
        # Its team has arrived: else the page asks for it again and again.
        Workspace.objects.filter(pk=built.workspace.pk).update(seeded_at=timezone.now())
        made = Principal.objects.bulk_create(
            Principal(workspace=built.workspace, kind="agent", handle=f"agent-{n}")
            for n in range(count - 1)
        )
        everybody = [built.agent.principal, *made]
        Agent.objects.bulk_create(
            Agent(
                workspace=built.workspace,
                principal=each,
                name=each.handle,
                title="Bench",
                reports_to=everybody[number // UNDER],
            )
            for number, each in enumerate(made)
        )


@contextmanager
def web() -> Iterator[str]:
    """The product's own web process on the engines of the bench."""
    process = subprocess.Popen(
        [sys.executable, "-m", "controlcenter.local", "up", "--port", "0", "--no-browser"],
        cwd=ROOT,
        env=os.environ | {"CC_ROLE": "web"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield start.said(process)
    finally:
        process.terminate()
        process.communicate(timeout=30)


@contextmanager
def page(address: str, built: house.House) -> Iterator[Any]:
    """A tab of the owner, signed in."""
    from playwright.sync_api import sync_playwright

    from tests.browser.chromium import FLAGS, chromium
    from workspaces.models import Membership
    from workspaces.tenancy import bind

    path = chromium()
    if path is None:
        raise SystemExit("this machine has no chromium")
    with bind(built.workspace):
        name, value = house.session_of(Membership.objects.get(principal=built.ada).user)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": name, "value": value, "url": address}])
        yield context.new_page()
        browser.close()


def boxes_alone(tab: Any, count: int) -> float:
    """Seconds until as many boxes are drawn that come from nowhere."""
    tab.goto("about:blank")
    boxes = "".join(BOX.format(x=n % 40 * 260, y=n // 40 * 84, n=n) for n in range(count))
    return float(
        tab.evaluate(
            """boxes => new Promise(done => {
                const began = performance.now();
                document.body.innerHTML = `<svg width="12000" height="3000">${boxes}</svg>`;
                requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
            })""",
            boxes,
        )
        / 1000
    )


if __name__ == "__main__":
    sys.exit(main())
