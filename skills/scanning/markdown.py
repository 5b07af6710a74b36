"""The code in a text: fences, inline spans, and commands that a sentence mentions."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from .code import foreign, names
from .text import Words

_FENCE = re.compile(r"^[ \t>]{0,12}(`{3,}|~{3,})[ \t]*\{?\.?([\w+#.-]*)")
_LANGUAGES = {
    **dict.fromkeys(("bash", "sh", "shell", "zsh", "ksh", "fish", "console", "terminal",
                     "shell-session", "shellsession", "sh-session", "cmd", "command"), "shell"),
    **dict.fromkeys(("python", "py", "python3", "py3", "ipython", "pycon", "ipynb"), "python"),
    **dict.fromkeys(("javascript", "js", "jsx", "mjs", "cjs", "node", "typescript", "ts", "tsx",
                     "mts", "cts"), "javascript"),
}  # fmt: skip
_COMMANDS = "|".join(
    sorted(
        map(
            re.escape,
            names.DOWNLOADERS
            | names.DECODERS
            | {
                "eval",
                "source",
                "echo",
                "printf",
                "cat",
                "nc",
                "ncat",
                "git",
                "env",
                "printenv",
                "dig",
                "nslookup",
                "rm",
                "pip",
                "npm",
                "npx",
                "sudo",
                "crontab",
                "claude",
                "gh",
                "python",
                "python3",
                "node",
                "perl",
                "ruby",
                "bash",
                "sh",
                "powershell",
                "security",
                "chmod",
                "scp",
                "rsync",
                "ssh",
            },
        ),
        key=len,
        reverse=True,
    )
)
_INLINE = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n][^`]{2,600}?)\1(?!`)")
_ENDS = "|".join(
    sorted(
        map(re.escape, names.INTERPRETERS | names.SENDERS | names.DECODERS | names.WRAPPERS),
        key=len,
        reverse=True,
    )
)
_ANCHOR = re.compile(rf"(?i)\|\s{{0,400}}(?:[\w./-]{{1,40}}/)?(?:{_ENDS})(?![\w-])|\$\(|<\(|>\(")
_FED = "|".join(
    map(re.escape, names.DOWNLOADERS | names.DECODERS | {"cat", "env", "printenv", "tar"})
)
_FEEDS = re.compile(rf"(?i)(?<![\w./-])(?:{_FED})(?![\w-])")
# A shell, its switch and the command, each quoted or in an element of its own.
_JOINT = r"(?:[\s,)]|\.args?\(|</\w{1,30}>|<\w{1,30}>|- ){1,8}"
_HANDED = re.compile(
    rf"(?i)\b(?:ba|z|da)?sh[\"'`]?{_JOINT}[\"'`]?-[a-z]{{0,3}}c[\"'`]?{_JOINT}"
    r"[\"'`{>]?(?P<command>[^\n\"'`<}]{6,600})"
)
_COMMAND = re.compile(rf"(?i)(?<![\w./-])(?:{_COMMANDS})(?![\w-])")
_WORTH = re.compile(rf"(?i)(?<![\w./-])(?:{_COMMANDS})(?![\w-])|\$\(")
_LINE_WORTH = re.compile(rf"(?im)^[ \t$#>]*(?:RUN |sudo |- )?(?:{_COMMANDS})(?![\w-])[ \t]+\S")
_MARKS = re.compile(r"[\"'`\\*]")
_PROMPT = re.compile(r"(?m)^[ \t]*(?:\$|#|>|%|❯|➜)[ \t]+(?=\S)")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of code in a text and the line it begins on."""

    language: str
    text: str
    line: int


def fragments(text: str) -> Iterator[Fragment]:
    """Every piece of a text that a reader or an agent would take for code."""
    prose: list[str] = []
    for kind, line, block in _blocks(text):
        if kind == "prose":
            prose.append(block)
        else:
            yield from _fenced(kind, line, block)
            prose.append("\n" * block.count("\n"))
    yield from _in_sentences("".join(prose))


