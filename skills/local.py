"""Skills that are written here: the same gate as for everything from outside."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from skills.scanning.text import decode
from workspaces.models import Principal
from workspaces.turns import take_turn

from . import install, requests, sealing
from .models import Skill, SkillRequest

MOST_FILES = 100
MOST_BYTES = 1 << 20


def save(slug: str, files: Mapping[str, str], *, by: Principal, over: str = "") -> SkillRequest:
    """The new text (all of the skill's text files by path, `SKILL.md` among them) is scanned in the
    background and, when it passes, written at once; the author's own yes stands for the first
    reading. What the gate holds or refuses waits, sealed, and is given back by `draft`.

    `over` is the digest of the version that was edited, "" for a new skill; when another one stands
    by the time of writing, the request fails, the draft is kept and nothing is overwritten.
    Raises requests.CannotRequest for a bad name, one that a source's skill has, or too much text.
    """
    requests.check_slug(slug)
    _check_text(files)
    take_turn("skill requests")
    row = Skill.objects.filter(slug=slug).first()
    if row is not None and (row.origin == Skill.Origin.SOURCE or not over):
        requests.require_free(slug)
    same = SkillRequest.objects.filter(
        kind=SkillRequest.Kind.LOCAL, slug=slug, requested_by=by, state__in=SkillRequest.OPEN
    )
    for one in same:
        # The newer text of the same author takes the place of the one that waits.
        requests.cancel(one, by=by)
    return requests.create(
        kind=SkillRequest.Kind.LOCAL, slug=slug, skill=row, installed_digest=over, requested_by=by,
        sealed_files=sealing.close(dict(files)),
    )  # fmt: skip


def draft(request: SkillRequest) -> Mapping[str, str]:
    """The text that was sent with a request that did not pass, to go on writing."""
    said: dict[str, str] | None = sealing.open_(request.sealed_files)
    return said or {}


def text_of(skill: Skill) -> Mapping[str, str]:
    """The text files of a local skill as they stand, to be edited."""
    files = install.read(install.directory(skill.workspace_id, skill.slug)) or {}
    found = {}
    for path, file in files.items():
        decoded = None if file.is_link or file.is_submodule else decode(file.data)
        if decoded is not None and not decoded.odd:
            found[path] = decoded.text
    return found


def _check_text(files: Mapping[str, str]) -> None:
    if not files.get("SKILL.md", "").strip():
        raise requests.CannotRequest(_("A skill needs a SKILL.md with some text."))
    try:
        total = sum(len(path.encode()) + len(text.encode()) for path, text in files.items())
    except UnicodeEncodeError:
        raise requests.CannotRequest(_("There are characters in it that no text has.")) from None
    if len(files) > MOST_FILES or total > MOST_BYTES:
        raise requests.CannotRequest(
            _("This is too much text: at most %(files)s files and %(kib)s KiB can be written here.")
            % {"files": MOST_FILES, "kib": MOST_BYTES // 1024}
        )
