"""Skills: where they come from, what is offered there, what was asked for, what a workspace holds.

What a skill that nobody has accepted says is never stored in the clear. `Card` and `Preview` are
sealed with the instance's key and opened only to be shown to a person.
"""

from datetime import timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from workspaces.models import Credential, Principal, handle_validator
from workspaces.sentences import SentenceField
from workspaces.tenancy import TenantKey, TenantManager, TenantModel


class SkillSource(TenantModel):
    """A repository that an admin registered: the only place that skills from outside come from."""

    class Kind(models.TextChoices):
        GITHUB = "github", "GitHub"
        GIT = "git", _("Git host")
        LOCAL = "local", _("Path on the server")

    class State(models.TextChoices):
        CHECKING = "checking", _("Being checked")
        QUEUED = "queued", _("Waiting to be read")
        SYNCING = "syncing", _("Being read")
        READY = "ready", _("Ready")
        FAILED = "failed", _("Failed")
        REMOVING = "removing", _("Being removed")

    name = models.CharField(_("name"), max_length=120)
    address = models.CharField(_("address"), max_length=500)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    ref = models.CharField(_("branch or tag"), max_length=200, blank=True)
    credential = TenantKey(
        Credential, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.CHECKING)
    stage = SentenceField(blank=True)
    percent = models.PositiveSmallIntegerField(null=True, blank=True)
    error = SentenceField(blank=True)
    error_code = models.CharField(max_length=40, blank=True)
    commit = models.CharField(max_length=40, blank=True)
    synced_at = models.DateTimeField(null=True, blank=True)
    beat_at = models.DateTimeField(db_default=Now())
    fence = models.PositiveIntegerField(default=0)
    added_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "address", "ref"], name="skillsource_address"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_added(self) -> bool:
        """Whether it was found and read once; until then it offers nothing."""
        return self.synced_at is not None

    @property
    def is_busy(self) -> bool:
        return self.state in {self.State.CHECKING, self.State.QUEUED, self.State.SYNCING}


