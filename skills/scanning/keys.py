"""Live-looking keys in the text, by the plug-ins of detect-secrets and a few forms of our own."""

import importlib
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import yara

from .report import Report
from .ruleset import load
from .values import Severity

_DATA = load("keys.yaml")
_HINT = re.compile(_DATA["hint"])
# The same by YARA, which reads long texts many times faster.
_ANY = yara.compile(
    source=f"rule hint {{ strings: $a = /{_DATA['hint']}/ condition: $a }}",
)
_OWN = {name: re.compile(pattern) for name, pattern in _DATA["keys"].items()}
_MADE_UP = re.compile(_DATA["made_up"])
_PRIVATE_KEY = re.compile(_DATA["private_key"])
_OF_CLIENTS = re.compile(_DATA["of_clients"])
LEAST_BITS = 3.0
LONGEST_LINE = 4096


def _plugins() -> list[Any]:
    out = []
    for path in _DATA["plugins"]:
        module, _, name = path.partition(".")
        out.append(getattr(importlib.import_module(f"detect_secrets.plugins.{module}"), name)())
    return out


_PLUGINS = _plugins()


def check(text: str, file: str, report: Report) -> None:
    """Reports keys that look live; made-up examples are left alone."""
    if not _ANY.match(data=text.encode("utf-8", "replace")):
        return
    for found in _PRIVATE_KEY.finditer(text):
        if not _MADE_UP.search(found[1]) and _bits(found[1]) > LEAST_BITS:
            line = text.count("\n", 0, found.start()) + 1
            report.add("secret.private-key", file, line=line, excerpt=found[0][:40])
    for number, line_text in enumerate(text.split("\n"), start=1):
        if _HINT.search(line_text):
            for key in _keys(line_text):
                weight = Severity.WARN if _OF_CLIENTS.match(key) else None
                report.add("secret.key", file, line=number, excerpt=_masked(key), severity=weight)


def _keys(line: str) -> Iterator[str]:
    for start in range(0, max(1, len(line)), LONGEST_LINE):
        piece = line[start : start + LONGEST_LINE + 256]
        for pattern in _OWN.values():
            for found in pattern.finditer(piece):
                yield from _live(found[0])
        for plugin in _PLUGINS:
            for key in plugin.analyze_string(piece):
                if isinstance(key, str) and len(key) > 8:
                    yield from _live(key)


def _live(key: str) -> Iterator[str]:
    tail = key[8:] or key
    if not _MADE_UP.search(key) and _bits(tail) > LEAST_BITS and len(set(tail)) > 7:
        yield key


def _bits(text: str) -> float:
    """Shannon entropy, bits a character."""
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) if text else 0.0


def _masked(key: str) -> str:
    return f"{key[:6]}…{key[-2:]}"
