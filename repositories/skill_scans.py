"""Scanning the skills of one commit before anything else reads them.

Only what was committed is looked at: what lies in the work tree beside it is no skill until then.
A verdict is kept by the digest of the bytes, the folder's name and the rule set; a commit that
changes no skill costs one listing.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from live.publish import publish
from outside import git
from outside.git.locks import exclusive
from outside.sentences import Sentence, pack
from skills.discovery import Offer
from skills.scanning import File, Outcome, Source, Verdict, digest, version
from skills.scanning.child import Scanner
from workspaces.background import enqueue
from workspaces.tenancy import bind

from . import places, skill_trees, topics
from .connections import give_back
from .models import Repository, SkillScan, SkillVerdict
from .skill_texts import head_of

log = logging.getLogger(__name__)

SCAN = "repositories.tasks.scan_skills"
LONGEST_SECONDS = 600
EARLIER = 20  # scans of a repository that are asked what they know already
Check = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Found:
    """A skill of a commit. `key` tells its files apart without reading them."""

    name: str
    path: str
    key: str
    digest: str


def nothing() -> None:
    """What a caller checks in between who has nothing to check."""


def ask(repository: Repository) -> None:
    """On commit the skills of the default branch are scanned in the background."""
    enqueue(SCAN, repository.workspace_id, repository.pk, queue="files")


def unscanned() -> QuerySet[Repository]:
    """Repositories whose skills nobody has looked at under the present rules, in what is bound."""
    done = SkillScan.objects.filter(
        repository=OuterRef("pk"), commit=OuterRef("skills_commit"), ruleset=version()
    )
    rows = Repository.objects.filter(last_fetched_at__isnull=False, is_empty=False)
    waiting: QuerySet[Repository] = rows.exclude(state=Repository.State.REMOVING).exclude(
        Exists(done)
    )
    return waiting


def scan_published(workspace_id: UUID, repository_id: UUID) -> None:
    """Scans what the default branch of a repository carries, after a fetch."""
    with bind(workspace_id):
        repository: Repository | None = Repository.objects.filter(
            pk=repository_id, last_fetched_at__isnull=False
        ).first()
    give_back()
    if repository is None:
        return
    mirror = places.mirror(workspace_id, repository.name)
    tip = git.mirrored(mirror).get(f"refs/heads/{repository.default_branch}") or ""
    if not tip:
        return
    try:
        scan(repository, mirror, tip)
    except (git.GitError, ValueError, OSError) as error:
        log.warning("the skills of %s cannot be read: %s", repository.name, error)
        _note_unreadable(repository, tip)
    with bind(workspace_id):
        Repository.objects.filter(pk=repository_id).update(skills_commit=tip)
        announce(workspace_id, repository_id)
    give_back()


def _note_unreadable(repository: Repository, commit: str) -> None:
    """So that it is shown, offers nothing, and is not tried again at each sweep."""
    told = [{"path": "", "reason": "the commit cannot be read"}]
    with bind(repository.workspace_id):
        SkillScan.objects.get_or_create(
            repository=repository,
            commit=commit,
            ruleset=version(),
            defaults={"is_published": True, "passed_over": told},
        )
    give_back()


def announce(workspace_id: UUID, repository_id: UUID) -> None:
    """Open pages that show the repository, or a conversation with it, ask again."""
    publish(
        topics.repositories(workspace_id), "repository", data={"repository": str(repository_id)}
    )


def scan(
    repository: Repository,
    source: git.Checkout | Path,
    commit: str,
    *,
    check: Check = nothing,
) -> SkillScan:
    """The scan of the commit under the present rules; it is done at most once.

    `source` is the checkout that has the commit, or the mirror. `check` is called between skills
    and may raise. Never inside a transaction. Raises a GitError when the commit cannot be read.
    """
    mirror = places.mirror(repository.workspace_id, repository.name)
    known = _stored(repository, commit)
    if known is not None and known.is_published:
        return known
    is_published = git.has_commit(mirror, commit)
    if known is not None:
        return _now_published(known) if is_published else known
    # Who comes second finds it done.
    with exclusive(mirror.with_name(f"{repository.name}.skills"), seconds=LONGEST_SECONDS):
        found = _stored(repository, commit)
        return found or _scan(repository, source, commit, is_published, check)


def _scan(
    repository: Repository,
    source: git.Checkout | Path,
    commit: str,
    is_published: bool,
    check: Check,
) -> SkillScan:
    with git.readable(source) as place:
        carried = skill_trees.carried(place, commit)
        found = _judged(repository, place, carried.offers, check)
    with bind(repository.workspace_id):
        row, _made = SkillScan.objects.get_or_create(
            repository=repository,
            commit=commit,
            ruleset=version(),
            defaults={
                "is_published": is_published,
                "skills": [asdict(one) for one in found],
                "passed_over": [
                    {"path": _storable(one.path), "reason": _kept(one.reason)}
                    for one in carried.passed_over
                ],
            },
        )
    give_back()
    stored: SkillScan = row
    return stored


def found_in(row: SkillScan) -> tuple[Found, ...]:
    """The skills of a scan, in the order of the three places."""
    return tuple(Found(**one) for one in row.skills)


def published_digests(repository: Repository) -> frozenset[str]:
    """Digests of the skills that the remote is known to have or have had."""
    rows = SkillScan.objects.filter(repository=repository, is_published=True, ruleset=version())
    newest = rows.order_by("-scanned_at").values_list("skills", flat=True)[:EARLIER]
    return frozenset(one["digest"] for skills in newest for one in skills)


def verdicts_of(found: Iterable[Found]) -> dict[tuple[str, str], SkillVerdict]:
    """The verdicts under the present rules, by digest and name. Reads the bound workspace."""
    digests = {one.digest for one in found}
    rows = SkillVerdict.objects.filter(digest__in=digests, ruleset=version())
    return {(row.digest, row.folder): row for row in rows}


def scan_checkout(
    repository: Repository,
    checkout: git.Checkout,
    commit: str,
    *,
    base: str,
    check: Check = nothing,
) -> SkillScan:
    """The scan of what a checkout stands on. For a commit that was made here, what it was made
    from is scanned as well: its skills are not new."""
    row = scan(repository, checkout, commit, check=check)
    mirror = places.mirror(repository.workspace_id, repository.name)
    if not row.is_published and base and git.has_commit(mirror, base):
        scan(repository, mirror, base, check=check)
    return row


def note_descriptions(found: Mapping[tuple[str, str], str]) -> None:
    """What accepted skills say of themselves, by digest and name, in the bound workspace."""
    for (total, name), text in found.items():
        rows = SkillVerdict.objects.filter(digest=total, folder=name, ruleset=version())
        rows.update(description=text)


def _stored(repository: Repository, commit: str) -> SkillScan | None:
    with bind(repository.workspace_id):
        row: SkillScan | None = SkillScan.objects.filter(
            repository=repository, commit=commit, ruleset=version()
        ).first()
    give_back()
    return row


def _now_published(row: SkillScan) -> SkillScan:
    """What was made here has been pushed meanwhile."""
    with bind(row.workspace_id):
        SkillScan.objects.filter(pk=row.pk).update(is_published=True)
    give_back()
    row.is_published = True
    return row


def _judged(
    repository: Repository, place: git.Place, offers: Sequence[Offer], check: Check
) -> list[Found]:
    """Every offer with its digest, and a verdict for each of them in the database."""
    keys = {offer.path: skill_trees.key_of(offer) for offer in offers}
    known = _known_digests(repository, set(keys.values()))
    fresh = [offer for offer in offers if (keys[offer.path], _name(offer)) not in known]
    read = _scan_all(repository, place, fresh, check)
    return [
        Found(
            name=_name(offer),
            path=_storable(offer.path),
            key=keys[offer.path],
            digest=read.get(offer.path) or known[keys[offer.path], _name(offer)],
        )
        for offer in offers
    ]


def _known_digests(repository: Repository, keys: set[str]) -> dict[tuple[str, str], str]:
    """Digests of earlier commits by key and name: the same files have the same digest."""
    with bind(repository.workspace_id):
        rows = SkillScan.objects.filter(repository=repository, ruleset=version())
        newest = rows.order_by("-scanned_at").values_list("skills", flat=True)[:EARLIER]
        known = {
            (one["key"], one["name"]): one["digest"]
            for skills in newest
            for one in skills
            if one["key"] in keys
        }
    give_back()
    return known


def _scan_all(
    repository: Repository, place: git.Place, offers: Sequence[Offer], check: Check
) -> dict[str, str]:
    """Reads and scans the offers; their digests by path. What was scanned is stored as it comes."""
    digests: dict[str, str] = {}
    with Scanner() as scanner:
        for group in skill_trees.read(place, offers):
            totals = {offer.path: digest(files) for offer, files in group}
            digests |= totals
            known = _known_verdicts(repository, totals.values())
            rows = []
            for offer, files in group:
                check()
                if (totals[offer.path], _name(offer)) not in known:
                    verdict = scanner.scan(files, Source(_name(offer)))
                    rows.append(_row(repository, _name(offer), verdict, files))
            _store(repository, rows)
    return digests


def _known_verdicts(repository: Repository, digests: Iterable[str]) -> set[tuple[str, str]]:
    with bind(repository.workspace_id):
        rows = SkillVerdict.objects.filter(digest__in=list(digests), ruleset=version())
        known = set(rows.values_list("digest", "folder"))
    give_back()
    return known


def _store(repository: Repository, rows: Sequence[SkillVerdict]) -> None:
    if rows:
        with bind(repository.workspace_id):
            SkillVerdict.objects.bulk_create(rows, ignore_conflicts=True)
    give_back()


def _row(
    repository: Repository, name: str, verdict: Verdict, files: Mapping[str, File]
) -> SkillVerdict:
    said = verdict.as_json()
    if verdict.outcome is not Outcome.PASS:
        # What is said by a skill that nobody accepted does not lie about in the database.
        for finding in said["findings"]:
            finding["excerpt"] = ""
    return SkillVerdict(
        workspace_id=repository.workspace_id,
        digest=verdict.digest,
        folder=name,
        ruleset=verdict.ruleset,
        verdict=said,
        description=head_of(files).description if verdict.outcome is Outcome.PASS else "",
        scanned_at=timezone.now(),
    )


def _name(offer: Offer) -> str:
    return _storable(offer.name)[:255]


def _kept(reason: str) -> str:
    """A reason as the row keeps it: `outside.sentences.unpack` makes it a Sentence again."""
    return pack(reason.mapped(_storable) if isinstance(reason, Sentence) else _storable(reason))


def _storable(text: str) -> str:
    """Text that PostgreSQL takes: what is no UTF-8 in a path is shown as a question mark."""
    return text.encode("utf-8", "replace").decode().replace("\0", "␀")
