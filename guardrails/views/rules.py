"""Settings → Permissions: which rules hold, writing one, ending one."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.models import Agent
from guardrails import cards, classes, managed, policy, rule_changes
from guardrails.actions import Action
from guardrails.classes import ActionClass
from guardrails.decisions import Decision, Level, Provenance, Scope
from guardrails.explain import rule_words
from guardrails.forms import RuleForm, WaitingForm, initial_of
from guardrails.models import Approval, ApprovalSettings, Rule
from guardrails.policy import Circumstances
from guardrails.rule_changes import MayNotWriteRules, NewRule, Written
from runs import hearing
from workspaces import audit, saying
from workspaces.access import MemberRequest, get_or_404, workspace_view
from workspaces.models import Role, Workspace

MOST_OLD = 30


@require_GET
@workspace_view(Role.MEMBER)
def rule_list(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The thirteen classes as they stand, the rules of each scope, and what has ended."""
    rows = list(
        Rule.objects.in_force()
        .select_related("agent", "space", "created_by")
        .order_by("created_at")
    )
    old = Rule.objects.exclude(pk__in=[row.pk for row in rows]).select_related(
        "agent", "space", "created_by", "revoked_by"
    )
    names = _agent_names()
    context = {
        "classes": _class_rows(rows),
        "scopes": [
            {
                "scope": scope,
                "label": scope.label,
                "rules": [
                    _rule_row(row, names)
                    for row in rows
                    if row.scope == scope and row.provenance == Provenance.USER
                ],
            }
            for scope in reversed(Scope)
        ],
        "standing": [
            _rule_row(row, names) for row in rows if row.provenance == Provenance.REMEMBERED
        ],
        "managed": [
            {"words": rule_words(rule), "limits": cards.constraint_words(rule.constraint)}
            for rule in managed.load()
        ],
        "old": [_rule_row(row, names) for row in old[:MOST_OLD]],
        "waiting": WaitingForm(instance=ApprovalSettings.objects.first()),
        **_frame(request),
    }
    return render(request, "guardrails/rules.html", context)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.ADMIN)
