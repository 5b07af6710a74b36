"""Which skills a repository offers, told from the listing of one commit's tree alone.

A folder with a SKILL.md is a skill and a leaf: what is inside belongs to it. Everything that looks
like a skill and is not offered is named with the reason.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from outside.sentences import phrase as _
from skills.scanning import LIMITS

LINK, SUBMODULE = 0o120000, 0o160000
DEEPEST = 3
DEEPEST_BY_CONVENTION = 6
SKILL_FOLDERS = {"skills", "skill"}
REPOSITORY_PLACES = (".agents/skills", ".claude/skills", ".opencode/skills")
"""Where a checked-out repository keeps skills of its own; the first of one name wins."""

_VENDORED = re.compile(
    r"(?i)^(node_modules|vendor|vendored|third[_-]?party|external|deps|bower_components|site-packages"
    r"|dist|build|out|target|\.venv|venv|\.git|\.cache|\.yarn|\.pnpm|submodules)$"
)
_EXAMPLE = re.compile(
    r"(?i)^(examples?|samples?|demos?|fixtures?|testdata|tests?|__tests__|e2e|evals?|benchmarks?|templates?"
    r"|scaffolds?|assets|snapshots|mocks?|playground|docs?|archive|archived|deprecated)$"
)
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Place(StrEnum):
    """The convention by which a skill was found."""

    ROOT = "root"
    SKILLS = "skills"
    PLUGIN = "plugin"
    TOOL = "tool folder"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree: git's mode, its size in bytes (None when not listed) and its id."""

    path: str
    mode: int = 0o100644
    size: int | None = None
    oid: str = ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A skill that may be installed. `path` is its folder in the repository ("" is the root), and
    with the source it is the skill's identity; the name is only what people call it."""

    path: str
    name: str
    skill_file: str
    place: Place
    files: tuple[Entry, ...]
    nested: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def size(self) -> int | None:
        """Bytes of all files, None when the listing does not say."""
        sizes = [entry.size for entry in self.files]
        return None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def executables(self) -> tuple[str, ...]:
        return tuple(entry.path for entry in self.files if entry.mode == 0o100755)


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A folder that looks like a skill and is not offered. `is_inside`: it is part of one."""

    path: str
    reason: str
    is_inside: bool = False


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What discovery found, by path. `clashes`: names (without regard to case) that several offers
    bear, each of which a person must choose by its path."""

    offers: tuple[Offer, ...]
    passed_over: tuple[PassedOver, ...]
    clashes: Mapping[str, tuple[str, ...]]

    def offer(self, path: str) -> Offer | None:
        return next((one for one in self.offers if one.path == path), None)


def discover(entries: Iterable[Entry], *, repository: str = "") -> Catalogue:
    """The skills of a tree. `repository` names a skill that lies at the root."""
    tree = _Tree(entries)
    offers: list[Offer] = []
    passed: list[PassedOver] = []
    roots = tree.skill_folders()
    for folder in roots:
        outer = next((one for one in roots if one and _is_inside(folder, one)), None)
        if outer is not None:
            said = _("inside the skill %(path)s") % {"path": outer}
            passed.append(PassedOver(folder, said, is_inside=True))
            continue
        if reason := tree.reason_against(folder):
            passed.append(PassedOver(folder, reason))
            continue
        offer = tree.offer(folder, roots, repository)
        if too_much := _too_much(offer):
            passed.append(PassedOver(folder, too_much))
        else:
            offers.append(offer)
    passed += tree.lookalikes(roots)
    return Catalogue(
        tuple(sorted(offers, key=lambda one: one.path)),
        tuple(sorted(passed, key=lambda one: one.path)),
        _clashes(offers),
    )


def in_repository(entries: Iterable[Entry]) -> tuple[Offer, ...]:
    """The skills that a checkout carries for its own agents, in the order of the three places; of
    one name the first counts."""
    found = discover(entries).offers
    out: dict[str, Offer] = {}
    for place in REPOSITORY_PLACES:
        for offer in found:
            if offer.path.startswith(f"{place}/") and offer.path.count("/") == place.count("/") + 1:
                out.setdefault(offer.name.lower(), offer)
    return tuple(out.values())


def read_ls_tree(listing: bytes) -> list[Entry]:
    """The entries of `git ls-tree -r -l -z <commit>`; raises ValueError for anything else."""
    entries = []
    for line in filter(None, listing.split(b"\0")):
        facts, tab, path = line.partition(b"\t")
        fields = facts.split()
        if not tab or len(fields) != 4:
            raise ValueError(f"no line of ls-tree -r -l: {line[:80]!r}")
        mode, _kind, oid, size = fields
        entries.append(
            Entry(
                path.decode("utf-8", "surrogateescape"),
                int(mode, 8),
                None if size == b"-" else int(size),
                oid.decode(),
            )
        )
    return entries


