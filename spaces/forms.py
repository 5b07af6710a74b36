"""Forms about spaces."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from repositories.models import Repository
from workspaces.models import Principal

from .models import Space


class SpaceForm(forms.Form):
    """A space: its name, what it is about, who sees it, what it works on."""

    name = forms.CharField(label=_("Name"), max_length=120)
    topic = forms.CharField(label=_("Topic"), max_length=300, required=False)
    visibility = forms.ChoiceField(
        label=_("Who sees it"),
        choices=Space.Visibility.choices,
        initial=Space.Visibility.WORKSPACE,
        widget=forms.RadioSelect,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["repositories"] = forms.ModelMultipleChoiceField(
            label=_("Repositories"),
            queryset=Repository.objects.order_by("name"),
            required=False,
            widget=forms.CheckboxSelectMultiple,
        )
        self.fields["participants"] = forms.ModelMultipleChoiceField(
            label=_("Participants"),
            queryset=Principal.objects.filter(removed_at=None),
            required=False,
            widget=forms.CheckboxSelectMultiple,
        )

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"]).strip()
        if not name:
            raise forms.ValidationError(_("Give the space a name."))
        return name
