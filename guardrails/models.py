"""Rules, approvals and autonomy: what is stored about what an agent may do."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from guardrails import constraints
from guardrails.classes import ActionClass
from guardrails.constraints import Constraint, UnreadableConstraint
from guardrails.decisions import AutonomyLevel, Decision, Level, Provenance, Scope
from guardrails.policy import RuleFacts
from spaces.models import Conversation, Space
from workspaces.models import Principal
from workspaces.sentences import SentenceField
from workspaces.tenancy import TenantKey, TenantManager, TenantModel


class RuleQuerySet(models.QuerySet["Rule"]):
    def in_force(self) -> Self:
        """Neither revoked nor expired."""
        not_expired = Q(expires_at__isnull=True) | Q(expires_at__gt=Now())
        return self.filter(not_expired, revoked_at__isnull=True)

    def standing(self) -> Self:
        """What a yes for some hours wrote."""
        return self.in_force().filter(provenance=Provenance.REMEMBERED)


RuleManager = TenantManager.from_queryset(RuleQuerySet)


class Rule(TenantModel):
    """One decision about one action class or one command prefix, in one scope. Never edited away:
    a change revokes the old rule and writes a new one, so that the audit can name what held.
    """

    scope = models.CharField(max_length=10, choices=Scope.choices, default=Scope.WORKSPACE)
    agent = TenantKey(Agent, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    space = TenantKey(Space, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    action_class = models.CharField(max_length=32, choices=ActionClass.choices, blank=True)
    command_prefix = models.CharField(max_length=300, blank=True)
    decision = models.CharField(max_length=8, choices=Decision.choices)
    constraint = models.JSONField(default=dict, blank=True)
    level = models.CharField(max_length=10, choices=Level.choices, default=Level.HARD)
    needs_two_people = models.BooleanField(default=False)
    provenance = models.CharField(
        max_length=12, choices=Provenance.choices, default=Provenance.USER
    )
    note = models.CharField(max_length=300, blank=True)
    approval_id = models.UUIDField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    revoked_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[RuleManager[Self]] = RuleManager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(
                fields=["workspace"], name="rule_in_force", condition=Q(revoked_at__isnull=True)
            )
        ]
        constraints = [
            models.CheckConstraint(
                name="rule_scope_has_its_id",
                condition=Q(scope="workspace", agent__isnull=True, space__isnull=True)
                | Q(scope="agent", agent__isnull=False, space__isnull=True)
                | Q(scope="space", agent__isnull=True, space__isnull=False),
            ),
            models.CheckConstraint(
                name="rule_class_or_prefix",
                condition=(~Q(action_class="") & Q(command_prefix=""))
                | (Q(action_class="") & ~Q(command_prefix="")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.decision} {self.action_class or self.command_prefix} in {self.scope}"

    @property
    def is_in_force(self) -> bool:
        return self.revoked_at is None and not self.is_expired

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    def limits(self) -> Constraint:
        """The constraint as a value. Raises UnreadableConstraint."""
        return constraints.parse(self.constraint)

    def facts(self) -> RuleFacts:
        """The rule as the policy takes it; what cannot be read tightens."""
        try:
            limits, is_readable = self.limits(), True
        except UnreadableConstraint:
            limits, is_readable = Constraint(), False
        return RuleFacts(
            id=str(self.id),
            scope=Scope(self.scope),
            scope_id=str(self.agent_id or self.space_id or ""),
            action_class=ActionClass(self.action_class) if self.action_class else None,
            command_prefix=self.command_prefix,
            decision=Decision.parse(self.decision),
            constraint=limits,
            level=Level(self.level),
            provenance=Provenance(self.provenance),
            expires_at=self.expires_at,
            needs_two_people=self.needs_two_people,
            is_readable=is_readable,
        )


class ApprovalQuerySet(models.QuerySet["Approval"]):
    def pending(self) -> Self:
        return self.filter(state=Approval.State.PENDING)

    def usable(self) -> Self:
        """Answered with a yes that is neither used nor withdrawn."""
        return self.filter(
            state=Approval.State.APPROVED, used_at__isnull=True, withdrawn_at__isnull=True
        )


ApprovalManager = TenantManager.from_queryset(ApprovalQuerySet)


class Approval(TenantModel):
    """A question to people, bound to a digest of what it shows, and its one answer."""

    class State(models.TextChoices):
        PENDING = "pending", _("Waiting for an answer")
        APPROVED = "approved", _("Approved")
        DENIED = "denied", _("Denied")
        EXPIRED = "expired", _("Expired")
        CANCELLED = "cancelled", _("Cancelled")

    run_id = models.UUIDField(null=True, blank=True)
    call_id = models.CharField(max_length=200, blank=True)
    space = TenantKey(Space, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    conversation = TenantKey(
        Conversation, null=True, blank=True, on_delete=models.CASCADE, related_name="approvals"
    )
    asked_by = TenantKey(
        Principal, null=True, on_delete=models.SET_NULL, related_name="approvals_asked"
    )
    on_behalf_of = TenantKey(
        Principal, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    kind = models.CharField(max_length=16)
    title = SentenceField()
    asking = models.JSONField(default=list)
    shown = models.JSONField(default=dict)
    actions = models.JSONField(default=list)
    why = models.JSONField(default=dict)
    recommendation = models.TextField(blank=True)
    needs_two_people = models.BooleanField(default=False)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, blank=True)

    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    decided_by = TenantKey(
        Principal, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    hours = models.PositiveSmallIntegerField(null=True, blank=True)
    note = SentenceField(blank=True)
    used_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[ApprovalManager[Self]] = ApprovalManager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(
                fields=["workspace", "-created_at"],
                name="approval_pending",
                condition=Q(state="pending"),
            ),
            models.Index(fields=["workspace", "-decided_at"], name="approval_history"),
            models.Index(fields=["run_id"], name="approval_of_run"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["run_id", "digest"],
                condition=Q(state="pending"),
                nulls_distinct=False,
                name="approval_asked_once",
            ),
        ]

    def __str__(self) -> str:
        return str(self.title)

    @property
    def is_open(self) -> bool:
        return self.state == self.State.PENDING


class Autonomy(TenantModel):
    """How freely one agent acts in one space; no row means with approval."""

    agent = TenantKey(Agent, on_delete=models.CASCADE, related_name="autonomies")
    space = TenantKey(Space, on_delete=models.CASCADE, related_name="autonomies")
    level = models.CharField(
        max_length=20, choices=AutonomyLevel.choices, default=AutonomyLevel.ACT_WITH_APPROVAL
    )
    set_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    set_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent", "space"], name="autonomy_once")]

    def __str__(self) -> str:
        return f"{self.agent} in {self.space}: {self.level}"


class ApprovalSettings(TenantModel):
    """What a workspace chose about approvals; no row means the defaults."""

    unattended_hours = models.PositiveSmallIntegerField(default=24)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace"], name="approvalsettings_once"),
            models.CheckConstraint(
                condition=Q(unattended_hours__range=(1, 720)), name="approvalsettings_hours"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.unattended_hours} h"
