"""The run and its journal. The journal is the run: whoever reads it can go on."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from agents.models import Agent
from harness.events import Event, Kind
from spaces.models import Conversation, Message, Space
from workspaces.models import Principal
from workspaces.sentences import SentenceField
from workspaces.tenancy import TenantKey, TenantModel, TenantOneToOne


class Run(TenantModel):
    """One dispatch of one agent in one conversation."""

    class State(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        PARKED = "parked", _("Waiting")
        SUCCEEDED = "succeeded", _("Succeeded")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    class WaitingFor(models.TextChoices):
        APPROVAL = "approval", _("an approval")
        CHILD = "child", _("a child run")
        PERSON = "person", _("a person")
        PAUSE = "pause", _("a resume")

    class Wake(models.TextChoices):
        USER_MESSAGE = "user_message", _("a message")
        ASSIGNMENT = "assignment", _("an assignment")
        WORKFLOW_STEP = "workflow_step", _("a workflow step")
        CHILD_COMPLETED = "child_completed", _("a child run")
        DECISION = "decision", _("a decision")
        FOLLOW_UP = "follow_up", _("a follow-up")
        RECOVERY = "recovery", _("recovery")
        SCHEDULE = "schedule", _("a schedule")
        API = "api", _("the API")

    OPEN = (State.QUEUED, State.RUNNING, State.PARKED)
    IN_PROGRESS = (State.RUNNING, State.PARKED)
    ENDED = (State.SUCCEEDED, State.FAILED, State.CANCELLED)

    agent = TenantKey(Agent, on_delete=models.CASCADE, related_name="runs", db_index=False)
    space = TenantKey(Space, on_delete=models.CASCADE, related_name="runs")
    conversation = TenantKey(Conversation, on_delete=models.CASCADE, related_name="runs")
    message = TenantKey(
        Message, null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )
    parent = TenantKey(
        "runs.Run", null=True, blank=True, on_delete=models.CASCADE, related_name="children"
    )
    requested_by = TenantKey(
        Principal, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    wake_reason = models.CharField(max_length=16, choices=Wake.choices, default=Wake.USER_MESSAGE)
    adapter = models.CharField(max_length=60)
    model = models.CharField(max_length=300, blank=True)
    effort = models.CharField(max_length=20, blank=True)
    mode = models.CharField(max_length=12, choices=Space.Mode.choices, default=Space.Mode.CHAT)

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    waiting_for = models.CharField(max_length=10, choices=WaitingFor.choices, blank=True)
    waiting_on = models.UUIDField(null=True, blank=True)
    terminal_reason = models.CharField(max_length=24, blank=True)
    summary = SentenceField(blank=True)
    liveness = models.CharField(max_length=12, blank=True)
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    stop_requested_by = TenantKey(
        Principal, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    stop_reason = models.CharField(max_length=20, blank=True)
    pause_requested_at = models.DateTimeField(null=True, blank=True)

    attempt = models.PositiveIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    lease_owner = models.CharField(max_length=160, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    rung_at = models.DateTimeField(null=True, blank=True)

    queued_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    sandboxed = models.BooleanField(null=True, blank=True)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cache_read_tokens = models.PositiveBigIntegerField(default=0)
    cache_write_tokens = models.PositiveBigIntegerField(default=0)
    cost_microusd = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["-queued_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "-queued_at"], name="run_newest"),
            models.Index(fields=["agent", "-queued_at", "-id"], name="run_of_agent"),
            models.Index(
                fields=["agent"],
                name="run_in_progress",
                condition=models.Q(state__in=["running", "parked"]),
            ),
            models.Index(fields=["conversation", "queued_at"], name="run_of_conversation"),
            models.Index(
                fields=["state", "lease_until"],
                name="run_open",
                condition=models.Q(state__in=["queued", "running", "parked"]),
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["message", "agent"],
                condition=models.Q(parent__isnull=True),
                name="run_once_per_mention",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.id}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN

    @property
    def shown_name(self) -> str:
        """Who works: the agent, or the subagent that it started."""
        return self.subagent.name if self.parent_id else self.agent.name

    @property
    def short_id(self) -> str:
        """The end of the key, which tells runs of one day apart."""
        return self.pk.hex[-6:]

    @property
    def seconds(self) -> float | None:
        """From its first start to its end."""
        if self.started_at is None or self.ended_at is None:
            return None
        return (self.ended_at - self.started_at).total_seconds()

    @property
    def all_tokens(self) -> int:
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )

    @property
    def cost_cents(self) -> float:
        return self.cost_microusd / 10_000

    @property
    def shown_state(self) -> str:
        """The state with what it waits for: the same word wherever a run is shown. Who waits for
        an approval or a person has the tone of what is blocked."""
        return shown_state(self.state, self.waiting_for)


class Subagent(TenantModel):
    """What a child run was started as; it keeps this to its end, whatever becomes of the file.

    `dialect`, `path`, `text`, `standing` and `session_agents` hold the definition as a
    `BoundDefinition` does. `surface` says of each tool whether the child has it and why;
    `worktrees` are the copies that `isolation` gave it. The child of a call is there once.
    """

    run = TenantOneToOne(Run, on_delete=models.CASCADE, related_name="subagent")
    parent = TenantKey(Run, on_delete=models.CASCADE, related_name="+")
    call_id = models.CharField(max_length=200)
    depth = models.PositiveSmallIntegerField(default=1)
    name = models.CharField(max_length=200)
    description = models.CharField(max_length=300, blank=True)
    prompt = models.TextField()
    background = models.BooleanField(default=False)
    posture = models.CharField(max_length=16, blank=True)
    isolation = models.CharField(max_length=10, blank=True)

    dialect = models.CharField(max_length=12)
    path = models.CharField(max_length=400, blank=True)
    text = models.TextField(blank=True)
    standing = models.CharField(max_length=12, blank=True)
    session_agents = models.TextField(blank=True)

    surface = models.JSONField(default=list)
    worktrees = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["parent", "call_id"], name="subagent_once_a_call")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def tools(self) -> frozenset[str]:
        """The tools that it has."""
        return frozenset(each["tool"] for each in self.surface if each["allowed"])


class RunCursor(TenantModel):
    """What each event changes: a narrow row of its own, so that counting stays cheap.

    `fence` repeats the run's, because the event's own transaction compares it here.
    `began_at` is when the present claim began to work; `last_output_at` is empty until something
    came out of it.
    """

    run = TenantOneToOne(Run, on_delete=models.CASCADE, related_name="cursor")
    last_seq = models.PositiveBigIntegerField(default=0)
    fence = models.PositiveBigIntegerField(default=0)
    began_at = models.DateTimeField(null=True, blank=True)
    last_output_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.run_id} @ {self.last_seq}"


PARKED_AS = {"approval": "waiting", "person": "asking", "pause": "paused", "child": "delegating"}


def shown_state(state: str, waiting_for: str) -> str:
    """The name under which a run's state is shown; see controlcenter.templatetags.states."""
    return PARKED_AS.get(waiting_for, state) if state == Run.State.PARKED else state


class RunEvent(TenantModel):
    """An entry of the journal. `seq` counts 1..n without gaps in the run; nothing changes it."""

    run = TenantKey(Run, on_delete=models.CASCADE, related_name="events", db_index=False)
    seq = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=20)
    attempt = models.PositiveIntegerField(default=1)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["seq"]
        # What a decision looks for among thousands of events.
        indexes = [
            models.Index(
                fields=["run"], name="runevent_approval", condition=models.Q(kind="approval")
            )
        ]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="runevent_seq")]

    def __str__(self) -> str:
        return f"{self.kind} {self.seq}"

    @property
    def event(self) -> Event:
        """The entry as everybody but the database takes it."""
        return Event(Kind(self.kind), self.data, self.seq)
