"""Who is here: users, workspaces, and the principals in them."""

import re
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.core.validators import RegexValidator
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from outside.sentences import remade

from .ids import uuid7
from .sentences import SentenceField
from .tenancy import OwnManager, TenantKey, TenantModel, TenantOneToOne

HANDLE = re.compile(r"\A[a-z0-9][a-z0-9-]{0,62}\Z")
handle_validator = RegexValidator(
    HANDLE, _("Use lower-case letters, digits and hyphens, beginning with a letter or a digit.")
)
INVITATION_DAYS = 7


class UserManager(BaseUserManager["User"]):
    """Signing in is by e-mail."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, email: str | None) -> "User":
        return self.get(email__iexact=email)


class User(AbstractBaseUser):
    """A person with an account on this instance."""

    class Theme(models.TextChoices):
        SYSTEM = "system", _("Like the system")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(_("e-mail"), unique=True)
    name = models.CharField(_("name"), max_length=120, blank=True)
    is_active = models.BooleanField(default=True)
    is_instance_admin = models.BooleanField(default=False)
    locale = models.CharField(max_length=10, blank=True)
    theme = models.CharField(max_length=8, choices=Theme.choices, default=Theme.SYSTEM)
    joined_at = models.DateTimeField(default=timezone.now)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_any_case")]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def is_staff(self) -> bool:
        """What Django's own tools ask before they show operator pages."""
        return self.is_instance_admin

    def get_short_name(self) -> str:
        return (self.name or self.email.split("@")[0]).split(" ")[0]


class Workspace(models.Model):
    """A tenant. Every row below knows its workspace."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(_("name"), max_length=120)
    slug = models.CharField(max_length=63, unique=True, validators=[handle_validator])
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    seeded_at = models.DateTimeField(null=True, blank=True)
    hosts_allowed = models.JSONField(default=list, blank=True)

    def __str__(self) -> str:
        return self.name


class Principal(TenantModel):
    """A member or an agent: what authors, assigns, reviews, decides and reports."""

    class Kind(models.TextChoices):
        MEMBER = "member", _("Member")
        AGENT = "agent", _("Agent")

    kind = models.CharField(max_length=8, choices=Kind.choices)
    handle = models.CharField(max_length=63, validators=[handle_validator])
    name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["handle"]
        constraints = [
            models.UniqueConstraint("workspace", Lower("handle"), name="principal_handle_any_case"),
        ]

    def __str__(self) -> str:
        return f"@{self.handle}"

    @property
    def is_agent(self) -> bool:
        return self.kind == self.Kind.AGENT


class Role(models.TextChoices):
    OWNER = "owner", _("Owner")
    ADMIN = "admin", _("Admin")
    MEMBER = "member", _("Member")
    VIEWER = "viewer", _("Viewer")
    GUEST = "guest", _("Guest")


RANK = {Role.GUEST: 0, Role.VIEWER: 1, Role.MEMBER: 2, Role.ADMIN: 3, Role.OWNER: 4}


class Membership(TenantModel):
    """A user in a workspace."""

    principal = TenantOneToOne(Principal, on_delete=models.CASCADE, related_name="membership")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.MEMBER)
    title = models.CharField(max_length=120, blank=True)
    reports_to = TenantKey(
        Principal, null=True, blank=True, on_delete=models.SET_NULL, related_name="member_reports"
    )
    is_active = models.BooleanField(default=True)
    joined_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[OwnManager[Self]] = OwnManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="membership_once"),
            models.UniqueConstraint(
                fields=["workspace"],
                condition=models.Q(role="owner", is_active=True),
                name="membership_one_owner",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    def may(self, role: str) -> bool:
        """Whether the membership carries at least this role."""
        return self.is_active and RANK[Role(self.role)] >= RANK[Role(role)]


def invitation_end() -> datetime:
    return timezone.now() + timedelta(days=INVITATION_DAYS)


class Invitation(TenantModel):
    """A single-use way in; only the hash of its secret is stored."""

    email = models.EmailField(blank=True)
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.MEMBER)
    secret_hash = models.CharField(max_length=64)
    invited_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(default=invitation_end)
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    @property
    def is_open(self) -> bool:
        return not (self.accepted_at or self.revoked_at) and self.expires_at > timezone.now()


class ApiToken(TenantModel):
    """A key for programs, shown once; only its hash is stored."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=16)
    secret_hash = models.CharField(max_length=64)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[OwnManager[Self]] = OwnManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "secret_hash"], name="apitoken_hash"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def has_ended(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()


class Credential(TenantModel):
    """A secret that the server holds for the workspace: encrypted, never shown again."""

    class Kind(models.TextChoices):
        MODEL_KEY = "model_key", _("Model key")
        GIT_TOKEN = "git_token", _("Git token")

    kind = models.CharField(max_length=16, choices=Kind.choices)
    label = models.CharField(max_length=120)
    username = models.CharField(max_length=120, blank=True)
    sealed = models.BinaryField()
    hint = models.CharField(max_length=12, blank=True)
    created_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.label} …{self.hint}"


class ModelConnection(TenantModel):
    """A way to a model: a provider, an address, a key.

    `is_house_address`: an instance admin gave the address, so it may be inside the house.
    """

    class Provider(models.TextChoices):
        ANTHROPIC = "anthropic", "Anthropic"
        OPENAI = "openai", _("OpenAI-compatible address")
        DEMO = "demo", _("Demo model (no AI)")

    provider = models.CharField(max_length=16, choices=Provider.choices)
    name = models.CharField(max_length=60)
    base_url = models.URLField(max_length=500, blank=True)
    is_house_address = models.BooleanField(default=False)
    credential = TenantKey(Credential, null=True, blank=True, on_delete=models.PROTECT)
    default_model = models.CharField(max_length=200, blank=True)
    is_default = models.BooleanField(default=False)
    checked_at = models.DateTimeField(null=True, blank=True)
    check_ok = models.BooleanField(null=True, blank=True)
    check_sentence = SentenceField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-is_default", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace"],
                condition=models.Q(is_default=True),
                name="modelconnection_one_default",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AuditEntry(TenantModel):
    """One act, allowed or denied. Written in the act's own transaction, never changed."""

    at = models.DateTimeField(default=timezone.now)
    action = models.CharField(max_length=80)
    outcome = models.CharField(max_length=8, default="allow")
    actor = TenantKey(Principal, null=True, on_delete=models.DO_NOTHING, related_name="+")
    actor_name = models.CharField(max_length=160, blank=True)
    on_behalf_of = TenantKey(Principal, null=True, on_delete=models.DO_NOTHING, related_name="+")
    subject = models.CharField(max_length=300, blank=True)
    rule = models.CharField(max_length=300, blank=True)
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["workspace", "-at"])]

    @property
    def said(self) -> str:
        """The subject; a Sentence, to be translated, when it was recorded as one."""
        made = self.detail.get("words")
        return remade(made) if made else self.subject


class AuditSeal(TenantModel):
    """The chain over the entries: each seal covers the one before."""

    seq = models.PositiveBigIntegerField()
    audit_id = models.UUIDField()
    hmac = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "seq"], name="auditseal_seq"),
            models.UniqueConstraint(fields=["workspace", "audit_id"], name="auditseal_once"),
        ]
