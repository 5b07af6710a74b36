"""The verdict over a skill: the only function that gives one."""

import gc
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from . import frontmatter, orders, policy, prose, reading, structure, weighing
from .code import python
from .digest import digest
from .examination import Artefact, Examination, OverLimit
from .kinds import kind
from .limits import LIMITS, Limits
from .report import Report
from .ruleset import version
from .text import Words, decode
from .values import File, Source, Verdict, worst

LARGEST_TAUGHT = 256 << 10


def scan(
    files: Mapping[str, File], source: Source | None = None, *, limits: Limits = LIMITS
) -> Verdict:
    """The verdict over exactly these bytes; it depends on nothing but them, the folder's name, the
    limits and the rule set.

    Paths are relative with "/". Hostile input may exhaust time or memory, so callers go through
    `child`, where that is a refusal.
    """
    started = time.perf_counter()
    exam = Examination(limits)
    with _no_collector():
        bears = _examine(dict(sorted(files.items())), source or Source(), exam)
    findings = exam.report.findings()
    outcome = worst(findings)
    return Verdict(
        outcome=outcome,
        decision=policy.by_findings(outcome),
        digest=digest(files),
        ruleset=version(),
        seconds=0.0,
        findings=findings,
        manifest=exam.report.manifest(),
        bears_instructions=bears,
    ).timed(time.perf_counter() - started)


def _examine(files: Mapping[str, File], source: Source, exam: Examination) -> bool:
    """Goes through all stages; True when the skill's text tells an agent what to do."""
    if not structure.check(files, exam.report, exam.limits) or not _is_readable(files, exam):
        return True
    first = structure.skill_file(files, exam.report)
    try:
        bears = _read_skill(first, files[first], source, exam) if first else True
        _learn_modules(files, exam)
        for path, file in files.items():
            if not file.is_link and not file.is_submodule:
                reading.read(Artefact(path, file.data, executable=file.is_executable), exam)
        _read_names(list(files), exam)
        _check_bytecode(files, exam)
        _join(exam)
    except OverLimit as over:
        exam.report.add(over.rule, "", excerpt=over.what)
        return True
    return bears


def _is_readable(files: Mapping[str, File], exam: Examination) -> bool:
    """Whether the text in the tree is within its ceiling, told before any of it is read."""
    sizes = (len(file.data) for file in files.values() if _looks_like_text(file))
    total = sum(sizes)
    if total > exam.limits.text:
        exam.report.add("limits.text", "", excerpt=f"{total} bytes, {exam.limits.text} are read")
        return False
    return True


def _looks_like_text(file: File) -> bool:
    return not file.is_link and kind(file.data) == "text" and b"\0" not in file.data[:4096]


def _read_skill(path: str, file: File, source: Source, exam: Examination) -> bool:
    decoded = decode(file.data)
    if decoded is None:
        exam.report.add("frontmatter.unreadable", path, excerpt="not a text")
        return True
    front = frontmatter.read(decoded.text, path, exam.report, exam.limits)
    frontmatter.judge(front, path, source, exam.report)
    for text in front.texts():
        if len(text) > exam.limits.front_matter:
            continue
        role = "description" if text == front.description else "text"
        prose.check(text, Words(text), path, exam.report, kind=role)
        orders.check(text, Words(text), "", path, exam.report, kind=role)
        if role == "description":
            weighing.check(text, Words(text), "", path, exam.report)
    exam.about = f"{front.name}\n{front.description}"
    body = decoded.text.replace("\r\n", "\n").split("\n")[front.body_line - 1 :]
    return any(line.strip() for line in body)


def _learn_modules(files: Mapping[str, File], exam: Examination) -> None:
    """What the skill's Python modules hand each other, before any of them is judged."""
    modules = {
        path.rpartition("/")[2].removesuffix(".py"): file.data.decode("utf-8", "replace")
        for path, file in files.items()
        if path.endswith(".py") and not file.is_link
    }
    known = "|".join(map(re.escape, modules))
    imports = re.compile(rf"(?m)^[ \t]*(?:from|import)[ \t]+[\w., ]*?\b({known})\b")
    taught = {name for text in modules.values() for name in imports.findall(text)}
    rounds = 2 if len(taught) > 1 else 1
    for name in sorted(taught) * rounds:
        if len(modules[name]) < LARGEST_TAUGHT:
            python.learn(modules[name], exam.exports, name)


def _read_names(paths: list[str], exam: Examination) -> None:
    """File names are read by agents as well."""
    spoken = "\n\n".join(path.replace("/", ". ").replace("_", " ") for path in paths)
    heard = Report(exam.limits)
    prose.check(spoken, Words(spoken), "", heard)
    for finding in heard.findings():
        path = paths[(finding.line - 1) // 2] if finding.line <= 2 * len(paths) else ""
        exam.report.add(finding.rule, path, excerpt=path)


def _check_bytecode(files: Mapping[str, File], exam: Examination) -> None:
    sources = {path.rpartition("/")[2].partition(".")[0] for path in files if path.endswith(".py")}
    for path in files:
        if path.endswith((".pyc", ".pyo")):
            stem = path.rpartition("/")[2].partition(".")[0]
            known = stem in sources
            exam.report.add("container.bytecode-cache" if known else "container.bytecode", path)


def _join(exam: Examination) -> None:
    """Deeds of different parts that are harmless alone."""
    networks = list(exam.done("network"))
    for private in (*exam.done("secret-file"), *exam.done("environment-dump")):
        for network in networks:
            place = f"{network.file}:{network.line} {network.detail}"
            if private.shown or network.shown:
                continue
            exam.report.add(
                "code.secret-and-network", private.file, line=private.line,
                excerpt=f"{private.detail}; {place}",
            )  # fmt: skip
            break


@contextmanager
def _no_collector() -> Iterator[None]:
    """Syntax trees are large and have no cycles worth collecting; the collector only costs time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
