"""Reads an artefact to its last byte: opens what is packed, decodes what is encoded, and gives each
text to the stages that understand it."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from itertools import chain

import yara

from . import (
    agentic,
    containers,
    documents,
    encodings,
    glyphs,
    keys,
    markdown,
    orders,
    padding,
    prose,
    settings,
    strays,
    weighing,
)
from .code import foreign, judge_code, python, weight
from .code.names import is_known_installer
from .code.where import Where
from .examination import Artefact, Examination, OverLimit
from .kinds import IMAGES, is_disguised, kind
from .ruleset import RULES
from .text import Decoded, Words, decode, utf7
from .values import Severity

_PATTERNS = yara.compile(source=(RULES / "patterns.yar").read_text())
_SUFFIXES = {
    **dict.fromkeys(("sh", "bash", "zsh", "ksh", "command", "fish", "bats"), "shell"),
    **dict.fromkeys(("py", "pyw", "pyi", "pth"), "python"),
    **dict.fromkeys(("js", "mjs", "cjs", "jsx", "ts", "tsx", "mts", "cts"), "javascript"),
}
_SHEBANG = re.compile(
    r"^#!.*?\b(sh|bash|zsh|dash|ksh|fish|python|node|nodejs|deno|bun|tsx)[\d.]*\b"
)
_CODE_SUFFIXES = {
    *_SUFFIXES, "rb", "pl", "pm", "php", "lua", "ps1", "psm1", "bat", "cmd", "vbs", "go", "rs",
    "java", "c", "h", "cc", "cpp", "hpp", "cs", "swift", "kt", "scala", "r", "jl", "ex", "exs",
    "hs", "sql", "awk", "applescript", "scpt", "tcl", "groovy", "gradle", "vue", "svelte", "css",
    "scss", "less", "xsd", "xsl", "dockerfile", "makefile", "tf", "hcl", "json", "lock", "map",
    "wat", "ipynb", "html", "htm", "svg", "xml", "yaml", "yml", "toml", "ini", "cfg",
}  # fmt: skip
_DATA_SUFFIXES = {"json", "jsonl", "jsonc", "json5"}
_COMPILED = {
    "exe", "dll", "so", "dylib", "class", "jar", "node", "pyd", "msi", "apk", "deb", "rpm", "wasm",
    "scr", "app", "bin", "elf", "sys", "o", "lib", "war", "ear", "dex", "whl", "egg", "gem", "crx",
}  # fmt: skip
_RUNNABLE = {
    "sh", "bash", "zsh", "command", "py", "pyw", "ps1", "bat", "cmd", "exe", "jar", "vbs", "pth",
}  # fmt: skip
_MARKUP = {"html", "htm", "svg", "xml", "xhtml", "vue", "svelte"}
_SCRIPT = re.compile(r"(?is)<script\b[^>]*>(.*?)</script>")
_HANDLER = re.compile(
    r"(?i)\son[a-z]{3,20}\s*=\s*(\"[^\"]{1,2000}\"|'[^']{1,2000}')|javascript:([^\"'\s>]{3,2000})"
)
_PROGRAM = re.compile(
    r"^\s*(#!|import \w+|from \w+ import|const \w+ ?=|<\?php|function \w+\(|def \w+\()"
)
# What tests are fed with is there to be refused; it is shown to a person, not thrown out.
_TEST_DATA = re.compile(r"(?i)(^|/)(tests?|fixtures?|testdata|test_data|evals?|__tests__)/")
# Lawyers write orders, too.
_LICENCE = re.compile(r"(?i)(licen[cs]e|copying|notice|third.party)")
_PROSE_LIKE = {"", "md", "mdx", "markdown", "txt", "rst", "adoc", "text", "yar", "yara"}


def read(artefact: Artefact, exam: Examination) -> None:
    """Reports everything about an artefact and about whatever is inside it."""
    if artefact.depth > exam.limits.nesting:
        raise OverLimit("limits.nesting", artefact.path)
    form = kind(artefact.data)
    if artefact.in_archive and artefact.depth:
        _check_member(artefact, exam)
    agentic.check_path(artefact, exam)
    if artefact.suffix in _COMPILED and form != "text":
        exam.report.add("structure.binary", artefact.path)
    if is_disguised(artefact.suffix, form):
        exam.report.add("structure.disguised", artefact.path, excerpt=f"{artefact.suffix}: {form}")
    if form == "text":
        decoded = decode(artefact.data)
        if decoded is not None:
            _read_text(artefact, decoded, exam)
            return
        if artefact.data and not artefact.path.endswith("#text"):
            exam.report.add("structure.opaque", artefact.path)
    for inner in _open(artefact, form, exam):
        read(inner, exam)
    _read_binary(artefact, form, exam)


def _check_member(artefact: Artefact, exam: Examination) -> None:
    if artefact.name.lower() == "skill.md":
        exam.report.add("container.skill", artefact.path)
    if artefact.executable or artefact.data.startswith(b"#!") or artefact.suffix in _RUNNABLE:
        # Python is read like any other file; what else runs is seldom meant to be read.
        plain = artefact.suffix == "py" and not artefact.executable
        exam.report.add("container.code", artefact.path, severity=Severity.INFO if plain else None)


def _open(artefact: Artefact, form: str, exam: Examination) -> Iterator[Artefact]:
    """What is packed in a binary; faults of its form are reported."""
    report, path = exam.report, artefact.path
    match form:
        case "zip":
            yield from containers.open_zip(artefact, exam)
        case "tar":
            yield from containers.open_tar(artefact, exam)
        case "gzip" | "bzip2" | "xz":
            yield from containers.inflate(artefact, form, exam)
        case "pdf":
            yield from documents.open_pdf(artefact, exam)
        case "sealed":
            report.add("container.unreadable", path)
        case "program":
            report.add("structure.binary", path)
        case "ole":
            macro = b"V\0B\0A\0" in artefact.data or b"_VBA_PROJECT" in artefact.data
            report.add("container.macro" if macro else "structure.opaque", path)
        case "pickle":
            report.add("container.pickle", path)
        case "numpy" if b"'descr': '|O'" in artefact.data[:512]:
            report.add("container.pickle", path)


def _read_binary(artefact: Artefact, form: str, exam: Examination) -> None:
    """The readable runs of a binary, and what follows a picture's end."""
    data = artefact.data
    if form in IMAGES and form in {"png", "jpeg", "gif"}:
        end = documents.picture_end(data, form)
        if end is None:
            exam.report.add("structure.disguised", artefact.path, excerpt=f"a damaged {form}")
        elif len(data) > end:
            if len(data) - end > 64:
                exam.report.add(
                    "structure.trailing-data", artefact.path, excerpt=f"{len(data) - end} bytes"
                )
            read(Artefact(f"{artefact.path}!end", data[end:], artefact.depth + 1), exam)
    runs = documents.readable_runs(data)
    if form == "png":
        runs += b"\n" + documents.picture_text(data, exam, artefact.path)
    if runs.strip():
        exam.spend("text", len(runs), artefact.path)
        _read_words(artefact, runs.decode("ascii", "replace"), exam, kind="code")


