"""Languages without a grammar here: what meets in a file, by the patterns of languages.yar."""

import re
from collections.abc import Mapping

import yara

from ..ruleset import RULES
from ..values import Severity
from .where import Where

_RULES = yara.compile(source=(RULES / "languages.yar").read_text())
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "powershell": ("ps1", "psm1", "psd1", "powershell", "pwsh"),
    "batch": ("bat", "cmd", "batch"),
    "registry": ("reg",),
    "vbs": ("vbs", "vbe", "wsf", "hta"),
    "ruby": ("rb", "ruby", "gemspec", "rake", "gemfile", "rakefile"),
    "perl": ("pl", "pm", "perl"),
    "php": ("php", "phtml"),
    "go": ("go", "golang"),
    "rust": ("rs", "rust"),
    "jvm": ("java", "kt", "kts", "scala", "groovy", "gradle", "kotlin"),
    "cs": ("cs", "csharp", "fs", "vb"),
    "lua": ("lua",),
    "r": ("r",),
    "julia": ("jl", "julia"),
    "elixir": ("ex", "exs", "elixir"),
    "sql": ("sql",),
    "tcl": ("tcl",),
    "other": ("nim", "dart", "swift", "hs", "cr", "v", "zig", "applescript", "scpt", "el", "lisp"),
}
LANGUAGES: Mapping[str, str] = {
    suffix: language for language, suffixes in _SPELLINGS.items() for suffix in suffixes
}

NAMES = frozenset(_SPELLINGS) | {"words"}
# What a program starts by a shell, wherever it stands.
_STARTED = re.compile(
    r"\b(?:system|exec|popen|shell_exec|passthru|execute|shell-command|qx|do shell script)"
    r"\s{0,3}[({]?\s{0,3}([\"'])([^\n]{4,400}?)\1|:\s?!([^\n]{4,400})"
)


def read(language: str, text: str, where: Where) -> None:
    """Reports what a program of the language would do."""
    for found in _STARTED.finditer(text):
        line = where.line + text.count("\n", 0, found.start())
        where.read_inside("shell", found[2] or found[3], line)
    data = text.encode("utf-8", "replace")
    for match in _RULES.match(data=data):
        if language not in match.meta["languages"].split():
            continue
        at = min((one.offset for string in match.strings for one in string.instances), default=0)
        line = data.count(b"\n", 0, at)
        shown = data[at : at + 120].decode("utf-8", "replace").split("\n")[0]
        # Two patterns in one file are no proof that one flows into the other: a person looks.
        where.tell(
            match.meta["id"], where.line + line, shown or f"{language}: {match.rule}",
            severity=Severity.WARN,
        )  # fmt: skip