def rule_create(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """A rule of one's own, with what it would change before it holds."""
    known = {name: request.GET[name] for name in RuleForm.base_fields if name in request.GET}
    return _write(request, RuleForm(request.POST or None, initial=known), instead_of=None)


@require_http_methods(["GET", "POST"])
@workspace_view(Role.ADMIN)
def rule_edit(request: MemberRequest, workspace: Workspace, rule: UUID) -> HttpResponse:
    """A changed rule is a new one; the old one stays readable among what has ended."""
    row = get_or_404(Rule, rule, revoked_at__isnull=True)
    return _write(request, RuleForm(request.POST or None, initial=initial_of(row)), instead_of=row)


@require_POST
@workspace_view(Role.MEMBER)
def rule_revoke(request: MemberRequest, workspace: Workspace, rule: UUID) -> HttpResponse:
    """The rule holds no more; twice is harmless. An admin, or who gave the standing yes."""
    row = get_or_404(Rule, rule)
    try:
        changed = rule_changes.revoke(row, by=request.membership)
    except MayNotWriteRules as refusal:
        return saying.refusal(str(refusal), status=403)
    said = _("The rule has ended.") if changed else _("The rule had ended before.")
    if request.headers.get("HX-Request"):
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    messages.success(request, said)
    return redirect("guardrails:rule-list", workspace.slug)


@require_POST
@workspace_view(Role.ADMIN)
def waiting_set(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """How long a question waits when nobody asked for the run."""
    form = WaitingForm(request.POST, instance=ApprovalSettings.objects.first())
    if not form.is_valid():
        messages.error(request, _("Between 1 and 720 hours."))
    else:
        hours = form.save().unattended_hours
        audit.record("approvals.waiting", actor=request.principal, detail={"hours": hours})
        messages.success(request, _("Saved."))
    return redirect("guardrails:rule-list", workspace.slug)


# ---------------------------------------------------------------- writing


def _write(request: MemberRequest, form: RuleForm, *, instead_of: Rule | None) -> HttpResponse:
    is_preview = "preview" in request.POST
    changes: list[str] = []
    if request.method == "POST" and form.is_valid():
        if not is_preview:
            try:
                written = rule_changes.write(
                    form.rule(), by=request.membership, instead_of=instead_of
                )
            except ValidationError as error:
                form.add_error(None, error)
            else:
                return _written(request, written)
        if not form.errors:
            changes = what_changes(form.rule())
    if is_preview:
        return render(request, "guardrails/_changes.html", {"changes": changes})
    context = {"form": form, "rule": instead_of, "changes": changes, **_frame(request)}
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "guardrails/rule.html", context, status=status)


def _written(request: MemberRequest, written: Written) -> HttpResponse:
    for approval in written.denied:
        hearing.hear(approval)
    said = [_("The rule holds from now on.")]
    if count := len(written.revoked):
        said.append(ngettext("%d standing yes ended.", "%d standing yeses ended.", count) % count)
    if count := len(written.denied):
        said.append(
            ngettext("%d open question was denied.", "%d open questions were denied.", count)
            % count
        )
    messages.success(request, " ".join(said))
    return redirect("guardrails:rule-list", request.workspace.slug)


def what_changes(new: NewRule) -> list[str]:
    """Sentences about what a rule would do, before it is written."""
    where = {
        Scope.WORKSPACE: _("It holds for every agent in every space."),
        Scope.AGENT: _("It holds for %(name)s in every space.") % {"name": new.agent},
        Scope.SPACE: _("It holds for every agent in %(name)s.") % {"name": new.space},
    }
    lines = [where[new.scope]]
    if new.action_class is not None:
        lines.append(
            _("The default here is: %(decision)s.")
            % {"decision": classes.default_for(new.action_class).label}
        )
    same = Rule.objects.in_force().filter(
        action_class=new.action_class or "", command_prefix=new.command_prefix.strip()
    )
    is_final = new.decision is Decision.DENY and new.level is Level.HARD
    narrower = [row for row in same if _order(row.scope) < _order(new.scope)]
    if is_final:
        lines.append(_("It is hard: no rule of a narrower scope can say otherwise."))
    elif narrower:
        lines.append(
            ngettext(
                "%d rule of a narrower scope is heard first.",
                "%d rules of a narrower scope are heard first.",
                len(narrower),
            )
            % len(narrower)
        )
    if new.decision is Decision.DENY:
        lines += _what_a_deny_ends(new)
    return lines


def _what_a_deny_ends(new: NewRule) -> list[str]:
    standing = Rule.objects.standing().filter(action_class=new.action_class or "")
    waiting = [row for row in Approval.objects.pending() if new.action_class in row.asking]
    lines = []
    if count := standing.count():
        lines.append(
            ngettext("Up to %d standing yes ends.", "Up to %d standing yeses end.", count) % count
        )
    if count := len(waiting):
        lines.append(
            ngettext(
                "Up to %d open question is denied.", "Up to %d open questions are denied.", count
            )
            % count  # fmt: skip
        )
    return lines


# ---------------------------------------------------------------- what the templates read


def _class_rows(rows: list[Rule]) -> list[dict[str, Any]]:
    """Each class as it stands for a plain action anywhere in the workspace."""
    facts = [row.facts() for row in rows if row.scope == Scope.WORKSPACE] + list(managed.load())
    around = Circumstances(now=timezone.now())
    return [
        {
            "name": action_class.value,
            "label": action_class.label,
            "default": classes.default_for(action_class),
            "now": policy.resolve(
                facts, Action(classes=frozenset({action_class.value})), around
            ).decision,
        }
        for action_class in ActionClass
    ]


def _rule_row(row: Rule, names: dict[str, str]) -> dict[str, Any]:
    facts = row.facts()
    return {
        "row": row,
        "what": ActionClass(row.action_class).label if row.action_class else "",
        "where": row.space or row.agent or "",
        "limits": cards.constraint_words(facts.constraint, agents=names)
        if facts.is_readable
        else _("its limits cannot be read, so it only tightens"),
        "lost": [_ending(row)],
    }


def _ending(row: Rule) -> str:
    if row.provenance == Provenance.REMEMBERED:
        return _("The agent asks again from its next call on.")
    return _("From the next call on, the other rules or the default decide.")


def _agent_names() -> dict[str, str]:
    return {str(key): name for key, name in Agent.objects.values_list("pk", "name")}


def _frame(request: MemberRequest) -> dict[str, Any]:
    return {
        "tab": "rules",
        "may_manage": request.membership.may(Role.ADMIN),
    }


def _order(scope: str) -> int:
    return list(Scope).index(Scope(scope))
