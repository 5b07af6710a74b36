"""Forms about accounts and workspaces."""

from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agents.seeding import found_workspace

from .accounts import INVITATION_KEY
from .invitations import accept, find
from .models import Role, User


class SignupForm(forms.Form):
    """What allauth's own sign-up form does not ask: the name, and the first workspace."""

    name = forms.CharField(label=_("Your name"), max_length=120)
    workspace_name = forms.CharField(label=_("Workspace"), max_length=120, required=False)
    setup_token = forms.CharField(widget=forms.HiddenInput, required=False)

    field_order = ["name", "email", "password1", "workspace_name"]

    def signup(self, request: HttpRequest, user: User) -> None:
        """Called by allauth once the user is stored."""
        first = instance_is_empty_but_for(user)
        user.name = self.cleaned_data["name"].strip()
        user.is_instance_admin = first
        user.save(update_fields=["name", "is_instance_admin"])
        token = request.session.pop(INVITATION_KEY, "")
        if token and find(token):
            accept(token, user)
        elif self.cleaned_data["workspace_name"].strip():
            found_workspace(user, self.cleaned_data["workspace_name"])


def instance_is_empty_but_for(user: User) -> bool:
    return not User.objects.exclude(pk=user.pk).exists()


class WorkspaceForm(forms.Form):
    """A further workspace."""

    name = forms.CharField(label=_("Workspace"), max_length=120)

    def clean_name(self) -> str:
        name = self.cleaned_data["name"].strip()
        if not name:
            raise forms.ValidationError(_("Give the workspace a name."))
        return name


class InvitationForm(forms.Form):
    """Whom to invite and as what."""

    email = forms.EmailField(label=_("E-mail"))
    role = forms.ChoiceField(
        label=_("Role"), choices=[choice for choice in Role.choices if choice[0] != Role.OWNER]
    )


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a person says about themselves."""

    class Meta:
        model = User
        fields = ["name", "locale", "theme"]
        widgets: dict[str, Any] = {
            "locale": forms.Select(choices=[("", _("Like the browser")), *settings.LANGUAGES])
        }
