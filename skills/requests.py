"""Bringing a skill in: a look first, then the install of exactly what was looked at.

A `SkillRequest` goes queued → fetching → scanning → previewed (or refused, failed); `install` takes
it on to installing → installed, or to held, where `holds` goes on. Each step is a job on the queue
`files`; a page asks for it and watches the topic.
"""

from dataclasses import dataclass

from skills.scanning import Finding, Manifest
from workspaces.models import Principal

from .models import Skill, SkillListing, SkillRequest

EXAMINE = "skills.tasks.examine"
INSTALL = "skills.tasks.install"


class CannotRequest(ValueError):
    """The skill cannot be asked for or installed as it is; the text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One file of a skill as a person may read it. `text` is None for what is no text or too long;
    invisible characters are spelled out."""

    path: str
    mode: int
    size: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Preview:
    """What there is to look at before a skill is installed. All of it is untrusted text.

    `body` is the Markdown below the front matter. `diff` (unified, as git writes it) and the
    `before…` fields compare with the installed version and are empty on a first install.
    """

    description: str
    body: str
    files: tuple[Shown, ...]
    findings: tuple[Finding, ...]
    manifest: Manifest
    diff: str = ""
    before_findings: tuple[Finding, ...] = ()
    before_capabilities: tuple[str, ...] = ()


def preview(listing: SkillListing, *, by: Principal, slug: str = "") -> SkillRequest:
    """On commit the skill is fetched into memory and scanned, and then can be looked at.

    `slug` is the name it gets here (default: its own). A listing that is installed already becomes
    an update. An open request of the same listing and name is given back instead of a second one.
    Raises CannotRequest for a bad or taken name and for what is passed over.
    """
    raise NotImplementedError


def preview_update(skill: Skill, *, by: Principal, at_once: bool = False) -> SkillRequest:
    """The same for the newest version of an installed skill, from its own source and path.

    `at_once`: it is also installed when its decision is `accepted`; when that is `held` it waits in
    the queue (bulk updates of an admin). Raises CannotRequest when the skill has no source any more, or the source no such folder.
    """
    raise NotImplementedError


def install(request: SkillRequest, *, by: Principal) -> SkillRequest:
    """What was looked at is being installed, or waits for an admin (`held`) when its decision says
    so. The caller has checked that `by` may. Twice is harmless. Raises CannotRequest for what is
    refused, not looked at yet, ended, or older than its rule set.
    """
    raise NotImplementedError


def cancel(request: SkillRequest, *, by: Principal) -> None:
    """An open request ends; nothing was written. Ended ones stay as they are."""
    raise NotImplementedError


def preview_of(request: SkillRequest) -> Preview | None:
    """What there is to look at; None before the scan, and after the request has ended."""
    raise NotImplementedError
