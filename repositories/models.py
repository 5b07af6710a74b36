"""Repositories of a workspace, their checkouts in conversations, and pushes that want to leave."""

from typing import ClassVar, Self, TypedDict

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from guardrails.models import Approval
from outside import git
from spaces.models import Conversation, Space
from workspaces.models import Credential, Principal
from workspaces.sentences import SentenceField
from workspaces.tenancy import TenantKey, TenantManager, TenantModel


class Repository(TenantModel):
    """A repository elsewhere that agents of the workspace may work in, and its mirror here."""

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting to be fetched")
        FETCHING = "fetching", _("Fetching")
        READY = "ready", _("Ready")
        FAILED = "failed", _("Failed")
        REMOVING = "removing", _("Being removed")

    name = models.CharField(_("name"), max_length=63)
    address = models.CharField(_("address"), max_length=500)
    default_branch = models.CharField(max_length=200, default="main")
    credential = TenantKey(
        Credential, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    stage = models.CharField(max_length=60, blank=True)
    percent = models.PositiveSmallIntegerField(null=True, blank=True)
    error = SentenceField(blank=True)
    error_code = models.CharField(max_length=40, blank=True)
    is_empty = models.BooleanField(default=False)
    size_bytes = models.PositiveBigIntegerField(default=0)
    fetch_beat_at = models.DateTimeField(null=True, blank=True)
    fetch_fence = models.PositiveIntegerField(default=0)
    last_fetched_at = models.DateTimeField(null=True, blank=True)
    added_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    skills_commit = models.CharField(max_length=40, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="repository_name"),
            models.UniqueConstraint(fields=["workspace", "address"], name="repository_address"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_ready(self) -> bool:
        """Whether agents can work in it; a failed later fetch leaves the mirror as it was."""
        return self.last_fetched_at is not None

    @property
    def is_busy(self) -> bool:
        return self.state in {self.State.QUEUED, self.State.FETCHING}


class SpaceRepository(TenantModel):
    """A repository that the conversations of a space check out."""

    space = TenantKey(Space, on_delete=models.CASCADE, related_name="repository_links")
    repository = TenantKey(Repository, on_delete=models.CASCADE, related_name="space_links")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["space", "repository"], name="spacerepository_once")
        ]


class Checkout(TenantModel):
    """What a conversation started from in one repository. Where it is now, its files say."""

    conversation = TenantKey(Conversation, on_delete=models.CASCADE, related_name="checkouts")
    repository = TenantKey(Repository, on_delete=models.CASCADE, related_name="checkouts")
    branch = models.CharField(max_length=200)
    base = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    mended_at = models.DateTimeField(null=True, blank=True)
    mended_why = models.CharField(max_length=300, blank=True)
    skills_commit = models.CharField(max_length=40, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "repository"], name="checkout_once")
        ]


class ActiveRepository(TenantModel):
    """The repository that an agent works in, in one conversation: its skills are the agent's.

    `chosen_by` is empty when it was inferred from what the agent wrote.
    """

    conversation = TenantKey(
        Conversation, on_delete=models.CASCADE, related_name="active_repositories"
    )
    agent = TenantKey(Agent, on_delete=models.CASCADE, related_name="+")
    repository = TenantKey(Repository, on_delete=models.CASCADE, related_name="+")
    chosen_by = TenantKey(
        Principal, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "agent"], name="activerepository_once")
        ]


class SkillScan(TenantModel):
    """Which skills one commit of a repository carries, as `skill_scans.Found` in JSON.

    `is_published`: the commit came from the remote, so that somebody with a right to it put it
    there; else an agent made it here.
    """

    repository = TenantKey(Repository, on_delete=models.CASCADE, related_name="skill_scans")
    commit = models.CharField(max_length=40)
    ruleset = models.CharField(max_length=80)
    is_published = models.BooleanField()
    skills = models.JSONField(default=list)
    passed_over = models.JSONField(default=list)
    scanned_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "commit", "ruleset"], name="skillscan_once"
            )
        ]


