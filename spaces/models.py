"""Where people and agents talk: spaces, conversations, messages, mentions."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from workspaces.models import Principal
from workspaces.sentences import SentenceField
from workspaces.tenancy import TenantKey, TenantModel, TenantOneToOne


class Space(TenantModel):
    """A room with participants, repositories and a mode."""

    class Mode(models.TextChoices):
        CHAT = "chat", _("Chat")
        PLAN = "plan", _("Plan")
        ORCHESTRATE = "orchestrate", _("Orchestrate")
        REVIEW = "review", _("Review")

    class Visibility(models.TextChoices):
        WORKSPACE = "workspace", _("Everyone in the workspace")
        PRIVATE = "private", _("Only its participants")

    name = models.CharField(max_length=120)
    slug = models.CharField(max_length=63)
    topic = models.CharField(max_length=300, blank=True)
    mode = models.CharField(max_length=12, choices=Mode.choices, default=Mode.CHAT)
    visibility = models.CharField(
        max_length=12, choices=Visibility.choices, default=Visibility.WORKSPACE
    )
    created_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["workspace", "slug"], name="space_slug")]

    def __str__(self) -> str:
        return self.name


class Participant(TenantModel):
    """A principal who belongs to a space."""

    space = TenantKey(Space, on_delete=models.CASCADE, related_name="participants")
    principal = TenantKey(Principal, on_delete=models.CASCADE, related_name="participations")
    joined_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["space", "principal"], name="participant_once")
        ]


class Conversation(TenantModel):
    """A thread of work in a space, with checkouts of its own."""

    space = TenantKey(Space, on_delete=models.CASCADE, related_name="conversations")
    title = models.CharField(max_length=200, blank=True)
    agent = TenantKey(Agent, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    last_n = models.PositiveBigIntegerField(default=0)
    last_message_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-last_message_at"]
        indexes = [models.Index(fields=["workspace", "space", "-last_message_at"])]

    def __str__(self) -> str:
        return self.title or str(_("New conversation"))


class Message(TenantModel):
    """What a principal said. `n` counts 1..n in the conversation, without gaps."""

    class Kind(models.TextChoices):
        TEXT = "text", _("Text")
        NOTICE = "notice", _("Notice")

    conversation = TenantKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    n = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.TEXT)
    author = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="messages")
    body = SentenceField()
    client_key = models.UUIDField(null=True, blank=True)
    run_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["n"]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "n"], name="message_n"),
            models.UniqueConstraint(
                fields=["conversation", "client_key"], name="message_posted_once"
            ),
            models.UniqueConstraint(
                fields=["run_id"], name="message_closing_run", condition=models.Q(kind="text")
            ),
        ]

    @property
    def handles(self) -> list[str]:
        """Whom the message really mentions."""
        return [mention.principal.handle for mention in self.mentions.all()]


class Mention(TenantModel):
    """An @handle in a message, bound to the principal that it meant when it was written."""

    message = TenantKey(Message, on_delete=models.CASCADE, related_name="mentions")
    principal = TenantKey(Principal, on_delete=models.CASCADE, related_name="mentions")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta:
        ordering = ["start"]
        constraints = [models.UniqueConstraint(fields=["message", "start"], name="mention_place")]


class BoundDefinition(TenantModel):
    """What a conversation was begun with: the definition its lead acts by, word for word as it was
    then, and definitions of its own. Never changed: the database grants no UPDATE on it.

    `standing` is what its origin took from it: nothing, `packaged` or `untrusted`.
    `joins`: the lead stays who it is; the definition lends it tools, model and instructions.
    `subagent_prompt` ends the system prompt of each subagent, nested ones too.
    """

    conversation = TenantOneToOne(Conversation, on_delete=models.CASCADE, related_name="bound")
    name = models.CharField(max_length=200, blank=True)
    dialect = models.CharField(max_length=12, blank=True)
    path = models.CharField(max_length=400, blank=True)
    text = models.TextField(blank=True)
    standing = models.CharField(max_length=12, blank=True)
    joins = models.BooleanField(default=False)
    session_agents = models.TextField(blank=True)
    subagent_prompt = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
