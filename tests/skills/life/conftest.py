"""A host of skill repositories on loopback, and the way of a skill from there into a workspace."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skills import bringing, holds, install, judging, requests, sources
from skills.models import Skill, SkillListing, SkillRequest, SkillSource
from tests.cast import Cast
from tests.remote.server import Remote, serve


def skill_text(name: str, body: str = "Do it well.", description: str = "What it is.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\n{body}\n"


TABLES = {
    "skills/tables/SKILL.md": skill_text("tables", "Draw the table with a header row."),
    "skills/tables/references/notes.md": "Columns of numbers stand to the right.\n",
    "skills/charts/SKILL.md": skill_text("charts", "Choose the chart that answers the question."),
    "README.md": "# Skills\n",
}


@dataclass
class Stage:
    """Ada's workspace, a host that the operator allowed, and its repository `skills`."""

    cast: Cast
    host: Remote
    repository: str = "skills"

    def change(self, files: Mapping[str, str], **given: Any) -> str:
        """One more commit in the repository."""
        return self.host.commit(self.repository, files, **given)

    def register(self, **given: Any) -> SkillSource:
        """The repository as a source that nobody has read yet."""
        with self.cast.bound():
            return sources.register(
                self.host.address(self.repository), by=self.cast.ada.principal, **given
            )

    def source(self, **given: Any) -> SkillSource:
        """The repository as a registered source, read."""
        return self.sync(self.register(**given))

    def sync(self, source: SkillSource) -> SkillSource:
        sources.sync(self.cast.workspace.pk, source.pk)
        with self.cast.bound():
            row: SkillSource = SkillSource.objects.get(pk=source.pk)
        return row

    def listing(self, source: SkillSource, path: str) -> SkillListing:
        with self.cast.bound():
            row: SkillListing = SkillListing.objects.select_related("source").get(
                source=source, path=path
            )
        return row

    def ask(self, source: SkillSource, path: str, *, slug: str = "") -> SkillRequest:
        listing = self.listing(source, path)
        with self.cast.bound():
            return requests.preview(listing, by=self.cast.ada.principal, slug=slug)

    def look(self, source: SkillSource, path: str, *, slug: str = "") -> SkillRequest:
        """A request that was fetched and scanned."""
        return self.examine(self.ask(source, path, slug=slug))

    def look_for_update(self, slug: str = "tables", **given: Any) -> SkillRequest:
        with self.cast.bound():
            skill = Skill.objects.select_related("source").get(slug=slug)
            asked = requests.preview_update(skill, by=self.cast.ada.principal, **given)
        return self.examine(asked)

    def examine(self, request: SkillRequest) -> SkillRequest:
        bringing.examine(self.cast.workspace.pk, request.pk)
        return self.again(request)

    def press_install(self, request: SkillRequest) -> SkillRequest:
        """Ada presses install, and accepts what is held or refused."""
        with self.cast.bound():
            if request.state == SkillRequest.State.PREVIEWED:
                request = requests.install(request, by=self.cast.ada.principal)
            if request.state in {SkillRequest.State.HELD, SkillRequest.State.REFUSED}:
                request = holds.accept(request, by=self.cast.ada.principal, note="I read it.")
        return request

    def say_yes(self, request: SkillRequest) -> SkillRequest:
        """The same, and the job runs."""
        return self.write(self.press_install(request))

    def write(self, request: SkillRequest) -> SkillRequest:
        bringing.write(self.cast.workspace.pk, request.pk)
        return self.again(request)

    def again(self, request: SkillRequest) -> SkillRequest:
        with self.cast.bound():
            row: SkillRequest = SkillRequest.objects.select_related("source", "skill").get(
                pk=request.pk
            )
        return row

    def install(self, path: str = "skills/tables", *, slug: str = "") -> Skill:
        """A skill of the repository that Ada let in."""
        with self.cast.bound():
            source = SkillSource.objects.first()
        done = self.say_yes(self.look(source or self.source(), path, slug=slug))
        assert (done.state, done.error) == ("installed", "")
        return self.skill(done.slug)

    def skill(self, slug: str = "tables") -> Skill:
        with self.cast.bound():
            row: Skill = Skill.objects.select_related("source").get(slug=slug)
        return row

    def folder(self, slug: str = "tables") -> Path:
        return install.directory(self.cast.workspace.pk, slug)

    def lock(self) -> Path:
        return install.root(self.cast.workspace.pk) / "skills-lock.json"

    def files(self, slug: str = "tables") -> dict[str, str]:
        """Path → text of what stands in the workspace."""
        found = install.read(self.folder(slug)) or {}
        return {path: file.data.decode() for path, file in found.items()}


@pytest.fixture
def host(tmp_path: Path, settings: Any) -> Iterator[Remote]:
    """A hosting site on loopback that the operator allowed, with one repository of skills."""
    with serve(tmp_path / "hosted") as running:
        settings.ALLOW_HOSTS = [f"127.0.0.1:{running.port}"]
        running.create("skills", TABLES)
        running.git("skills", "config", "uploadpack.allowFilter", "true")
        yield running


@pytest.fixture
def stage(cast: Cast, host: Remote) -> Stage:
    return Stage(cast, host)


@pytest.fixture(scope="session", autouse=True)
def warm_scanner() -> Iterator[None]:
    """The scanners end with the tests."""
    yield
    judging.let_go()
