"""`make bench`: every benchmark beside its peer, printed and written to bench/RESULTS.md."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
# A benchmark is a program of its own that prints its figures; its name says what it measures.
HELPERS = {"__main__", "__init__", "bare_worker", "house", "page_site", "live_peer", "live_tabs"}


def main() -> int:
    """Runs the benchmarks named on the command line, or all; 1 when a figure is missed."""
    known = sorted(file.stem for file in HERE.glob("*.py") if file.stem not in HELPERS)
    chosen = sys.argv[1:] or known
    if strangers := set(chosen) - set(known):
        print(f"No benchmark {', '.join(sorted(strangers))}; there are {', '.join(known)}.")
        return 2
    sections, failed = [], []
    for name in chosen:
        print(f"== {name}", flush=True)
        text, code = run(name)
        sections.append(f"## {name}\n\n```text\n{text.strip()}\n```\n")
        failed += [name] if code else []
    (HERE / "RESULTS.md").write_text("\n".join([heading(), *sections]))
    if failed:
        print(f"Missed a figure or broke: {', '.join(failed)}")
    return int(bool(failed))


def run(name: str) -> tuple[str, int]:
    """What the benchmark printed, shown while it comes, and its exit code."""
    process = subprocess.Popen(
        [sys.executable, str(HERE / f"{name}.py")],
        cwd=HERE.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = []
    for line in process.stdout or []:
        print(line, end="", flush=True)
        lines.append(line)
    return "".join(lines), process.wait()


def heading() -> str:
    cores = os.cpu_count()
    return (
        "# Figures\n\n"
        "Written by `make bench`. Both sides of a ratio ran on one machine in one go; absolute "
        f"numbers mean little elsewhere.\n\n{datetime.now(UTC):%Y-%m-%d}, {cores} cores, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