# ---------------------------------------------------------------------------------------------


def _read_text(artefact: Artefact, decoded: Decoded, exam: Examination) -> None:
    text, path, report = decoded.text, artefact.path, exam.report
    exam.spend("text", len(artefact.data), path)
    if decoded.odd:
        rule = {
            "nul": "encoding.nul",
            "legacy": "encoding.legacy",
            "broken": "encoding.broken",
        }.get(decoded.odd, "encoding.unusual")
        report.add(rule, path, excerpt=decoded.encoding)
    is_skill = path.lower() == "skill.md"
    marked = "\ufeff" + text if artefact.data.startswith(b"\xef\xbb\xbf") else text
    glyphs.check(marked, path, report, first=is_skill)
    message = glyphs.hidden_message(text) if not text.isascii() else ""
    if message:
        _read_hidden(artefact, "invisible characters", 0, message.encode(), text, exam)
    padding.check(text, path, report)
    keys.check(text, path, report)
    agentic.check_text(artefact, text, exam)
    settings.check(artefact, text, exam)
    if artefact.suffix in _PROSE_LIKE:
        for line, words in markdown.styled_away(text):
            report.add("prose.styled-away", path, line=line, excerpt=words[:200])
    text = text.replace("\r\n", "\n")
    language = _language(artefact, text)
    if artefact.depth == 0 or not artefact.path.endswith("#text"):
        _read_code(artefact, text, language, exam)
    is_code = bool(language) or artefact.suffix in _CODE_SUFFIXES or text.lstrip()[:1] == "<"
    _read_words(artefact, text, exam, kind="code" if is_code else "text")
    _read_inner(artefact, text, exam)
    if artefact.depth == 0 and _TEST_DATA.search(path):
        report.soften(path, lambda _: True)
    elif artefact.depth == 0 and artefact.suffix in _PROSE_LIKE:
        report.soften(path, Warnings(text, is_body=True).at)
        if path.lower() != "skill.md":
            report.soften(path, lambda _: True, families=frozenset({"prose"}))