class SkillVerdict(TenantModel):
    """What the gate says of exactly these bytes in a folder of this name under one rule set.

    What a skill says is kept of accepted ones only: `description` is empty for the others, and so
    are the excerpts of findings.
    """

    digest = models.CharField(max_length=80)
    folder = models.CharField(max_length=255)
    ruleset = models.CharField(max_length=80)
    verdict = models.JSONField()
    description = models.CharField(max_length=1024, blank=True)
    scanned_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "digest", "folder", "ruleset"], name="skillverdict_once"
            )
        ]


class SkillAcceptance(TenantModel):
    """An admin's yes to exactly these bytes of a repository's skill, findings and all."""

    repository = TenantKey(Repository, on_delete=models.CASCADE, related_name="skill_acceptances")
    digest = models.CharField(max_length=80)
    accepted_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    accepted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["repository", "digest"], name="skillacceptance_once")
        ]


class RefMove(TypedDict):
    """One ref of a push, as stored: kind is that of `outside.git.packs.kind_of`."""

    ref: str
    old: str
    new: str
    kind: str


class PushRequestQuerySet(models.QuerySet["PushRequest"]):
    def open(self) -> Self:
        return self.filter(state__in=PushRequest.OPEN)

    def held(self) -> Self:
        return self.filter(state=PushRequest.State.HELD)


PushRequestManager = TenantManager.from_queryset(PushRequestQuerySet)


class PushRequest(TenantModel):
    """A push that an agent wants to make: what it would do, and what became of it.

    The refs and the quarantined objects never change; only `state` and what explains it do.
    """

    class State(models.TextChoices):
        HELD = "held", _("Waiting for a decision")
        APPROVED = "approved", _("Approved")
        FORWARDING = "forwarding", _("Being forwarded")
        FORWARDED = "forwarded", _("Forwarded")
        REFUSED = "refused", _("Refused")
        CANCELLED = "cancelled", _("Cancelled")
        STALE = "stale", _("Overtaken")
        FAILED = "failed", _("Failed")

    OPEN = (State.HELD, State.APPROVED, State.FORWARDING)

    number = models.PositiveIntegerField()
    repository = TenantKey(Repository, null=True, on_delete=models.SET_NULL, related_name="+")
    repository_name = models.CharField(max_length=63)
    run_id = models.UUIDField()
    conversation = TenantKey(Conversation, null=True, on_delete=models.SET_NULL, related_name="+")
    space = TenantKey(Space, null=True, on_delete=models.SET_NULL, related_name="+")
    agent = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    refs = models.JSONField(default=list)
    push_options = models.JSONField(default=list, blank=True)
    digest = models.CharField(max_length=64)
    quarantine = models.CharField(max_length=200, blank=True)
    pack_bytes = models.PositiveBigIntegerField(default=0)
    pack_digest = models.CharField(max_length=64, blank=True)
    summary = models.JSONField(default=dict)

    state = models.CharField(max_length=10, choices=State.choices, default=State.HELD)
    approval = TenantKey(
        Approval, null=True, blank=True, on_delete=models.SET_NULL, related_name="push_requests"
    )
    rule = models.CharField(max_length=300, blank=True)
    outcome = SentenceField(blank=True)
    attempts = models.PositiveIntegerField(default=0)
    forward_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[PushRequestManager[Self]] = PushRequestManager()

    class Meta:
        ordering = ["-created_at", "-number"]
        indexes = [
            models.Index(fields=["workspace", "-created_at"], name="pushrequest_newest"),
            models.Index(fields=["run_id"], name="pushrequest_of_run"),
            models.Index(
                fields=["state", "forward_until"],
                name="pushrequest_open",
                condition=Q(state__in=["held", "approved", "forwarding"]),
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "number"], name="pushrequest_number"),
            models.UniqueConstraint(
                fields=["repository", "digest"],
                condition=Q(state__in=["held", "approved", "forwarding"]),
                name="pushrequest_open_once",
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.number} {self.repository_name}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN

    @property
    def updates(self) -> list[git.RefUpdate]:
        """The refs as the git wrapper takes them."""
        return [git.RefUpdate(move["ref"], move["old"], move["new"]) for move in self.refs]
