"""Forms about skills: a source, the rules of a workspace, a text that is written here."""

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from .scanning import CAPABILITIES
from .templatetags.verdicts import capability

PLAIN = {"autocomplete": "off", "spellcheck": "false", "class": "mono"}
LONGEST_TEXT = 1024 * 1024


class CredentialForm(forms.Form):
    """What a private source asks for. Stored encrypted, never shown again."""

    secret = forms.CharField(
        label=_("Token or password"),
        max_length=2000,
        widget=forms.PasswordInput(attrs=PLAIN),
        help_text=_("It only needs to read. It stays in the server; no agent ever sees it."),
    )
    username = forms.CharField(
        label=_("User name"),
        max_length=120,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("Leave it empty for a GitHub token."),
    )


class SourceForm(CredentialForm):
    """A source by its address."""

    address = forms.CharField(
        label=_("Repository"),
        max_length=500,
        widget=forms.TextInput(attrs=PLAIN | {"placeholder": "owner/name"}),
        help_text=_(
            "owner/name, a GitHub address, or another git address if the operator allows it."
        ),
    )
    ref = forms.CharField(
        label=_("Branch or tag"),
        max_length=200,
        required=False,
        widget=forms.TextInput(attrs=PLAIN),
        help_text=_("Empty: the repository's default branch."),
    )
    field_order = ["address", "ref", "secret", "username"]

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["secret"].required = False


class RulesForm(forms.Form):
    """What a workspace decides beforehand about skills."""

    accepts_first_prose = forms.BooleanField(
        label=_("Let text that instructs agents in without a person's yes"), required=False
    )
    accepts_warnings = forms.BooleanField(
        label=_("Let warnings in without a person's yes"), required=False
    )
    denied = forms.MultipleChoiceField(
        label=_("No skill may"),
        required=False,
        choices=[(name, capability(name)) for name in CAPABILITIES],
        widget=forms.CheckboxSelectMultiple,
    )


slug_validator = RegexValidator(
    r"\A[a-z0-9]+(?:-[a-z0-9]+)*\Z",
    _("Use lower-case letters, digits and single hyphens, as agentskills.io asks."),
)


class TextForm(forms.Form):
    """A skill that is written here: its name and its SKILL.md. Further files come as pairs."""

    slug = forms.CharField(
        label=_("Name"),
        max_length=64,
        validators=[slug_validator],
        widget=forms.TextInput(attrs=PLAIN),
        help_text=_("Lower-case letters, digits and hyphens. It stays as it is later."),
    )
    base = forms.CharField(widget=forms.HiddenInput, required=False)
