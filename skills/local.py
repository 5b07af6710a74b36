"""Skills that are written here: the same gate as for everything from outside."""

from collections.abc import Mapping

from workspaces.models import Principal

from .models import Skill, SkillRequest


def save(slug: str, files: Mapping[str, str], *, by: Principal, over: str = "") -> SkillRequest:
    """The new text (all of the skill's text files by path, `SKILL.md` among them) is scanned in the
    background and, when it passes, written at once; the author's own yes stands for the first
    reading. What the gate holds or refuses waits, sealed, and is given back by `draft`.

    `over` is the digest of the version that was edited, "" for a new skill; when another one stands
    by the time of writing, the request fails, the draft is kept and nothing is overwritten.
    Raises requests.CannotRequest for a bad name, one that a source's skill has, or too much text.
    """
    raise NotImplementedError


def draft(request: SkillRequest) -> Mapping[str, str]:
    """The text that was sent with a request that did not pass, to go on writing."""
    raise NotImplementedError


def text_of(skill: Skill) -> Mapping[str, str]:
    """The text files of a local skill as they stand, to be edited."""
    raise NotImplementedError
