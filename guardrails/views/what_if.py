"""What would happen if: the same resolution that a call gets, in words, and nothing done."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from guardrails import commands, explain, rules
from guardrails.actions import Action
from guardrails.forms import WhatIfForm
from guardrails.policy import Resolution
from workspaces.access import MemberRequest, workspace_view
from workspaces.models import Role, Workspace
from workspaces.sentences import translated


@require_GET
@workspace_view(Role.MEMBER)
def what_if_show(request: MemberRequest, workspace: Workspace) -> HttpResponse:
    """The answer for a class or a command of an agent in a space, with the way to it."""
    asked = "agent" in request.GET
    form = WhatIfForm(request.GET if asked else None, member=request.membership)
    context: dict[str, Any] = {"form": form, "tab": "rules"}
    if asked and form.is_valid():
        facts = form.cleaned_data
        found = actions_of(facts)
        resolution = rules.judge(
            found,
            agent_id=facts["agent"].pk,
            space_id=facts["space"].pk,
            mode=facts["space"].mode,
        )
        context |= {
            "resolution": resolution,
            "sentence": translated(explain.sentence(resolution)),
            "trail": trail_of(resolution),
            "parts": [_part(action) for action in found] if facts["command"] else [],
            "mode": facts["space"].get_mode_display(),
        }
    status = 422 if asked and form.errors else 200
    return render(request, "guardrails/what_if.html", context, status=status)


def actions_of(facts: dict[str, Any]) -> tuple[Action, ...]:
    """The actions of a filled-in form; an empty field is a facet that was not stated."""
    agent_id, space_id = str(facts["agent"].pk), str(facts["space"].pk)
    if facts["command"].strip():
        return commands.actions(facts["command"], agent_id=agent_id, space_id=space_id)
    return (
        Action(
            classes=frozenset({facts["action_class"]}),
            refs=facts["refs"] or None,
            paths=facts["paths"] or None,
            hosts=facts["hosts"] or None,
            repositories=facts["repositories"] or None,
            rewrites=facts["rewrites"],
            agent_id=agent_id,
            space_id=space_id,
        ),
    )


def trail_of(resolution: Resolution) -> list[dict[str, Any]]:
    """The steps in words, grouped by class."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for step in resolution.trail:
        line = {
            "words": translated(explain.step_sentence(step)),
            "decision": step.decision,
            "decides": step.decides,
        }
        steps = groups.setdefault(step.action_class, [])
        if line not in steps:
            steps.append(line)
    return [
        {"label": explain.class_label(name) if name else "", "steps": steps}
        for name, steps in groups.items()
    ]


def _part(action: Action) -> dict[str, Any]:
    return {
        "command": " ".join("…" if word is None else word for word in action.command),
        "classes": [explain.class_label(name) for name in sorted(action.classes)],
        "opaque": action.opaque,
    }