class _Tree:
    def __init__(self, entries: Iterable[Entry]) -> None:
        self.by_folder: dict[str, list[Entry]] = {}
        self.entries = sorted(entries, key=lambda entry: entry.path)
        for entry in self.entries:
            self.by_folder.setdefault(_parent(entry.path), []).append(entry)

    def skill_folders(self) -> list[str]:
        return sorted(folder for folder in self.by_folder if self._skill_files(folder))

    def _skill_files(self, folder: str) -> list[Entry]:
        return [one for one in self.by_folder[folder] if _base(one.path).lower() == "skill.md"]

    def reason_against(self, folder: str) -> str:
        """Why a folder with a SKILL.md is not offered, "" when it is."""
        parts = folder.split("/") if folder else []
        # A skill may itself be called "build" or "docs"; a folder above it says what it is in.
        above = parts[:-1] if _is_conventional(parts) else parts
        for part in above:
            if _VENDORED.match(part):
                said = _("in %(folder)s, which holds other people's files")
                return said % {"folder": part}
        for part in above:
            if _EXAMPLE.match(part):
                said = _("in %(folder)s, which holds examples or templates")
                return said % {"folder": part}
        allowed = DEEPEST_BY_CONVENTION if _is_conventional(parts) else DEEPEST
        if len(parts) > allowed:
            return _("deeper than %(n)d folders") % {"n": allowed}
        return self._reason_against_files(folder)

    def _reason_against_files(self, folder: str) -> str:
        files = self._skill_files(folder)
        if len(files) > 1:
            said = _("%(one)s and %(other)s stand side by side")
            return said % {"one": _base(files[0].path), "other": _base(files[-1].path)}
        if files[0].mode in {LINK, SUBMODULE}:
            return _("its SKILL.md is a link")
        return ""

    def offer(self, folder: str, roots: Sequence[str], repository: str) -> Offer:
        skill = self._skill_files(folder)[0]
        prefix = f"{folder}/" if folder else ""
        nested = tuple(one for one in roots if one != folder and _is_inside(one, folder))
        files = [entry for entry in self.entries if entry.path.startswith(prefix)]
        if not folder:
            # The whole repository is no skill: other skills and hidden folders stay out.
            own = tuple(f"{one}/" for one in nested)
            files = [e for e in files if not e.path.startswith((".", *own))]
            nested = ()
        name = _base(folder) if folder else repository.rpartition("/")[2].lower()
        return Offer(
            path=folder,
            name=name,
            skill_file=skill.path[len(prefix) :],
            place=_place(folder.split("/") if folder else []),
            files=tuple(Entry(e.path[len(prefix) :], e.mode, e.size, e.oid) for e in files),
            nested=tuple(one[len(prefix) :] for one in nested),
            remarks=_remarks(name, _base(skill.path), files),
        )

    def lookalikes(self, roots: Sequence[str]) -> list[PassedOver]:
        """Children of a conventional skills folder that hold no SKILL.md, and links there."""
        known = set(roots)
        out: dict[str, str] = {}
        for entry in self.entries:
            parts = entry.path.split("/")
            for depth in range(1, len(parts)):
                child = "/".join(parts[: depth + 1])
                if not _is_kept_place(parts[:depth]):
                    continue
                if len(parts) == depth + 1:
                    if entry.mode in {LINK, SUBMODULE}:
                        out[child] = _("a link, which is not followed")
                elif not any(
                    one == child or _is_inside(one, child) or one and _is_inside(child, one)
                    for one in known
                ):
                    out.setdefault(child, _("no SKILL.md"))
        return [PassedOver(path, reason) for path, reason in out.items()]


def _remarks(name: str, skill_file: str, files: Sequence[Entry]) -> tuple[str, ...]:
    remarks = []
    if skill_file != "SKILL.md":
        said = _("called %(file)s, which some readers do not see")
        remarks.append(said % {"file": skill_file})
    if not _SLUG.fullmatch(name) or len(name) > 64:
        remarks.append(_("%(name)s is no name by agentskills.io") % {"name": repr(name)})
    links = [_base(entry.path) for entry in files if entry.mode == LINK]
    if links:
        remarks.append(_("holds links: %(names)s") % {"names": ", ".join(links[:3])})
    if any(entry.mode == SUBMODULE for entry in files):
        remarks.append(_("holds a submodule"))
    return tuple(remarks)


def _too_much(offer: Offer) -> str:
    if len(offer.files) > LIMITS.files:
        said = _("%(n)d files; at most %(most)d are installed")
        return said % {"n": len(offer.files), "most": LIMITS.files}
    if (offer.size or 0) > LIMITS.total:
        said = _("%(n)d bytes; at most %(most)d are installed")
        return said % {"n": offer.size or 0, "most": LIMITS.total}
    return ""


def _clashes(offers: Sequence[Offer]) -> dict[str, tuple[str, ...]]:
    by_name: dict[str, list[str]] = {}
    for offer in offers:
        by_name.setdefault(offer.name.lower(), []).append(offer.path)
    return {name: tuple(sorted(paths)) for name, paths in sorted(by_name.items()) if len(paths) > 1}


def _is_conventional(parts: Sequence[str]) -> bool:
    """Whether a folder stands directly in a folder called skills."""
    return len(parts) > 1 and parts[-2].lower() in SKILL_FOLDERS


def _is_kept_place(parts: Sequence[str]) -> bool:
    """Whether a folder is one that people keep skills in: `skills`, a tool's, a plugin's."""
    if parts[-1].lower() not in SKILL_FOLDERS:
        return False
    return len(parts) == 1 or parts[-2].startswith(".") or parts[0] == "plugins" and len(parts) == 3


def _place(parts: Sequence[str]) -> Place:
    if not parts:
        return Place.ROOT
    if not _is_conventional(parts):
        return Place.ELSEWHERE
    if any(part.startswith(".") for part in parts[:-2]):
        return Place.TOOL
    return Place.PLUGIN if "plugins" in parts[:-2] else Place.SKILLS


def _is_inside(path: str, folder: str) -> bool:
    return path != folder and (not folder or path.startswith(f"{folder}/"))


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _base(path: str) -> str:
    return path.rpartition("/")[2]
