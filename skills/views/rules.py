"""What the workspace decides beforehand about skills, and which rules judge."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from guardrails.forbidden import capabilities
from workspaces.access import MemberRequest, require, workspace_view
from workspaces.models import Role, Workspace

from .. import rules, wording
from ..forms import RulesForm
from ..models import Skill
from ..scanning import CAPABILITIES, Severity, version
from ..scanning.ruleset import CATALOGUE
from ..templatetags.verdicts import FAMILIES, SEVERITIES
from .frame import frame


@require_http_methods(["GET", "POST"])
@workspace_view()
def rules_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The rules of the workspace. A POST saves all of them at once."""
    if request.method != "POST":
        return _page(request, RulesForm(initial=_stored()))
    require(request.membership, Role.ADMIN)
    form = RulesForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    data = form.cleaned_data
    try:
        rules.change(
            by=request.principal,
            accepts_first_prose=data["accepts_first_prose"],
            accepts_warnings=data["accepts_warnings"],
            tolerated=request.POST.getlist("tolerated"),
            denied=data["denied"],
        )
    except ValueError as error:
        form.add_error(None, str(error))
        return _page(request, form, status=422)
    messages.success(request, _("The rules are saved; what is installed is judged by them."))
    return redirect("skills:rules-show", workspace.slug)


def _stored() -> dict[str, Any]:
    now = rules.stored()
    return {
        "accepts_first_prose": now.accepts_first_prose,
        "accepts_warnings": now.accepts_warnings,
        "denied": list(now.denied),
    }


def _page(request: MemberRequest, form: RulesForm, *, status: int = 200) -> HttpResponse:
    tolerated = set(
        request.POST.getlist("tolerated") if form.is_bound else rules.stored().tolerated
    )
    judged = Skill.objects.exclude(origin=Skill.Origin.SEEDED)
    context = frame(request, "rules") | {
        "form": form,
        "families": _families(tolerated),
        "tolerated_count": len(tolerated),
        "forbidden": [name for name in CAPABILITIES if name in capabilities()],
        "judged": judged.count(),
        "old": judged.exclude(ruleset=version()).count(),
    }
    return render(request, "skills/rules.html", context, status=status)


def _families(tolerated: set[str]) -> list[dict[str, Any]]:
    """Every rule by family, with what it does and whether the workspace tolerates its warning."""
    found: dict[str, list[dict[str, Any]]] = {}
    for rule in CATALOGUE.values():
        word, tone, icon = SEVERITIES[rule.severity]
        found.setdefault(rule.family, []).append(
            {
                "id": rule.id,
                "title": wording.title(rule.id),
                "word": word,
                "tone": tone,
                "icon": icon,
                "is_warning": rule.severity is Severity.WARN,
                "is_final": not rule.acceptable,
                "is_tolerated": rule.id in tolerated,
            }
        )
    return [{"word": FAMILIES.get(family, family), "rules": rows} for family, rows in found.items()]