def _language(artefact: Artefact, text: str) -> str:
    if artefact.suffix in _SUFFIXES:
        return _SUFFIXES[artefact.suffix]
    shebang = _SHEBANG.match(text)
    if not shebang:
        return ""
    return {"python": "python"}.get(
        shebang[1],
        "javascript" if shebang[1] in {"node", "nodejs", "deno", "bun", "tsx"} else "shell",
    )


def _read_code(artefact: Artefact, text: str, language: str, exam: Examination) -> None:
    path = artefact.path
    if language == "python":
        exam.spend("code", weight(text), path)
        python.read(
            text, Where(exam, path, judge_code), exam.exports, artefact.name.removesuffix(".py")
        )
        _read_handed(artefact, text, exam)
        return
    if language:
        judge_code(language, text, Where(exam, path, judge_code))
        _read_handed(artefact, text, exam)
        return
    other = foreign.LANGUAGES.get(artefact.suffix or artefact.name.lower(), "")
    if other:
        judge_code(other, text, Where(exam, path, judge_code))
    if artefact.suffix == "ipynb":
        _read_notebook(artefact, text, exam)
    if artefact.suffix in _MARKUP:
        for found in (*_SCRIPT.finditer(text), *_HANDLER.finditer(text)):
            code = next((group for group in found.groups() if group), "")
            line = text.count("\n", 0, found.start()) + 1
            judge_code("javascript", code.strip("\"'"), Where(exam, path, judge_code, line))
    shown = artefact.suffix in _PROSE_LIKE or artefact.suffix in _CODE_SUFFIXES
    prose_like = artefact.suffix in _PROSE_LIKE
    commands = markdown.fragments(text) if prose_like else markdown.loose(text)
    pieces: Iterable[markdown.Fragment] = chain(commands, markdown.handed(text))
    warnings = Warnings(text, is_body=path.lower() == "skill.md")
    for fragment in pieces:
        warned = shown and warnings.at(fragment.line)
        where = Where(exam, path, judge_code, fragment.line, shown=shown, warned=warned)
        judge_code(fragment.language, fragment.text, where)


def _read_handed(artefact: Artefact, text: str, exam: Examination) -> None:
    for fragment in markdown.handed(text):
        where = Where(exam, artefact.path, judge_code, fragment.line)
        judge_code(fragment.language, fragment.text, where)


class Warnings:
    """Where a text warns of what it shows; only a skill's own body orders what it shows."""

    def __init__(self, text: str, *, is_body: bool) -> None:
        self._is_body = is_body
        self._text = text

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.split("\n")

    def at(self, line: int) -> bool:
        """Whether the line or one of the six above it warns; other files always do."""
        if not self._is_body:
            return True
        return any(_WARNS.search(one) for one in self._lines[max(0, line - 7) : line])


_WARNS = re.compile(
    r"(?i)\b(malicious|attack(s|er|ers)?|dangerous|suspicious|never (run|do|use|execute)"
    r"|(do not|don't) (run|use|execute)|red flags?|vulnerab\w+|exploit\w*|unsafe|insecure"
    r"|bad example|anti-?patterns?"
    r"|payloads?|injection|evad(e|es|ing)|homoglyphs?|zero-width|cyrillic|spoof\w*)\b|❌|🚫|⛔"
)


def _read_notebook(artefact: Artefact, text: str, exam: Examination) -> None:
    for code in _cells(text):
        started = "\n".join(re.findall(r"(?m)^\s*[!%]+(?:bash|sh|sx)?[ \t]*(.*)$", code))
        plain = re.sub(r"(?m)^\s*[!%].*$", "", code)
        shell = code.startswith(("%%bash", "%%sh", "%%script"))
        judge_code("shell", code.partition("\n")[2] if shell else started,
                   Where(exam, artefact.path, judge_code))  # fmt: skip
        if not shell:
            judge_code("python", plain, Where(exam, artefact.path, judge_code, shown=True))


def _cells(text: str) -> Iterator[str]:
    """The sources of a notebook's cells of code."""
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", "")
            yield "".join(map(str, source)) if isinstance(source, list) else str(source)


