"""Real public agent files load as expected.jsonl says, in their dialect and in all others."""

from collections import Counter

import pytest

from agents.library import frontmatter
from agents.library.definition import AgentDefinition, Dialect
from agents.library.reading import read_bytes
from tests.agents.library.conftest import Expected

# Differences that we mean. (dialect, expected outcome, its reason) → our loud warning.
EXPLAINED = {
    # We repair the one fault of real files in every dialect, not only where the seed is silent.
    ("jarvis", "skip", "invalid-yaml"): "yaml-repaired",
    # A colon belongs to the names of packages' agents (requirements 6.3), so it is refused.
    ("qwen", "ok", ""): "name-with-colon",
}


def differences(expected: Expected, found: AgentDefinition) -> list[str]:
    record = expected.record
    said = []
    if found.dialect != record["dialect"]:
        said.append(f"dialect {found.dialect}, not {record['dialect']}")
    if not expected.accepts(found.outcome):
        said.append(f"outcome {found.outcome}, not {record['outcome']}: {found.loud_warnings}")
    if frontmatter.body_sha256(found.body) != record["body_sha256"]:
        said.append("another body")
    if record["name"] not in (None, found.declared_name):
        said.append(f"name {found.declared_name}, not {record['name']}")
    if found.model != record.get("model"):
        said.append(f"model {found.model}, not {record.get('model')}")
    return said + tool_differences(record, found)


def tool_differences(record: dict[str, object], found: AgentDefinition) -> list[str]:
    """A map must never widen to every tool; other shapes are the list itself."""
    switches = record.get("tools_map")
    if isinstance(switches, dict):
        off = {name for name, state in switches.items() if not state and name != "*"}
        widens = found.tools is None and not found.disallowed_tools
        return ["a tools map widened"] if widens or off & set(found.tools or ()) else []
    tools = None if found.tools is None else list(found.tools)
    wanted = record["tools"]
    if isinstance(lenient := record.get("lenient"), dict):  # no YAML, read by its lines
        wanted = lenient["tools"].split(", ")
    said = [] if tools == wanted else [f"tools {tools}, not {wanted}"]
    if list(found.disallowed_tools) != record.get("disallowed_tools", []):
        said.append(f"disallowed {found.disallowed_tools}")
    return said


@pytest.mark.req("JA-72", "FX-60", "FX-63", "QW-130")
def test_every_file_loads_as_expected(
    corpus: list[Expected], capsys: pytest.CaptureFixture[str]
) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    wrong = {}
    for expected in corpus:
        found = read_bytes(expected.data, path=expected.path)
        counts[found.dialect, found.outcome] += 1
        if said := differences(expected, found):
            wrong[expected.path] = said
    with capsys.disabled():
        table = ", ".join(f"{d} {o} {n}" for (d, o), n in sorted(counts.items()))
        print(f"\ncorpus: {len(corpus)} agent files: {table}")  # noqa: T201 (the issue asks for it)
    assert wrong == {}


@pytest.mark.parametrize("dialect", ["jarvis", "fuxi", "qwen", "opencode"])
def test_every_file_fares_as_expected_in_a_foreign_dialect(
    corpus: list[Expected], dialect: str
) -> None:
    wrong = {}
    for expected in corpus:
        found = read_bytes(expected.data, path=expected.path, dialect=Dialect(dialect))
        record = expected.record["outcomes"][dialect]
        reason = record["reasons"][0] if record["reasons"] else ""
        meant = EXPLAINED.get((dialect, record["outcome"], reason))
        codes = [warning.code for warning in found.loud_warnings]
        if not expected.accepts(found.outcome, dialect=dialect) and meant not in codes:
            wrong[expected.path] = (found.outcome, codes, record)
    assert wrong == {}


def test_the_same_file_reads_the_same_whatever_its_line_ends(corpus: list[Expected]) -> None:
    for expected in corpus:
        once = read_bytes(expected.data, path=expected.path)
        lf = expected.data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
        for variant in (lf, lf.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + lf):
            again = read_bytes(variant, path=expected.path)
            assert (again.body, again.values, again.outcome, again.tools) == (
                *(once.body, once.values, once.outcome, once.tools),
            )
