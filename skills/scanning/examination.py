"""One scan under way: its report, its budget, and what the parts of the skill were seen to do."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from .limits import LIMITS, Limits
from .report import Report


class OverLimit(Exception):
    """More than the scanner reads; `rule` names the limit, `what` says where."""

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule
        self.what = what


Marks = frozenset[str]


@dataclass(slots=True)
class Exports:
    """What the skill's Python modules give each other: marks of names, functions that send."""

    marks: dict[str, Marks] = field(default_factory=dict)
    senders: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Artefact:
    """Bytes to be read: a file, or what was found inside one (`assets/x.zip!run.sh`)."""

    path: str
    data: bytes
    depth: int = 0
    executable: bool = False
    in_archive: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition("!")[2].rpartition("/")[2]

    @property
    def suffix(self) -> str:
        return self.name.rpartition(".")[2].lower() if "." in self.name[1:] else ""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a part of the skill does: `kind` from a small vocabulary, and its place.

    Kinds: network, secret-file, environment-dump, own-settings.
    """

    kind: str
    file: str
    line: int
    detail: str = ""
    shown: bool = False


@dataclass(slots=True)
class Examination:
    """Everything that the stages share; `spend` raises OverLimit.

    `about` is what the skill says of itself: name and description.
    """

    limits: Limits = LIMITS
    report: Report = field(init=False)
    deeds: list[Deed] = field(default_factory=list)
    exports: Exports = field(default_factory=Exports)
    about: str = ""
    _spent: dict[str, int] = field(default_factory=dict)
    _tainted: dict[str, set[str]] = field(default_factory=dict)
    _read: set[bytes] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.report = Report(self.limits)

    def spend(self, what: str, amount: int, where: str) -> None:
        """Counts text, code, unpacked bytes or unpacked files against their ceiling."""
        self._spent[what] = self._spent.get(what, 0) + amount
        ceiling = getattr(self.limits, what)
        if self._spent[what] > ceiling:
            rule = "unpacked" if what == "unpacked_files" else what
            raise OverLimit(f"limits.{rule}", f"{where}: over {ceiling}")

    def left(self, what: str) -> int:
        return int(getattr(self.limits, what)) - self._spent.get(what, 0)

    def did(
        self, kind: str, file: str, line: int, detail: str = "", *, shown: bool = False
    ) -> None:
        """Notes a deed; repeated ones of one file are kept a few times only."""
        same = sum(1 for deed in self.deeds if deed.kind == kind and deed.file == file)
        if same < 8:
            self.deeds.append(Deed(kind, file, line, detail, shown))

    def done(self, kind: str) -> Iterator[Deed]:
        return (deed for deed in self.deeds if deed.kind == kind)

    def taint(self, file: str, paths: Iterable[str]) -> None:
        """Notes files that commands of a text fill with private data."""
        self._tainted.setdefault(file, set()).update(path for path in paths if len(path) > 2)

    def is_tainted(self, file: str, words: Iterable[str]) -> bool:
        """Whether words of a later command name such a file."""
        held = self._tainted.get(file)
        return bool(held) and any(path in word for word in words for path in held or ())

    def is_news(self, data: bytes) -> bool:
        """Whether these decoded bytes have not been read yet."""
        mark = sha256(data).digest()
        if mark in self._read:
            return False
        self._read.add(mark)
        return True
