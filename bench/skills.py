"""Scanning skills: import, 1 MiB in 100 files, the ceiling, hostile input; the gate's figures."""

import os
import random
import statistics
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import figures
from skills.scanning import LIMITS, File, Source, Verdict
from skills.scanning.child import Scanner

MIB = 1 << 20
WORDS = """the table row column value file report user request before after when test result list
name open read write check build page style first second never always note example each
between""".split()  # noqa: SIM905 - one word a word


def main() -> int:
    """Prints the figures."""
    for name, measure, allowed in (
        ("import and rules", _import, 1.0),
        ("1 MiB / 100 files, p95 of 20", _ordinary, 1.0),
        (f"the ceiling, {LIMITS.total // MIB} MiB", _ceiling, 5.0),
        ("5 MiB of prose", _prose, 5.0),
        ("hostile: catastrophic pattern", partial(_hostile, _pattern), 22.0),
        ("hostile: zip bomb", partial(_hostile, _bomb), 1.0),
    ):
        figures.show(f"scan: {name}", measure(), "s", most=allowed)
    return figures.code()


def _import() -> float:
    """Wall time of a process that imports the scanner, less that of an empty one, best of 5."""
    empty, full = (
        min(_timed([sys.executable, "-c", code]) for _ in range(5))
        for code in ("pass", "from skills.scanning import gate; gate.version()")
    )
    return full - empty


def _timed(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, cwd=Path(__file__).resolve().parents[1])
    return time.perf_counter() - started


def _ordinary() -> float:
    with Scanner() as scanner:
        _scan(scanner, {"SKILL.md": _skill("Warm up.")})
        times = [_scan(scanner, _mixed(seed))[0] for seed in range(20)]
    print(f"{'':32} median {statistics.median(times):.3f} s, slowest {max(times):.3f} s")
    return sorted(times)[18]


def _ceiling() -> float:
    """Text and code up to their own ceilings, pictures for the rest."""
    files = {"SKILL.md": _skill("See the references.")}
    for number in range(4):
        files[f"references/{number}.md"] = File(0o100644, _sentences(number, MIB))
    files["scripts/big.py"] = File(0o100644, _python(1, MIB // 2))
    files["assets/big.js"] = File(0o100644, _javascript(1, MIB // 2))
    picture = b"\x89PNG\r\n\x1a\n" + os.urandom(4 * MIB)
    for number in range(12):
        files[f"assets/{number}.png"] = File(0o100644, picture)
    with Scanner() as scanner:
        _scan(scanner, {"SKILL.md": _skill("Warm up.")})
        return _scan(scanner, files)[0]


def _prose() -> float:
    files = {"SKILL.md": _skill("See it."), "long.md": File(0o100644, _sentences(3, 5 * MIB))}
    with Scanner() as scanner:
        _scan(scanner, {"SKILL.md": _skill("Warm up.")})
        return _scan(scanner, files)[0]


def _hostile(make: Callable[[], bytes]) -> float:
    data = make()
    with Scanner() as scanner:
        _scan(scanner, {"SKILL.md": _skill("Warm up.")})
        return _scan(scanner, {"SKILL.md": _skill("See it."), "x.zip": File(0o100644, data)})[0]


def _pattern() -> bytes:
    return b"a" * MIB + b"!" + b"=\t " * MIB


def _bomb() -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", bytes(64 * MIB))
    return out.getvalue()


def _scan(scanner: Scanner, files: dict[str, File]) -> tuple[float, Verdict]:
    started = time.perf_counter()
    verdict = scanner.scan(files, Source("bench"))
    return time.perf_counter() - started, verdict


def _skill(body: str) -> File:
    front = "---\nname: bench\ndescription: Formats tables. Use when asked.\n---\n"
    return File(0o100644, (front + body).encode())


def _mixed(seed: int) -> dict[str, File]:
    """100 files, 1 MiB: half text, the rest Python, JavaScript, shell and data."""
    files = {"SKILL.md": _skill(_sentences(seed, 9_000).decode())}
    for number in range(99):
        size, kind = 10_500, number % 10
        if kind < 5:
            files[f"references/{number}.md"] = File(0o100644, _sentences(seed + number, size))
        elif kind < 7:
            files[f"scripts/{number}.py"] = File(0o100644, _python(seed + number, size))
        elif kind == 7:
            files[f"assets/{number}.js"] = File(0o100644, _javascript(seed + number, size))
        elif kind == 8:
            files[f"scripts/{number}.sh"] = File(0o100755, _shell(seed + number, size))
        else:
            files[f"assets/{number}.json"] = File(0o100644, _data(seed + number, size))
    return files


def _sentences(seed: int, size: int) -> bytes:
    chance, length = random.Random(seed), 0
    out: list[str] = []
    while length < size:
        sentence = " ".join(chance.choices(WORDS, k=chance.randint(6, 18))).capitalize() + ". "
        sentence += chance.choice(("", "", "\n\n", "\n- ", "\n```bash\npytest -q\n```\n"))
        out.append(sentence)
        length += len(sentence)
    return "".join(out).encode()[:size]


def _python(seed: int, size: int) -> bytes:
    chance, out = random.Random(seed), ["import json\nimport os\nfrom pathlib import Path\n\n"]
    while sum(map(len, out[-1:])) * len(out) < size:
        name, key = chance.choice(WORDS), chance.choice(WORDS)
        out.append(
            f"\ndef {name}_{len(out)}(path, {key}=None):\n"
            f'    """Returns the {key} of a {name}."""\n'
            f"    rows = json.loads(Path(path).read_text())\n"
            f"    found = [row['{key}'] for row in rows if row.get('{name}') == {key}]\n"
            f"    return os.path.join('out', str(len(found)) + '.txt')\n"
        )
    return "".join(out).encode()[:size].rsplit(b"\n\ndef", 1)[0] + b"\n"


def _javascript(seed: int, size: int) -> bytes:
    chance, length = random.Random(seed), 0
    out: list[str] = []
    while length < size:
        name = chance.choice(WORDS)
        line = (
            f"export function {name}{len(out)}(a, b) {{ const c = a.map((x) => x.{name} + b);"
            f" return c.filter(Boolean).join('{name}'); }}\n"
        )
        out.append(line)
        length += len(line)
    return "".join(out).encode()


def _shell(seed: int, size: int) -> bytes:
    chance, out, length = random.Random(seed), ["#!/bin/bash\nset -eu\n"], 0
    while length < size:
        name = chance.choice(WORDS)
        line = (
            f'if [ -f "{name}.txt" ]; then\n  grep -c {name} "{name}.txt" > "out/{name}.log"\nfi\n'
        )
        out.append(line)
        length += len(line)
    return "".join(out).encode()


def _data(seed: int, size: int) -> bytes:
    chance = random.Random(seed)
    rows = [f'{{"{chance.choice(WORDS)}": {chance.random()}}}' for _ in range(size // 34)]
    return ("[" + ",\n".join(rows) + "]\n").encode()


if __name__ == "__main__":
    sys.exit(main())
