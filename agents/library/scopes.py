"""Which definition counts under which name, and why the others do not (requirements 6.1–6.4)."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from agents.library.definition import AgentDefinition, Dialect
from agents.library.loading import Found
from agents.library.places import Scope
from agents.library.trust import as_packaged, as_untrusted
from agents.library.warning import LoadWarning, warn
from outside.sentences import Sentence
from outside.sentences import phrase as _

_DIALECT_ORDER = (
    *(Dialect.CC, Dialect.JARVIS, Dialect.FUXI, Dialect.QWEN, Dialect.OPENCODE),
    *(Dialect.COPILOT, Dialect.NONE),
)
SCOPE_WORDS = {
    Scope.MANAGED: _("the organisation's"),
    Scope.SESSION: _("this conversation's"),
    Scope.PROJECT: _("the repository's"),
    Scope.EXTRA: _("an extra folder's"),
    Scope.MEMBER: _("the member's own"),
    Scope.PLUGIN: _("a package's"),
    Scope.BUILTIN: _("the built-in one"),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One found file in the library. `code` is `effective`, or why it is not:
    `invalid shadowed duplicate needs-override not-trusted safe-mode quarantined disabled
    ambiguous`.

    `name` is what it is called by; a package's agent also by its bare name when `bare`.
    """

    found: Found
    name: str
    definition: AgentDefinition  # as it acts: what its scope or trust forbids is taken out
    code: str = "effective"
    reason: str = ""
    by: Found | None = None  # what counts in its place
    bare: str = ""

    @property
    def is_effective(self) -> bool:
        """A call by this name runs this definition."""
        return self.code == "effective"


@dataclass(frozen=True, slots=True)
class Library:
    """Every file that was found with its standing, and the effective ones by name."""

    entries: tuple[Entry, ...]
    by_name: Mapping[str, Entry] = field(default_factory=dict)
    warnings: tuple[LoadWarning, ...] = ()

    def find(self, name: str) -> Entry | None:
        """The effective definition of this exact name, else of the only name that differs from
        it by case alone, else None.
        """
        if name in self.by_name:
            return self.by_name[name]
        folded = [entry for key, entry in self.by_name.items() if key.lower() == name.lower()]
        return folded[0] if len(folded) == 1 else None

    def candidates(self, bare_name: str) -> tuple[str, ...]:
        """The scoped names of packages' agents that a bare name could mean."""
        return tuple(sorted(e.name for e in self.entries if e.bare == bare_name))


@dataclass(frozen=True, slots=True)
class Caution:
    """How far files of repositories are believed.

    `trusts`: an admin accepted the file, so it may replace a built-in agent and bring hooks,
    executors and servers. `refuses`: why a file must not be used at all; empty when it may.
    `safe_mode` takes the files of repositories out altogether.
    """

    trusts: Callable[[Found], bool] = lambda _found: False
    refuses: Callable[[Found], str] = lambda _found: ""
    safe_mode: bool = False


TRUSTING = Caution(trusts=lambda _found: True)
CAUTIOUS = Caution()


def resolve(
    found: Iterable[Found], *, main_dialect: Dialect = Dialect.CC, caution: Caution = CAUTIOUS
) -> Library:
    """The library that these files make."""
    ranked = sorted(found, key=lambda item: _rank(item, main_dialect))
    builtins = frozenset(
        item.definition.name for item in ranked if item.place.scope is Scope.BUILTIN
    )
    standing = [_standing(item, builtins, caution) for item in ranked]
    by_name: dict[str, Entry] = {}
    entries = []
    for entry in _without_ambiguous(standing):
        if entry.is_effective and entry.name in by_name:
            entry = _shadowed(entry, by_name[entry.name])
        elif entry.is_effective:
            by_name[entry.name] = entry
        entries.append(entry)
    for entry in entries:
        if entry.is_effective and entry.bare:
            by_name.setdefault(entry.bare, entry)
    return Library(tuple(entries), by_name, tuple(_named_twice(entries)))


def _rank(item: Found, main_dialect: Dialect) -> tuple[int, int, int, int, bool, str]:
    place, dialect = item.place, item.definition.dialect
    order = _DIALECT_ORDER.index(dialect)
    foreign = int(dialect is not main_dialect)
    return (place.scope, place.distance, foreign, order, place.generic, item.relative)


