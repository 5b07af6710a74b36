"""The form of an agent: who is it, what does it run on, what does it know."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from harness import catalogue
from runs.adapters import registry
from workspaces.models import ModelConnection, Principal

from .models import Agent


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]
    """Every field of an agent, with the version that it was opened at."""

    name = forms.CharField(
        label=_("Name"),
        max_length=63,
        help_text=_("What mentions match: lower-case letters, digits and hyphens."),
    )
    skills = forms.CharField(
        label=_("Skills"),
        required=False,
        help_text=_("Names, separated by commas. Their case does not matter."),
    )
    version = forms.IntegerField(widget=forms.HiddenInput)

    class Meta:
        model = Agent
        fields = [
            "name",
            "title",
            "lifecycle",
            "persona",
            "system_prompt",
            "adapter_id",
            "model_id",
            "effort",
            "context_size",
            "silence_timeout_minutes",
        ]
        labels = {
            "title": _("Job title"),
            "persona": _("Persona"),
            "system_prompt": _("Agent instructions"),
            "adapter_id": _("Adapter"),
            "model_id": _("Model"),
            "effort": _("Effort"),
            "context_size": _("Context window, tokens"),
            "silence_timeout_minutes": _("Silence limit, minutes"),
            "lifecycle": _("Lifecycle"),
        }
        widgets = {
            "persona": forms.Textarea(attrs={"rows": 10}),
            "system_prompt": forms.Textarea(attrs={"rows": 5}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        agent: Agent = self.instance
        self.fields["version"].initial = agent.version
        self.fields["skills"].initial = ", ".join(row.display for row in agent.skill_names.all())
        self.fields["reports_to"] = forms.ModelChoiceField(
            label=_("Reports to"),
            required=False,
            queryset=Principal.objects.filter(removed_at=None).exclude(agent__pk=agent.pk),
            empty_label=_("Nobody"),
            initial=agent.reports_to_id,
        )
        self.fields["adapter_id"] = forms.ChoiceField(
            label=_("Adapter"), required=False, choices=_adapters
        )
        self.fields["model_id"] = forms.ChoiceField(
            label=_("Model"), required=False, choices=lambda: _models(agent.model_id)
        )
        self.fields["effort"] = forms.ChoiceField(
            label=_("Effort"),
            required=False,
            choices=lambda: _efforts(self.data.get("model_id") or agent.model_id, agent.effort),
        )

    def clean_name(self) -> str:
        return str(self.cleaned_data["name"]).strip()

    def clean_skills(self) -> list[str]:
        return [name.strip() for name in self.cleaned_data["skills"].split(",") if name.strip()]

    def clean_adapter_id(self) -> str | None:
        return self.cleaned_data["adapter_id"] or None

    def clean_model_id(self) -> str | None:
        return self.cleaned_data["model_id"] or None

    def clean_effort(self) -> str | None:
        return self.cleaned_data["effort"] or None


def _adapters() -> list[tuple[str, Any]]:
    built_in = ("", _("Control Center (built-in)"))
    return [
        built_in,
        *((key, each.title) for key, each in registry().items() if key != "cc-harness"),
    ]


def _models(chosen: str | None) -> list[tuple[str, Any]]:
    """The models of the workspace's connections, and the one chosen, wherever it came from."""
    found: dict[str, Any] = {"": _("The workspace's default")}
    for connection in ModelConnection.objects.all():
        shipped = catalogue.shipped().of_provider(connection.provider)
        names = [connection.default_model, *(model.name for model in shipped)]
        for name in names:
            if name:
                key = f"{connection.name}/{name}"
                found.setdefault(key, key)
    if chosen:
        found.setdefault(chosen, chosen)
    return list(found.items())


def _efforts(model: str | None, chosen: str | None) -> list[tuple[str, Any]]:
    """The vocabulary of the chosen model itself, and nothing else."""
    name = (model or "").partition("/")[2]
    known = [each for each in catalogue.shipped().models.values() if each.name == name]
    words = known[0].efforts if known else ((chosen,) if chosen and not model else ())
    return [("", _("The model's own")), *((word, word) for word in words)]
