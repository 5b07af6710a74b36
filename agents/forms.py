"""The form of an agent: who is it, what does it run on, what does it know."""

import hashlib
import json
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from harness import catalogue
from runs.adapters import registry
from workspaces.models import ModelConnection, Principal

from .models import BUILT_IN, Agent

TEXT_FIELDS = ("persona", "system_prompt")


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]
    """Every field of an agent, with the version that it was opened at.

    `base` has a digest of each value at that moment, so that a save that comes late can tell what
    the other one changed from what this one did.
    """

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
    base = forms.CharField(widget=forms.HiddenInput, required=False)

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
            "context_size": _("Context window, tokens"),
            "silence_timeout_minutes": _("Silence limit, minutes"),
            "lifecycle": _("Lifecycle"),
        }
        help_texts = {
            "persona": _("Who it is and how it works. A section of its prompt."),
            "system_prompt": _("A section of its own; the rest of the prompt stays."),
            "context_size": _("Empty: the model's own."),
            "silence_timeout_minutes": _("1 to 240. Empty: what the mode says, 10 or 15."),
            "lifecycle": _("A paused or archived agent is given no work."),
        }
        widgets = {
            "persona": forms.Textarea(attrs={"rows": 10}),
            "system_prompt": forms.Textarea(attrs={"rows": 4}),
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
        adapter = self._now("adapter_id", agent.adapter_id)
        model = self._now("model_id", agent.model_id)
        self.fields["adapter_id"] = _choice(_("Adapter"), _adapters())
        self.fields["model_id"] = _choice(_("Model"), models_of(adapter, stored=agent))
        self.fields["effort"] = _choice(_("Effort"), efforts_of(adapter, model))
        self.fields["base"].initial = json.dumps(self.digests())

    def _now(self, name: str, stored: str | None) -> str | None:
        return (self.data.get(self.add_prefix(name)) if self.is_bound else stored) or None

    def clean_skills(self) -> list[str]:
        names = [name.strip() for name in self.cleaned_data["skills"].split(",") if name.strip()]
        if too_long := next((name for name in names if len(name) > 64), None):
            sentence = gettext("A skill's name has at most 64 characters: %(name)s…")
            raise forms.ValidationError(sentence % {"name": too_long[:30]})
        return names

    def clean_adapter_id(self) -> str | None:
        return self.cleaned_data["adapter_id"] or None

    def clean_model_id(self) -> str | None:
        return self.cleaned_data["model_id"] or None

    def clean_effort(self) -> str | None:
        return self.cleaned_data["effort"] or None

    def _post_clean(self) -> None:
        """The act checks and stores; a model form would write on the instance here."""

    def text_of(self, name: str) -> str:
        """A field's value as the form carries it, with LF line ends."""
        value = self[name].value()
        return "" if value is None else str(value).replace("\r\n", "\n").strip()

    def digests(self) -> dict[str, str]:
        """A short digest of each value."""
        names = [name for name in self.fields if name not in {"version", "base"}]
        return {
            name: hashlib.sha256(self.text_of(name).encode()).hexdigest()[:12] for name in names
        }


def _choice(label: Any, choices: list[tuple[str, Any]]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, required=False, choices=choices)


def _adapters() -> list[tuple[str, Any]]:
    built_in = ("", _("Control Center (built-in)"))
    others = ((key, each.title) for key, each in registry().items() if key != BUILT_IN)
    return [built_in, *others]


def models_of(adapter: str | None, *, stored: Agent | None = None) -> list[tuple[str, Any]]:
    """The models within an adapter. For the built-in loop those of the workspace's connections,
    and the stored one, wherever it came from, as long as the adapter stays."""
    found: dict[str, Any] = {"": _("The workspace's default")}
    if (adapter or BUILT_IN) == BUILT_IN:
        for connection in ModelConnection.objects.all():
            shipped = catalogue.shipped().of_provider(connection.provider)
            for name in (connection.default_model, *(model.name for model in shipped)):
                if name:
                    found.setdefault(f"{connection.name}/{name}", f"{connection.name}/{name}")
    else:
        known = getattr(registry().get(adapter or ""), "models", ())
        found = {"": _("The adapter's default"), **{str(name): str(name) for name in known}}
    if stored is not None and stored.model_id and (stored.adapter_id or None) == (adapter or None):
        found.setdefault(stored.model_id, stored.model_id)
    return list(found.items())


def efforts_of(adapter: str | None, model: str | None) -> list[tuple[str, Any]]:
    """The vocabulary of the chosen model itself, and nothing else."""
    words: tuple[str, ...] = ()
    if model:
        name, _slash, rest = model.partition("|")[0].strip().partition("/")
        connection = ModelConnection.objects.filter(name=name).first()
        if (adapter or BUILT_IN) != BUILT_IN:
            words = catalogue.shipped().find("anthropic", model).efforts
        elif connection is not None:
            words = catalogue.shipped().find(connection.provider, rest).efforts
    return [("", _("The model's own")), *((word, word) for word in words)]
