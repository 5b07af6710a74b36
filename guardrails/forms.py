"""Forms of the guardrails room: a rule, a what-if question, the waiting time."""

from datetime import UTC
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from guardrails.classes import ActionClass
from guardrails.constraints import Constraint
from guardrails.decisions import Decision, Level, Scope
from guardrails.models import ApprovalSettings, Rule
from guardrails.rule_changes import NewRule
from spaces.models import Space
from spaces.visibility import visible_spaces
from workspaces.models import Membership

LINES = {"rows": 2, "spellcheck": "false", "class": "mono"}


class Lines(forms.CharField):
    """Several values, one a line."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs=LINES), **kwargs)

    def to_python(self, value: object) -> Any:
        text = super().to_python(value)
        return tuple(line.strip() for line in (text or "").splitlines() if line.strip())

    def prepare_value(self, value: object) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value


class RuleForm(forms.Form):
    """What a person writes as a rule."""

    decision = forms.ChoiceField(
        label=_("Decision"), choices=Decision.choices, initial=Decision.ASK
    )
    scope = forms.ChoiceField(
        label=_("Holds for"),
        choices=[(scope.value, scope.label) for scope in reversed(Scope)],
        initial=Scope.WORKSPACE,
    )
    agent: Any = forms.ModelChoiceField(
        queryset=None, label=_("Agent"), required=False, empty_label=_("No single agent")
    )
    space: Any = forms.ModelChoiceField(
        queryset=None, label=_("Space"), required=False, empty_label=_("No single space")
    )
    action_class = forms.ChoiceField(
        label=_("Action class"),
        choices=[("", _("None, but a command")), *ActionClass.choices],
        required=False,
    )
    command_prefix = forms.CharField(
        label=_("or a command that begins with"),
        max_length=300,
        required=False,
        help_text=_("Whole words as typed, for example: git push origin"),
    )
    refs = Lines(label=_("Only these branches and tags"), help_text=_("feature/** or !main"))
    paths = Lines(label=_("Only these paths"), help_text=_("src/** or docs/*.md"))
    hosts = Lines(label=_("Only these hosts"), help_text=_("*.example.com"))
    commands = Lines(label=_("Only these commands"), help_text=_("how they begin, one a line"))
    repositories = Lines(label=_("Only these repositories"))
    max_count = forms.IntegerField(label=_("Up to this many at once"), min_value=0, required=False)
    rewrites = forms.BooleanField(
        label=_("Also force and delete (an ask or deny: only those)"), required=False
    )
    level = forms.ChoiceField(
        label=_("How firmly"),
        choices=[
            (Level.HARD, _("Hard: a deny holds in every narrower scope")),
            (Level.SOFT, _("Soft: a rule of a narrower scope may say otherwise")),
            (Level.ADVISORY, _("Advisory: never decides, is only recorded")),
        ],
        initial=Level.HARD,
    )
    needs_two_people = forms.BooleanField(
        label=_("Two people: who asked for the work cannot say yes"), required=False
    )
    expires_at = forms.DateTimeField(
        label=_("Ends (UTC)"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
    )
    note = forms.CharField(label=_("Why"), max_length=300, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agent"].queryset = Agent.objects.exclude(name="")  # type: ignore[attr-defined]
        self.fields["space"].queryset = Space.objects.all()  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        facts: dict[str, Any] = super().clean() or {}
        scope = facts.get("scope")
        for kind in (Scope.AGENT, Scope.SPACE):
            if scope != kind:
                facts[kind.value] = None
            elif not facts.get(kind.value):
                self.add_error(kind.value, _("Choose one."))
        if bool(facts.get("action_class")) == bool((facts.get("command_prefix") or "").strip()):
            self.add_error("action_class", _("Choose a class or write a command, not both."))
        if (ends := facts.get("expires_at")) is not None:
            facts["expires_at"] = ends.replace(tzinfo=UTC)
        return facts

    def rule(self) -> NewRule:
        """The rule that was written. The form is valid."""
        facts = self.cleaned_data
        name = facts["action_class"]
        return NewRule(
            decision=Decision(facts["decision"]),
            action_class=ActionClass(name) if name else None,
            command_prefix=facts["command_prefix"],
            agent=facts["agent"],
            space=facts["space"],
            constraint=self._constraint(),
            level=Level(facts["level"]),
            needs_two_people=facts["needs_two_people"],
            note=facts["note"],
            expires_at=facts["expires_at"],
        )

    def _constraint(self) -> Constraint:
        facts = self.cleaned_data
        return Constraint(
            refs=facts["refs"],
            paths=facts["paths"],
            hosts=facts["hosts"],
            commands=facts["commands"],
            repositories=facts["repositories"],
            max_count=facts["max_count"],
            rewrites=facts["rewrites"],
        )


def initial_of(rule: Rule) -> dict[str, Any]:
    """A stored rule as the form's starting values."""
    limits = rule.facts().constraint
    facets = ("refs", "paths", "hosts", "commands", "repositories", "max_count", "rewrites")
    return {name: getattr(limits, name) for name in facets} | {
        "decision": rule.decision,
        "scope": rule.scope,
        "agent": rule.agent_id,
        "space": rule.space_id,
        "action_class": rule.action_class,
        "command_prefix": rule.command_prefix,
        "level": rule.level,
        "needs_two_people": rule.needs_two_people,
        "expires_at": rule.expires_at.astimezone(UTC) if rule.expires_at else None,
        "note": rule.note,
    }


class WhatIfForm(forms.Form):
    """An action that nobody has done yet."""

    agent: Any = forms.ModelChoiceField(
        queryset=None, label=_("Agent"), empty_label=_("Choose an agent")
    )
    space: Any = forms.ModelChoiceField(
        queryset=None, label=_("Space"), empty_label=_("Choose a space")
    )
    command = forms.CharField(
        label=_("A shell command"),
        max_length=4000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "class": "mono"}),
    )
    action_class = forms.ChoiceField(
        label=_("or an action class"),
        choices=[("", _("None, but a command")), *ActionClass.choices],
        required=False,
    )
    refs = Lines(label=_("Branches and tags"))
    paths = Lines(label=_("Paths"))
    hosts = Lines(label=_("Hosts"))
    repositories = Lines(label=_("Repositories"))
    rewrites = forms.BooleanField(label=_("It forces or deletes"), required=False)

    def __init__(self, *args: Any, member: Membership, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agent"].queryset = Agent.objects.exclude(name="")  # type: ignore[attr-defined]
        self.fields["space"].queryset = visible_spaces(member)  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        facts: dict[str, Any] = super().clean() or {}
        if bool((facts.get("command") or "").strip()) == bool(facts.get("action_class")):
            self.add_error("command", _("Write a command or choose a class, not both."))
        return facts


class WaitingForm(forms.ModelForm):  # type: ignore[type-arg]
    """How long a question waits that nobody attends."""

    unattended_hours = forms.IntegerField(
        label=_("Hours until a question without a person counts as denied"),
        min_value=1,
        max_value=720,
    )

    class Meta:
        model = ApprovalSettings
        fields = ("unattended_hours",)
