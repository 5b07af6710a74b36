"""Loading agent files: cold, unchanged, and after one change, beside a plain YAML parse.

    python bench/agents.py [--files 1000] [--rounds 5]

The files are as large as real ones (about 5 KB), spread over a checkout, a member's home and two
dialects. The peer splits at the fences and calls PyYAML's C loader, and does nothing else.
"""

import argparse
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import yaml  # noqa: E402 - after the path

from agents.library.loading import Loader, agent_files  # noqa: E402
from agents.library.places import Place, Surroundings, places  # noqa: E402
from agents.library.scopes import resolve  # noqa: E402
from bench import figures  # noqa: E402

COLD_SECONDS, WARM_MILLISECONDS = 2.0, 50.0  # DESIGN 16
FENCES = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
BODY = "You look at what was changed and say what matters, with the place and the reason.\n" * 55


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cc-bench-") as folder:
        where = write_files(Path(folder), options.files)
        report(where, files=options.files, rounds=options.rounds)
    return figures.code()


def write_files(folder: Path, count: int) -> tuple[Place, ...]:
    """`count` agent files in four folders; the places that lead to them."""
    repo, home = folder / "repo", folder / "home"
    (repo / ".git").mkdir(parents=True)
    folders = [
        repo / ".claude/agents",
        repo / ".qwen/agents",
        home / ".fuxi/agents/team",
        home / ".jarvis-code/agents",
    ]
    for target in folders:
        target.mkdir(parents=True)
    for number in range(count):
        (folders[number % len(folders)] / f"agent-{number}.md").write_text(text_of(number))
    return places(Surroundings(cwd=repo, ceiling=folder, home=home))


def text_of(number: int) -> str:
    """One agent file; every twentieth has the fault that real ones have."""
    description = "Reviews code after a change" if number % 20 else "Use it when: code changed"
    return (
        f"---\nname: agent-{number}\ndescription: {description}\n"
        f"tools: Read, Grep, Glob, Bash, mcp__github__*\nmodel: sonnet\ncolor: blue\n---\n\n{BODY}"
    )


def report(where: tuple[Place, ...], *, files: int, rounds: int) -> None:
    """Print the medians of all rounds, with the figures of DESIGN 16 beside them."""
    time.sleep(0.2)  # files are remembered once the file system's clock has moved on
    cold = [seconds(lambda: Loader().load(where)) for _ in range(rounds)]
    loader = Loader()
    found = loader.load(where)
    warm = [seconds(lambda: loader.load(where)) for _ in range(rounds)]
    peer = [seconds(lambda: plain_parse(where)) for _ in range(rounds)]
    scopes = [seconds(lambda: resolve(found)) for _ in range(rounds)]
    changed = Path(found[0].definition.path)
    changed.write_text(changed.read_text() + "One more line.\n")
    once = [seconds(lambda: loader.load(where))]
    print(f"agent files: {files} written, {len(found)} found with the built-in ones")
    line("beside: fences and PyYAML only", peer)
    line("one file changed", once)
    line("scopes and shadowing", scopes)
    print(f"  {'cold / fences and PyYAML only':<34} {ratio(cold, peer):8.1f} ×")
    many = f"{files:,} agent files"
    figures.show(f"{many}, cold", statistics.median(cold), "s", most=COLD_SECONDS)
    middle = statistics.median(warm) * 1000
    figures.show(f"{many}, nothing changed", middle, "ms", most=WARM_MILLISECONDS)


def plain_parse(where: tuple[Place, ...]) -> int:
    """What nobody can do without: find, read, split, parse."""
    count = 0
    for place in where:
        for _, path in agent_files(place.folder, root=place.root):
            match = FENCES.match(Path(path).read_text())
            try:
                yaml.load(match[1] if match else "", Loader=yaml.CSafeLoader)
            except yaml.YAMLError:
                continue
            count += 1
    return count


def seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def ratio(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(ours) / statistics.median(theirs)


def line(what: str, times: list[float]) -> None:
    print(f"  {what:<34} {statistics.median(times) * 1000:8.1f} ms")


if __name__ == "__main__":
    sys.exit(main())