def spoken(text: str, words: Words) -> Callable[[int], bool] | None:
    """Whether an offset of `words.flat` is said rather than shown in a fence of code; None when
    everything is said."""
    if "```" not in text and "~~~" not in text:
        return None
    shown: set[int] = set()
    for kind, line, block in _blocks(text):
        if kind != "prose" and kind not in _SPOKEN:
            shown.update(range(line - 1, line + block.count("\n")))
    return lambda offset: words.line(offset) not in shown


_SPOKEN = {"plain", "text", "txt", "markdown", "md", "prompt", "none", "html", "xml"}


def styled_away(text: str) -> Iterator[tuple[int, str]]:
    """(line, words) of sentences that a style keeps off the page; samples in fences aside."""
    if "style" not in text:
        return
    for kind, first, block in _blocks(text):
        for at, words in _unseen(block) if kind == "prose" else ():
            if len(words.split()) >= FEWEST_WORDS:
                yield first + block.count("\n", 0, at), words.strip()


def _unseen(block: str) -> Iterator[tuple[int, str]]:
    """(offset, words) of the elements that a style of their own, or of their class, hides."""
    for found in _STYLED_AWAY.finditer(block):
        yield found.start(), found[2]
    for style in islice(_HIDDEN_CLASS.finditer(block), MOST_STYLES):
        element = _OF_CLASS.format(name=style[1])
        for found in re.finditer(element, block):
            yield found.start(), found[1]


MOST_STYLES = 20
_OF_CLASS = (
    r"<\w{{1,20}}\s[^>]{{0,200}}?(?:class|id)=[^>]{{0,80}}?(?<![\w-]){name}(?![\w-])"
    r"[^>]{{0,200}}>([^<]{{1,4000}})"
)
FEWEST_WORDS = 5
_HIDES = (
    r"(?:display:\s{0,3}none|visibility:\s{0,3}hidden"
    r"|font-size:\s{0,3}[01](?:px|pt|em|rem|%)?\s{0,3}(?=[;}\"'])"
    r"|opacity:\s{0,3}0?\.?0\d?\s{0,3}(?=[;}\"'])|(?<![\w-])color:\s{0,3}transparent"
    r"|text-indent:\s{0,3}-\d{3}|left:\s{0,3}-\d{3})"
)
_STYLED_AWAY = re.compile(
    rf"(?i)<\w{{1,20}}\s[^>]{{0,200}}?style\s{{0,3}}=\s{{0,3}}([\"'])[^>]{{0,200}}?{_HIDES}"
    r"[^>]{0,200}>([^<]{1,4000})"
)
_HIDDEN_CLASS = re.compile(rf"(?i)[.#]([\w-]{{1,40}})\s{{0,9}}\{{[^}}]{{0,300}}?{_HIDES}")


def comments(text: str) -> str:
    """What a program's comments and documentation strings say, lines kept."""
    kept, at = [], 0
    for found in _COMMENTS.finditer(text):
        kept.append("\n" * text.count("\n", at, found.start()) + " " + found[0])
        at = found.end()
    return "".join(kept)


_COMMENTS = re.compile(
    r"\"\"\"(?:[^\"]|\"(?!\"\"))*\"\"\"|'''(?:[^']|'(?!''))*'''|/\*(?:[^*]|\*(?!/))*\*/"
    r"|<!--(?:[^-]|-(?!->))*-->|(?:(?<=\s)|^)(?:#(?!!)|//|--|;|%|REM\b)[^\n]*",
    re.MULTILINE,
)


def between_tags(text: str) -> str:
    """What the elements of a page or picture say, lines kept; scripts and styles aside."""
    return _TAGS.sub(lambda found: " " + "\n" * found[0].count("\n"), text)


_TAGS = re.compile(
    r"(?i)<(script|style)\b[^>]*>(?:[^<]|<(?!/\1))*(?:</\1\s*>)?|<!--(?:[^-]|-(?!->))*-->|<[^<>]*>"
)