def _standing(item: Found, builtins: frozenset[str], caution: Caution) -> Entry:
    """The file's entry before anything is compared with its namesakes."""
    trusted = not item.place.from_repository or caution.trusts(item)
    definition = _as_it_acts(item, trusted=trusted)
    name, bare = _names(item)
    code, reason = _verdict(item, builtins, caution, trusted=trusted)
    return Entry(item, name, definition, code, reason, bare=bare)


def _as_it_acts(item: Found, *, trusted: bool) -> AgentDefinition:
    if item.place.scope is Scope.PLUGIN:
        return as_packaged(item.definition)
    return item.definition if trusted else as_untrusted(item.definition)


def _names(item: Found) -> tuple[str, str]:
    """`package:folder:name` and the bare name for packages, else the name alone."""
    name = item.definition.name
    if item.place.scope is not Scope.PLUGIN:
        return name, ""
    folders = item.relative.split("/")[:-1]
    return ":".join((item.place.package, *folders, name)), name


def _verdict(
    item: Found, builtins: frozenset[str], caution: Caution, *, trusted: bool
) -> tuple[str, str]:
    definition, place = item.definition, item.place
    if not definition.is_usable:
        reasons = definition.loud_warnings
        return "invalid", reasons[-1].sentence if reasons else _("The file cannot be used.")
    if definition.dialect is Dialect.OPENCODE and definition.values.get("disable") is True:
        return "disabled", _("The file says `disable: true`.")
    if place.from_repository:
        if caution.safe_mode:
            return "safe-mode", _("Safe mode leaves the repository's agents out.")
        if refusal := caution.refuses(item):
            return "quarantined", refusal
    if place.scope in (Scope.BUILTIN, Scope.PLUGIN) or definition.name not in builtins:
        return "effective", ""
    return _override(item, trusted=trusted)


def _override(item: Found, *, trusted: bool) -> tuple[str, str]:
    """Whether a file named as a built-in agent may stand in its place (requirements 6.4)."""
    definition = item.definition
    is_jarvis = definition.dialect is Dialect.JARVIS
    if is_jarvis and not definition.override and item.place.scope is not Scope.SESSION:
        return "needs-override", _("It is named as a built-in agent and lacks `override: true`.")
    if not trusted:
        return "not-trusted", _(
            "It would replace a built-in agent; no admin has accepted the file."
        )
    return "effective", ""


def _without_ambiguous(entries: list[Entry]) -> list[Entry]:
    """The entries; bare names that several packages share are taken from all of them."""
    holders: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        if entry.bare and entry.is_effective:
            holders[entry.bare].add(entry.name)
    return [
        Entry(e.found, e.name, e.definition, e.code, e.reason)
        if len(holders.get(e.bare, ())) > 1
        else e
        for e in entries
    ]


def _shadowed(entry: Entry, winner: Entry) -> Entry:
    """The entry, put aside for the winner, with the rule that decided."""
    mine, its = entry.found.place, winner.found.place
    code = "shadowed"
    if mine.scope != its.scope:
        why = _before(SCOPE_WORDS[its.scope], SCOPE_WORDS[mine.scope])
    elif mine.distance != its.distance:
        why = _("the other one is nearer to the working directory")
    elif entry.definition.dialect != winner.definition.dialect:
        words = {"one": winner.definition.dialect, "other": entry.definition.dialect}
        why = _("%(one)s goes before %(other)s here") % words
    elif mine.folder != its.folder:
        folder = {"folder": its.folder.name, "parent": its.folder.parent.name}
        why = _("%(folder)s of %(parent)s goes first") % folder
    else:
        code, why = "duplicate", _("its path sorts first in the same folder")
    reason = _("`%(path)s` counts instead: %(why)s.") % {"path": winner.found.relative, "why": why}
    return Entry(entry.found, entry.name, entry.definition, code, reason, winner.found, entry.bare)


def _before(one: Sentence, other: Sentence) -> Sentence:
    return _("%(one)s goes before %(other)s") % {"one": one, "other": other}


def _named_twice(entries: list[Entry]) -> Iterable[LoadWarning]:
    for entry in entries:
        if entry.code == "duplicate" and entry.by is not None:
            sentence = _(
                "`%(one)s` and `%(other)s` are both named `%(name)s`; the first one counts."
            )
            words = {"one": entry.by.relative, "other": entry.found.relative, "name": entry.name}
            yield warn("duplicate-name", sentence % words)