def _read_words(artefact: Artefact, text: str, exam: Examination, *, kind: str) -> None:
    """Sentences and patterns, also of a text read through simple ciphers."""
    path, report = artefact.path, exam.report
    words = Words(text)
    if kind == "text":
        spoken = markdown.spoken(text, words)
        prose.check(text, words, path, report, kind="text", spoken=spoken, about=exam.about)
        orders.check(text, words, exam.about, path, report, spoken=spoken)
        if artefact.depth == 0 and artefact.suffix in _PROSE_LIKE:
            strays.check(text, words, exam.about, path, report, spoken=spoken)
            if not _LICENCE.match(artefact.name):
                weighing.check(text, words, exam.about, path, report, spoken=spoken)
            weighing.doubt(words, path, report)
    else:
        prose.check(text, words, path, report, kind="code")
        _read_said(artefact, text, exam)
    plain = text if text.isascii() else words.lined.decode("utf-8", "replace")
    shown = kind == "text" and artefact.suffix in _PROSE_LIKE
    warnings = Warnings(plain, is_body=path.lower() == "skill.md") if shown else None
    for match in _PATTERNS.match(data=plain.encode("utf-8", "replace")):
        _tell_pattern(match, plain, warnings, Where(exam, path, judge_code, shown=shown))
    if kind == "code":
        for fragment in markdown.loose(text) if not _language(artefact, text) else ():
            where = Where(exam, path, judge_code, fragment.line)
            judge_code(fragment.language, fragment.text, where)
    for label, line in prose.turned(words):
        report.add("encoding.hidden-code", path, line=line, excerpt=label)
    hidden = utf7(text)
    if hidden is not None:
        report.add("encoding.utf7", path)
        _read_words(Artefact(f"{path}#utf-7", b"", artefact.depth + 1), hidden, exam, kind=kind)


def _read_said(artefact: Artefact, text: str, exam: Examination) -> None:
    """What a program says to its reader, a page to whoever reads its source, or a data file to
    whoever is given its values."""
    is_data = artefact.suffix in _DATA_SUFFIXES
    parts = [markdown.values(text) if is_data else markdown.comments(text)]
    if artefact.suffix in _MARKUP:
        parts.append(markdown.between_tags(text))
    for said in filter(str.strip, parts):
        words = Words(said)
        prose.check(said, words, artefact.path, exam.report, kind="text")
        orders.check(said, words, exam.about, artefact.path, exam.report)


def _tell_pattern(match: "yara.Match", text: str, warnings: Warnings | None, where: Where) -> None:
    data = text.encode("utf-8", "replace")
    for string in match.strings:
        for one in string.instances[:4]:
            line = data.count(b"\n", 0, one.offset) + 1
            found = one.matched_data.decode("utf-8", "replace")
            place = replace(where, warned=warnings is not None and warnings.at(line))
            known = where.shown and any(
                map(is_known_installer, re.findall(r"https://[^\s\"')]+", found))
            )
            start = data.rfind(b"\n", 0, one.offset) + 1
            never = _NEVER.search(data[start : one.offset].decode("utf-8", "replace"))
            told = known or match.meta["id"] == "agent.unsafe-switch" and where.shown and never
            place.tell(match.meta["id"], line, found, severity=Severity.INFO if told else None)


_NEVER = re.compile(r"(?i)\b(never|do not|don't|avoid|instead of)\b[^.\n]{0,60}$")


def _read_inner(artefact: Artefact, text: str, exam: Examination) -> None:
    """Everything that is encoded in the text."""
    for found in encodings.find(text):
        exam.spend("unpacked", len(found.data), artefact.path)
        _read_hidden(artefact, found.label, found.at, found.data, text, exam)


def _read_hidden(
    artefact: Artefact, label: str, at: int, data: bytes, text: str, exam: Examination
) -> None:
    """Reads decoded bytes; a fault inside is a fault of having hidden it, too."""
    if not exam.is_news(data):
        return
    line = text.count("\n", 0, at) + 1
    before = exam.report.weight(_TELLING)
    inner = Artefact(f"{artefact.path}#{label}@{line}", data, artefact.depth + 1)
    if data.startswith(b"#!") or _PROGRAM.match(data[:200].decode("utf-8", "replace")):
        exam.report.add("encoding.hidden-code", artefact.path, line=line, excerpt=_start(data),
                        severity=Severity.WARN)  # fmt: skip
    read(inner, exam)
    if exam.report.weight(_TELLING) > before:
        exam.report.add("encoding.hidden-code", artefact.path, line=line, excerpt=_start(data))
    else:
        exam.report.add(
            "encoding.hidden-text", artefact.path, line=line, excerpt=f"{label}: {_start(data)}"
        )


_TELLING = {"code", "prose", "agent", "container", "encoding", "limits"}


def _start(data: bytes) -> str:
    return data[:120].decode("utf-8", "replace")
