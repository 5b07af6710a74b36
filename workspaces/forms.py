"""Forms about accounts and workspaces."""

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agents.seeding import found_workspace

from .accounts import INVITATION_KEY
from .connections import require_reachable
from .invitations import accept, find
from .models import ModelConnection, Role, User, Workspace


class SignupForm(forms.Form):
    """What allauth's own sign-up form does not ask: the name, and the first workspace."""

    name = forms.CharField(label=_("Your name"), max_length=120)
    workspace_name = forms.CharField(label=_("Workspace"), max_length=120, required=False)
    setup_token = forms.CharField(widget=forms.HiddenInput, required=False)

    field_order = ["name", "email", "password1", "workspace_name"]

    def signup(self, request: HttpRequest, user: User) -> None:
        """Called by allauth once the user is stored."""
        user.name = self.cleaned_data["name"].strip()
        with transaction.atomic():
            user.is_instance_admin = is_first_account(user)
            user.save(update_fields=["name", "is_instance_admin"])
        token = request.session.pop(INVITATION_KEY, "")
        if token and find(token):
            accept(token, user)
        elif self.cleaned_data["workspace_name"].strip():
            found_workspace(user, self.cleaned_data["workspace_name"])


def is_first_account(user: User) -> bool:
    """Whether this account came before all others; of two at one moment it is so for one.

    Holds the others back until the transaction ends. Keys grow with time.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('first account'))")
    others = User.objects.exclude(pk=user.pk)
    return not others.filter(Q(pk__lt=user.pk) | Q(is_instance_admin=True)).exists()


class WorkspaceForm(forms.Form):
    """A further workspace."""

    name = forms.CharField(label=_("Workspace"), max_length=120)

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"]).strip()
        if not name:
            raise forms.ValidationError(_("Give the workspace a name."))
        return name


class InvitationForm(forms.Form):
    """Whom to invite and as what."""

    email = forms.EmailField(label=_("E-mail"), max_length=254)
    role = forms.ChoiceField(
        label=_("Role"),
        choices=[choice for choice in Role.choices if choice[0] != Role.OWNER],
        initial=Role.MEMBER,
    )


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a person says about themselves."""

    class Meta:
        model = User
        fields = ["name", "locale", "theme"]
        widgets: dict[str, Any] = {
            "locale": forms.Select(choices=[("", _("Like the browser")), *settings.LANGUAGES])
        }


class TokenForm(forms.Form):
    """What a program is to be let do, and for how long."""

    name = forms.CharField(
        label=_("What is it for?"),
        max_length=80,
        widget=forms.TextInput(attrs={"placeholder": _("such as: nightly report")}),
    )
    scope = forms.ChoiceField(
        label=_("It may"),
        choices=[("read", _("Read")), ("write", _("Read and write, as far as you may"))],
    )
    days = forms.TypedChoiceField(
        label=_("It ends"),
        coerce=lambda days: None if days == "never" else int(days),
        initial=90,
        choices=[
            (30, _("in 30 days")),
            (90, _("in 90 days")),
            (365, _("in a year")),
            ("never", _("only when it is revoked")),
        ],
    )


class ConnectionForm(forms.Form):
    """One of the three ways to a model."""

    provider = forms.ChoiceField(choices=ModelConnection.Provider.choices)
    key = forms.CharField(
        label=_("Key"),
        required=False,
        max_length=500,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    base_url = forms.CharField(label=_("Address"), required=False, max_length=500)
    model = forms.CharField(label=_("Model"), required=False, max_length=200)

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user

    def clean_base_url(self) -> str:
        """An http address; names of a house network, such as `ollama`, are fine."""
        text = str(self.cleaned_data["base_url"]).strip()
        try:
            address = urlsplit(text)
            is_address = address.scheme in {"http", "https"} and bool(address.hostname)
            _port = address.port
        except ValueError:
            is_address = False
        if text and (not is_address or re.search(r"[\s\x00-\x1f@]", text)):
            raise forms.ValidationError(_("Give a valid URL that begins with http:// or https://."))
        return text

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        provider = data.get("provider")
        if provider == ModelConnection.Provider.ANTHROPIC and not data.get("key", "").strip():
            self.add_error("key", _("Paste a key; it begins with sk-ant-."))
        if provider == ModelConnection.Provider.OPENAI:
            if not data.get("base_url"):
                self.add_error(
                    "base_url", _("Give the address, such as http://localhost:11434/v1.")
                )
            if not data.get("model", "").strip():
                self.add_error("model", _("Name the model as the server knows it."))
        if data.get("base_url"):
            try:
                require_reachable(data["base_url"], is_instance_admin=self._user.is_instance_admin)
            except forms.ValidationError as error:
                self.add_error("base_url", error)
        return data


class GeneralForm(forms.ModelForm):  # type: ignore[type-arg]
    """What a workspace is called."""

    class Meta:
        model = Workspace
        fields = ["name"]
