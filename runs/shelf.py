"""The skills that an agent carries into a run: lines for the index, bodies on demand.

Its linked skills, and those of the one repository that it works in. That one is looked at again
before each turn: another repository, or another commit of it, changes the index, the copies in the
run's directory and what can be read, all together.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from django.db import connection

from harness import events
from harness.events import Event
from harness.seam import NoSkill, Root, SkillLine
from harness.skill_index import index as index_of
from outside import git
from outside.sentences import phrase
from repositories import active, skill_loading, skill_names, skill_scans, skill_standing
from repositories.models import Checkout, Repository
from repositories.skill_loading import Loaded
from repositories.skill_standing import Carrying, Standing
from repositories.skill_texts import head_of, text_of
from skills.install import NotThoseBytes
from skills.models import Skill
from skills.scanning import File
from workspaces.handles import slug
from workspaces.tenancy import bind

from . import workplace
from .installed import Installed
from .models import Run, RunEvent
from .overlay import Overlay

log = logging.getLogger(__name__)

WITHHELD = "skills_withheld"  # code of the notice that names them
SWAPPED = "active_repository"  # code of what the agent is told when its repository changes
FRESH_SECONDS = 5.0  # how long the linked skills are taken as they were read
COPIES = ".claude/skills"  # in the run's directory
MOST_NAMED = 12
Place = tuple[str, str]  # repository and commit


class Shelf:
    """The shelf of one run. Use it from the run's thread, between `open` and `close`."""

    def __init__(
        self,
        run: Run,
        roots: Sequence[Root],
        overlay: Overlay,
        *,
        check: skill_scans.Check = skill_scans.nothing,
    ) -> None:
        self._run, self._overlay, self._check = run, overlay, check
        self._roots = {root.name: root for root in roots if root.checkout}
        self._installed = Installed(run)
        self._place: Place | None = None
        self._standings: dict[str, Standing] = {}  # by name, what is in the index
        self._folders: dict[str, str] = {}  # of their copies, by digest
        self._hidden: set[str] = set()  # of these, what only people may call for
        self._lines: tuple[SkillLine, ...] = ()
        self._news: list[Event] = []
        self._looked = 0.0

    def open(self) -> None:
        """The skills of the repository that the agent works in are on the shelf."""
        with bind(self._run.workspace_id):
            repository = active.current(self._run.conversation, self._run.agent)
        connection.close()
        self._turn_to(repository.name if repository else "", is_first=True)
        for sentence in dict.fromkeys(self._installed.withheld.values()):
            self._tell(sentence, "")

    def close(self) -> None:
        """Nothing of it is left in the run's directory."""
        try:
            self._overlay.take_away()
        except (OSError, git.GitError) as error:
            log.warning("the skills of run %s stay until the next: %s", self._run.pk, error)

    def index(self) -> Sequence[SkillLine]:
        """Name and description of each; never a body."""
        self._look_again()
        linked = self._installed.lines()
        for sentence in self._installed.withheld.values():
            self._tell(sentence, "")
        return (*linked, *self._lines)

    def body(self, name: str, *, asked: bool = False) -> str | None:
        """The text of a skill's SKILL.md; see `harness.seam.SkillShelf`."""
        wanted = name.strip().removeprefix("/skill:")
        if ":" not in wanted:
            found = self._installed.body(wanted, asked=asked)
            if found is not None:
                return found
        standing = self._standing(wanted)
        if standing is not None and self._place is not None:
            is_hidden = standing.name in self._hidden and not asked
            return None if is_hidden else self._text(standing, *self._place)
        return self._body_elsewhere(wanted) if asked else None

    def news(self) -> Sequence[Event]:
        found, self._news = self._news, []
        return found

    def wrote(self, names: Sequence[str]) -> None:
        """The agent has written in these checkouts: one of them is its active repository now."""
        known = [name for name in names if name in self._roots]
        if not known or self._here in known:
            return
        with bind(self._run.workspace_id):
            active.infer(self._run.conversation, self._run.agent, known[0])
        connection.close()
        self._turn_to(known[0])

    # ------------------------------------------------------------ the active repository

    @property
    def _here(self) -> str:
        return self._place[0] if self._place else ""

    def _look_again(self) -> None:
        """Follows a person's choice and a commit that moved."""
        if time.monotonic() - self._looked > FRESH_SECONDS:
            self._looked = time.monotonic()
            with bind(self._run.workspace_id):
                chosen = active.current(self._run.conversation, self._run.agent)
            connection.close()
            if chosen is not None and chosen.name != self._here:
                self._turn_to(chosen.name)
                return
        if self._place is not None and self._commit_of(self._place[0]) != self._place[1]:
            self._turn_to(self._place[0])

    def _commit_of(self, name: str) -> str:
        root = self._roots.get(name)
        if root is None or root.checkout is None:
            return ""
        try:
            return git.head(root.checkout)[1] or ""
        except git.GitError:
            return ""

    def _turn_to(self, name: str, *, is_first: bool = False) -> None:
        """Afterwards the shelf has the skills of that repository's commit, and no other's."""
        before, self._place = self._place, (name, self._commit_of(name)) if name else None
        self._standings, self._lines, self._hidden, self._folders = {}, (), set(), {}
        self._looked = time.monotonic()
        try:
            copies = self._fill() if self._place and self._place[1] else {}
            self._overlay.put({**self._installed.files, **copies}, self._profile())
        except (git.GitError, NotThoseBytes, ValueError, FileNotFoundError) as error:
            log.warning("the skills of %s cannot be read: %s", name, error)
            self._standings, self._lines = {}, ()
            with suppress(FileNotFoundError):
                self._overlay.stand()
            self._tell(
                phrase("The skills of %(name)s cannot be read, so none of them is offered."), name
            )
        if before and self._place and before[0] != self._place[0] or not is_first and not before:
            self._announce(before[0] if before else "", name)

    def _fill(self) -> dict[str, Mapping[str, File]]:
        """Reads what was accepted; the copies to lay out, by the names of their folders."""
        assert self._place is not None
        name, commit = self._place
        carrying = self._carrying(name, commit)
        root = self._roots[name]
        assert root.checkout is not None
        self._installed.lines()
        copies: dict[str, Mapping[str, File]] = {}
        lines, changed = [], []
        read: list[Loaded] = []
        for loaded in skill_loading.load(root.checkout, commit, carrying.accepted):
            if loaded.files is None:
                changed.append(loaded.standing)
                continue
            folder = self._folder(loaded.standing, copies)
            copies[folder] = loaded.files
            self._folders[loaded.standing.digest] = folder
            read.append(loaded)
            self._standings[loaded.standing.name.lower()] = loaded.standing
            if head_of(loaded.files).is_hidden:
                self._hidden.add(loaded.standing.name)
            else:
                lines.append(_line(loaded, folder))
        self._lines = tuple(lines)
        self._note_descriptions(read)
        self._tell_withheld(carrying, changed)
        return copies

    def _note_descriptions(self, read: Sequence[Loaded]) -> None:
        """What an accepted skill says of itself, where it was not known before it was accepted."""
        fresh = {
            one.standing: head_of(one.files).description
            for one in read
            if one.files is not None and not one.standing.description
        }
        if not any(fresh.values()):
            return
        with bind(self._run.workspace_id):
            skill_scans.note_descriptions(
                {(one.digest, one.name): text for one, text in fresh.items() if text}
            )
        connection.close()

    def _carrying(self, name: str, commit: str) -> Carrying:
        """How the skills of the commit stand, scanned before anything else reads them."""
        run, root = self._run, self._roots[name]
        assert root.checkout is not None
        with bind(run.workspace_id):
            repository = skill_names.repository_of(run.conversation, name)
            rows = Checkout.objects.filter(conversation=run.conversation, repository=repository)
            base = rows.values_list("base", flat=True).first() or ""
        connection.close()
        if repository is None:
            raise ValueError(f"{name} is not in the space any more")
        skill_scans.scan_checkout(repository, root.checkout, commit, base=base, check=self._check)
        return self._stand(repository, commit)

    def _stand(self, repository: Repository, commit: str) -> Carrying:
        run = self._run
        with bind(run.workspace_id):
            rows = Checkout.objects.filter(conversation=run.conversation, repository=repository)
            rows.exclude(skills_commit=commit).update(skills_commit=commit)
            carrying = skill_standing.carrying(repository, commit)
        connection.close()
        return carrying

    def _folder(self, standing: Standing, taken: Mapping[str, object]) -> str:
        """The folder's name: the skill's own, but for one that an installed skill bears."""
        name = slug(standing.name, fallback="skill", limit=60)
        if self._installed.knows(name) or name in taken:
            name = slug(f"{standing.repository}-{name}", fallback="skill", limit=120)
        number, free = 2, name
        while free in taken:
            number, free = number + 1, f"{name}-{number}"
        return free

    def _profile(self) -> str:
        """The composed AGENTS.md: who the agent is, and the index of what it carries."""
        text = workplace.profile(self._run.agent)
        listed = index_of((*self._installed.lines(), *self._lines)).text
        return f"{text}\n## Skills\n\n{listed}\n" if listed else text

    # ------------------------------------------------------------ bodies

    def _standing(self, wanted: str) -> Standing | None:
        repository, colon, name = wanted.rpartition(":")
        is_here = not colon or repository == self._here
        return self._standings.get(name.lower()) if is_here else None

    def _text(self, standing: Standing, repository: str, commit: str) -> str:
        """The body of exactly the scanned bytes. Raises NoSkill for any other."""
        root = self._roots.get(repository)
        if root is None or root.checkout is None:
            raise NoSkill(phrase("%(name)s cannot be read now.") % {"name": standing.full_name})
        try:
            loaded = list(skill_loading.load(root.checkout, commit, [standing]))
        except (git.GitError, ValueError) as error:
            words = phrase("%(name)s cannot be read now.") % {"name": standing.full_name}
            raise NoSkill(words) from error
        if not loaded or loaded[0].files is None:
            words = phrase("%(name)s is not what was scanned, so it is not read.")
            raise NoSkill(words % {"name": standing.full_name})
        folder = self._folders.get(standing.digest) if repository == self._here else None
        place = f"{COPIES}/{folder}" if folder else f"repos/{repository}/{standing.path}"
        return text_of(loaded[0].files, place=place)

    def _body_elsewhere(self, wanted: str) -> str | None:
        """A skill that a person named: any of the workspace's, or of the space's repositories."""
        run = self._run
        with bind(run.workspace_id):
            known = skill_names.offered(run.conversation)
        connection.close()
        repository, colon, _name = wanted.rpartition(":")
        if colon and repository in self._roots:
            commit = self._commit_of(repository)
            try:
                fresh = self._carrying(repository, commit) if commit else None
            except (git.GitError, ValueError):
                fresh = None
            known = known.with_fresh(fresh) if fresh else known
        try:
            meant = skill_names.meaning(known, wanted)
        except skill_names.NoSuchSkill as error:
            raise NoSkill(str(error)) from error
        if isinstance(meant.skill, Skill):
            return self._installed.body(meant.skill.slug, asked=True)
        if meant.standing is None:
            return None
        place = known.of(meant.standing.repository)
        return self._text(meant.standing, meant.standing.repository, place.commit if place else "")

    # ------------------------------------------------------------ what is told

    def _announce(self, before: str, now: str) -> None:
        """The agent hears that its repository changed; people read the same line."""
        text = f"You work in the repository {now} now; the index has its skills."
        if before:
            text += f" The skills of {before} no longer apply."
        self._news.append(events.steer(text, code=SWAPPED))

    def _tell_withheld(self, carrying: Carrying, changed: Sequence[Standing]) -> None:
        reasons = {one.name: skill_names.reason(one) for one in carrying.withheld}
        words = phrase("it is not what was scanned.")
        reasons |= {one.name: words for one in changed}
        if not reasons:
            return
        shown = list(reasons.items())[:MOST_NAMED]
        listed = " ".join(f"{name}: {why}" for name, why in shown)
        if len(reasons) > len(shown):
            listed += f" (+{len(reasons) - len(shown)})"
        words = phrase("Skills of %(repository)s that are withheld: %(listed)s")
        self._tell(words % {"repository": carrying.repository, "listed": listed}, "")

    def _tell(self, words: str, name: str) -> None:
        """Once a conversation."""
        text = words % {"name": name} if name else words
        with bind(self._run.workspace_id):
            said = RunEvent.objects.filter(
                run__conversation=self._run.conversation,
                kind=events.Kind.NOTICE.value,
                data__code=WITHHELD,
                data__text=str(text),
            ).exists()
        connection.close()
        if not said and not any(event.data.get("text") == text for event in self._news):
            self._news.append(events.notice(text, level="warning", code=WITHHELD))


def _line(loaded: Loaded, folder: str) -> SkillLine:
    assert loaded.files is not None
    head = head_of(loaded.files)
    return SkillLine(
        name=loaded.standing.name,
        description=head.description,
        repository=loaded.standing.repository,
        location=f"{COPIES}/{folder}/SKILL.md",
        runs_in=head.runs_in,
    )
