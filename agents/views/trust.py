"""Reading a repository's agent files before they may do more than an unread file may."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from workspaces import audit
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace

from ..definitions import AcceptedDefinition
from ..inspecting import refusal_of
from . import shelf
from .shelf import Bookcase, Line
from .writing import unified


@dataclass(frozen=True, slots=True)
class Review:
    """A file to be read. `diff` is against what was accepted last, empty for a first reading."""

    line: Line
    diff: str
    was_accepted: bool


@require_http_methods(["GET", "POST"])
@workspace_view(Role.ADMIN)
def library_trust(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The files of a repository that nobody has accepted; accepting means exactly these bytes."""
    case = shelf.bookcase(request, request.POST.get("from") or request.GET.get("from", ""))
    if not case.source.projects:
        raise Http404
    if request.method == "POST":
        _accept(request, case)
        url = reverse("agents:library-show", args=[workspace.slug])
        return redirect(f"{url}?from={case.source.key}")
    context = {
        "source": case.source,
        "reviews": [_review(line) for line in case.lines if line.repository and not line.accepted],
        "accepted": [line for line in case.lines if line.accepted],
    }
    return render(request, "agents/trust.html", context)


def _review(line: Line) -> Review:
    assert line.repository is not None
    last = AcceptedDefinition.objects.filter(
        repository_id=line.repository[0], path=line.repository[1]
    ).first()
    if last is None:
        return Review(line, "", was_accepted=False)
    text = bytes(last.text).decode("utf-8", "replace")
    return Review(line, unified(text, line.definition.raw), was_accepted=True)


def _accept(request: MemberRequest, case: Bookcase) -> None:
    """What was shown and is still so is accepted; what changed meanwhile has to be read again."""
    chosen = set(request.POST.getlist("file"))
    done = refused = 0
    for line in case.lines:
        key = f"{line.key} {line.definition.digest}"
        if line.repository is None or key not in chosen:
            continue
        if refusal := refusal_of(line.definition):
            messages.error(request, f"{line.repository[1]}: {refusal}")
            refused += 1
            continue
        repository_id, path = line.repository
        AcceptedDefinition.objects.get_or_create(
            repository_id=repository_id,
            path=path,
            digest=line.definition.digest,
            defaults={"text": line.definition.raw.encode("utf-8", "replace"),
                      "by": request.principal},
        )  # fmt: skip
        audit.record("definition.accept", actor=request.principal, subject=path[:200])
        done += 1
    if done:
        text = ngettext("%(n)s file is accepted.", "%(n)s files are accepted.", done)
        messages.success(request, text % {"n": done})
    if missing := len(chosen) - done - refused:
        text = ngettext(
            "%(n)s file changed while you read it; read it again.",
            "%(n)s files changed while you read them; read them again.",
            missing,
        )
        messages.warning(request, text % {"n": missing})