class SkillListing(TenantModel):
    """A folder of a source that holds a skill, or looks like it and is passed over.

    Known by source and path; the name is only what people call it. `sealed` holds what the
    repository says about it (see `catalogue.Card`), which nobody has vouched for.
    """

    source = TenantKey(SkillSource, on_delete=models.CASCADE, related_name="listings")
    path = models.CharField(max_length=1000, blank=True)
    name = models.CharField(max_length=255)
    place = models.CharField(max_length=20, blank=True)
    tree_sha = models.CharField(max_length=40, blank=True)
    files = models.PositiveIntegerField(default=0)
    skipped = SentenceField(blank=True)
    sealed = models.BinaryField(blank=True, default=b"")

    class Meta:
        ordering = ["name", "path"]
        constraints = [
            models.UniqueConstraint(fields=["source", "path"], name="skilllisting_path"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_offered(self) -> bool:
        return not self.skipped


class SkillQuerySet(models.QuerySet["Skill"]):
    def usable(self) -> Self:
        """Those whose text may reach a directory or a prompt, as far as verdicts go."""
        clean = Q(verdict__in=["pass", "warn"])
        answered_for = Q(verdict="quarantine") & ~Q(accepted_by_name="")
        return self.filter(clean | answered_for, decision=Skill.Decision.ACCEPTED)


SkillManager = TenantManager.from_queryset(SkillQuerySet)


class Skill(TenantModel):
    """A skill directory `skills/<slug>/` of the workspace, pinned to the bytes it came with.

    `verdict` is what the gate said of these bytes under `ruleset`, `decision` what follows from it
    for this workspace: only `accepted` is linked and read.
    """

    class Origin(models.TextChoices):
        SEEDED = "seeded", _("Came with the workspace")
        LOCAL = "local", _("Written here")
        SOURCE = "source", _("Installed from a source")

    class Decision(models.TextChoices):
        ACCEPTED = "accepted", _("Accepted")
        HELD = "held", _("Held")
        REFUSED = "refused", _("Refused")

    slug = models.CharField(max_length=64, validators=[handle_validator])
    description = models.CharField(max_length=1024, blank=True)
    origin = models.CharField(max_length=8, choices=Origin.choices)
    source = TenantKey(
        SkillSource, null=True, blank=True, on_delete=models.SET_NULL, related_name="skills"
    )
    source_name = models.CharField(max_length=120, blank=True)
    source_address = models.CharField(max_length=500, blank=True)
    source_type = models.CharField(max_length=12, blank=True)
    ref = models.CharField(max_length=200, blank=True)
    path = models.CharField(max_length=1000, blank=True)
    skill_file = models.CharField(max_length=20, default="SKILL.md")
    commit = models.CharField(max_length=40, blank=True)
    tree_sha = models.CharField(max_length=40, blank=True)
    digest = models.CharField(max_length=80)
    computed_hash = models.CharField(max_length=64, blank=True)
    previous_digest = models.CharField(max_length=80, blank=True)
    verdict = models.CharField(max_length=12)
    decision = models.CharField(max_length=8, choices=Decision.choices, default=Decision.ACCEPTED)
    ruleset = models.CharField(max_length=80, blank=True)
    scanned_at = models.DateTimeField(default=timezone.now)
    findings = models.JSONField(default=list, blank=True)
    capabilities = models.JSONField(default=list, blank=True)
    accepted_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    accepted_by_name = models.CharField(max_length=120, blank=True)
    accepted_rules = models.JSONField(default=list, blank=True)
    available_commit = models.CharField(max_length=40, blank=True)
    available_at = models.DateTimeField(null=True, blank=True)
    gone_from_source = models.BooleanField(default=False)
    installed_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[SkillManager[Self]] = SkillManager()

    class Meta:
        ordering = ["slug"]
        constraints = [models.UniqueConstraint(fields=["workspace", "slug"], name="skill_slug")]

    def __str__(self) -> str:
        return self.slug

    @property
    def is_usable(self) -> bool:
        """Whether its text may reach a directory or a prompt, as far as verdicts go."""
        if self.decision != self.Decision.ACCEPTED:
            return False
        return self.verdict in {"pass", "warn"} or (
            self.verdict == "quarantine" and bool(self.accepted_by_name)
        )

    @property
    def has_update(self) -> bool:
        return bool(self.available_commit)

    @property
    def findings_are_acceptable(self) -> bool:
        """Whether an admin may accept the risk; structural faults can never be accepted."""
        return all(finding["acceptable"] for finding in self.findings)


class SkillRequestQuerySet(models.QuerySet["SkillRequest"]):
    def waiting(self) -> Self:
        """Those that an admin has to decide."""
        return self.filter(state=SkillRequest.State.HELD)

    def unfinished(self) -> Self:
        return self.filter(state__in=SkillRequest.WORKING)


SkillRequestManager = TenantManager.from_queryset(SkillRequestQuerySet)


class SkillRequest(TenantModel):
    """A skill that somebody wants to bring in: what the gate says of it, and what became of it.

    The bytes are fetched again when they are written, and must have the digest that was looked at;
    only for text that was written here are they kept, sealed, until it is decided.
    """

    class Kind(models.TextChoices):
        INSTALL = "install", _("Install")
        UPDATE = "update", _("Update")
        RESTORE = "restore", _("Restore")
        LOCAL = "local", _("Written here")

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        FETCHING = "fetching", _("Being fetched")
        SCANNING = "scanning", _("Being scanned")
        PREVIEWED = "previewed", _("Ready to look at")
        HELD = "held", _("Waiting for an admin")
        INSTALLING = "installing", _("Being installed")
        INSTALLED = "installed", _("Installed")
        REFUSED = "refused", _("Refused")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    WORKING = (State.QUEUED, State.FETCHING, State.SCANNING, State.INSTALLING)
    OPEN = (*WORKING, State.PREVIEWED, State.HELD)

    kind = models.CharField(max_length=8, choices=Kind.choices)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    source = TenantKey(SkillSource, null=True, on_delete=models.SET_NULL, related_name="requests")
    source_name = models.CharField(max_length=120, blank=True)
    path = models.CharField(max_length=1000, blank=True)
    slug = models.CharField(max_length=64, validators=[handle_validator])
    skill = TenantKey(Skill, null=True, on_delete=models.SET_NULL, related_name="requests")
    ref = models.CharField(max_length=200, blank=True)
    commit = models.CharField(max_length=40, blank=True)
    tree_sha = models.CharField(max_length=40, blank=True)
    digest = models.CharField(max_length=80, blank=True)
    installed_digest = models.CharField(max_length=80, blank=True)
    verdict = models.CharField(max_length=12, blank=True)
    decision = models.CharField(max_length=8, choices=Skill.Decision.choices, blank=True)
    reasons = models.JSONField(default=list, blank=True)
    capabilities = models.JSONField(default=list, blank=True)
    ruleset = models.CharField(max_length=80, blank=True)
    is_acceptable = models.BooleanField(default=False)
    sealed = models.BinaryField(blank=True, default=b"")
    sealed_files = models.BinaryField(blank=True, default=b"")
    error = SentenceField(blank=True)
    error_code = models.CharField(max_length=40, blank=True)
    stage = SentenceField(blank=True)
    percent = models.PositiveSmallIntegerField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    beat_at = models.DateTimeField(db_default=Now())
    fence = models.PositiveIntegerField(default=0)
    install_at_once = models.BooleanField(default=False)
    requested_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    risk_accepted = models.BooleanField(default=False)
    note = models.CharField(max_length=1000, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[SkillRequestManager[Self]] = SkillRequestManager()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "-created_at"], name="skillrequest_newest"),
            models.Index(
                fields=["state", "beat_at"],
                name="skillrequest_working",
                condition=Q(state__in=["queued", "fetching", "scanning", "installing"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.slug}"

    @property
    def is_working(self) -> bool:
        return self.state in self.WORKING

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN

    @property
    def is_stale(self) -> bool:
        """Whether what was looked at is too old to be installed without another look."""
        return self.created_at < timezone.now() - timedelta(days=30)


class SkillRules(TenantModel):
    """What the admins of a workspace decided beforehand about skills. No row: nothing."""

    accepts_first_prose = models.BooleanField(default=False)
    accepts_warnings = models.BooleanField(default=False)
    tolerated = models.JSONField(default=list, blank=True)
    denied = models.JSONField(default=list, blank=True)
    changed_by = TenantKey(Principal, null=True, on_delete=models.SET_NULL, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace"], name="skillrules_once")]
