"""Forms about repositories."""

from django import forms
from django.utils.translation import gettext_lazy as _

SECRET = {"autocomplete": "off", "spellcheck": "false", "class": "mono"}


class CredentialForm(forms.Form):
    """What a private repository asks for. Stored encrypted, never shown again."""

    secret = forms.CharField(
        label=_("Token or password"),
        max_length=2000,
        widget=forms.PasswordInput(attrs=SECRET),
        help_text=_(
            "It needs to read, and to write if pushes are to be forwarded. It stays in the server; "
            "no agent ever sees it."
        ),
    )
    username = forms.CharField(
        label=_("User name"),
        max_length=120,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("Leave it empty for a GitHub token."),
    )


class AddForm(CredentialForm):
    """A repository by its address."""

    address = forms.CharField(
        label=_("Address"),
        max_length=500,
        widget=forms.TextInput(
            attrs={
                "placeholder": "https://github.com/owner/name",
                "autocomplete": "off",
                "spellcheck": "false",
                "class": "mono",
            }
        ),
        help_text=_("A GitHub address or owner/name, or any git remote over https."),
    )
    field_order = ["address", "secret", "username"]

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["secret"].required = False
        self.fields["secret"].help_text = _(
            "For a private repository, or to forward pushes. It stays in the server; no agent ever "
            "sees it."
        )