def values(text: str) -> str:
    """The values of a data file that read like sentences to somebody, lines kept."""
    kept, at = [], 0
    for found in _VALUES.finditer(text):
        if _ADDRESSED.search(found[1]):
            kept.append("\n" * text.count("\n", at, found.start()) + found[1] + ".\n")
            at = found.end() + 1
    return "".join(kept)


_VALUES = re.compile(r":\s?\"((?:[^\"\\\n]|\\[^\n]){30,2000})\"")
_ADDRESSED = re.compile(
    r"(?i)\b(assistants?|agents?|the (ai|model|user)|claude|when you (read|see)"
    r"|you (must|should|are)|ignore|instructions?)\b"
)


def _blocks(text: str) -> Iterator[tuple[str, int, str]]:
    """("prose", first line, text) and (fence's language, first line, text), in order."""
    lines = text.split("\n")
    start, at = 0, 0
    while at < len(lines):
        opened = _FENCE.match(lines[at])
        if not opened:
            at += 1
            continue
        yield "prose", start + 1, "\n".join(lines[start : at + 1]) + "\n"
        mark, body = opened[1], at + 1
        closing = re.compile(rf"^[ \t>]{{0,12}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
        at = body
        while at < len(lines) and not closing.match(lines[at]):
            at += 1
        yield opened[2].lower() or "plain", body + 1, "\n".join(lines[body:at]) + "\n"
        start = at
        at += 1
    yield "prose", start + 1, "\n".join(lines[start:])


def _fenced(kind: str, line: int, block: str) -> Iterator[Fragment]:
    language = _LANGUAGES.get(kind) or foreign.LANGUAGES.get(kind, "")
    if not language and kind in _SPOKEN | {"dockerfile", "makefile"}:
        language = "shell" if _LINE_WORTH.search(block) else ""
    if not language:
        return
    if kind == "pycon":
        block = re.sub(r"(?m)^(>>>|\.\.\.) ?", "", block)
    if language == "shell":
        block = _PROMPT.sub("", block) if kind != "bash" or "\n$ " in f"\n{block}" else block
    yield Fragment(language, block, line)
    if language not in {"shell", "python", "javascript"}:
        yield from (replace(one, line=one.line + line - 1) for one in handed(block))


def _in_sentences(text: str) -> Iterator[Fragment]:
    for found in _INLINE.finditer(text):
        if _WORTH.search(found[2]):
            yield Fragment("shell", found[2].strip(), text.count("\n", 0, found.start()) + 1)
    yield from loose(text)


def loose(text: str) -> Iterator[Fragment]:
    """Pipes and substitutions that begin with a known command, marks and blank lines aside."""
    if "|" not in text and "(" not in text:
        return
    plain, reached = _MARKS.sub("", text), 0
    for found in _ANCHOR.finditer(plain):
        low = max(plain.rfind("\n", 0, found.start()) + 1, found.start() - 400, reached)
        begins = _COMMAND.search(plain, low, found.end())
        if begins is None:
            continue
        line_end = plain.find("\n", found.end())
        reached = min(len(plain) if line_end < 0 else line_end, found.end() + 400)
        feeds = [one.start() for one in _FEEDS.finditer(plain, begins.end(), found.start())]
        for start in (begins.start(), *feeds[-1:]):
            command = re.sub(r"\s+", " ", plain[start:reached]).rstrip(" .,;:)}]>")
            yield Fragment("shell", command, plain.count("\n", 0, start) + 1)


def handed(text: str) -> Iterator[Fragment]:
    """Commands that a program or a configuration hands to a shell: `["sh", "-c", "…"]`."""
    for found in _HANDED.finditer(text) if "-c" in text or "/C" in text or "/c" in text else ():
        command = found["command"].replace('\\"', '"').replace("\\\\", "\\")
        yield Fragment("shell", command, text.count("\n", 0, found.start()) + 1)
