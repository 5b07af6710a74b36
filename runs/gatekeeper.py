"""The answer to the harness's question "may I?": rules first, then people."""

from dataclasses import replace

from django.db import connection

from guardrails import approvals, asking, commands, explain, rules
from guardrails.actions import Action
from guardrails.asking import Asked, Kind
from guardrails.decisions import Decision
from guardrails.models import Approval
from guardrails.policy import Resolution, Stage, Step
from harness.errors import Released
from harness.seam import Allow, Ask, Deny, GateCall, Verdict
from outside.sentences import phrase as _
from workspaces import audit
from workspaces.tenancy import bind

from .models import Run, RunCursor, RunEvent
from .nursery import Nursery
from .subagents import Child

AGENT_TOOLS = frozenset({"agent", "Agent", "Task", "task"})
NAMES = ("subagent_type", "agent", "name")  # of the argument that says who is started
NEVER_ASKS = _("This agent does not ask people, so what would need a yes is denied: %(rule)s")
FILE_CLASSES = frozenset({"file_delete", "file_write_outside_worktree"})
MOST_SHOWN = 4000


class Gatekeeper:
    """Decides the calls of one run, by the rules as they stand at each call.

    `pushes_are_held`: nothing but the push gateway can be reached from the run's shell. A push that
    is typed there is then asked about by the gateway, which knows its commits, and not here too.
    `child` is what the run was started as by another one, whose people then read who asks.
    """

    def __init__(
        self,
        run: Run,
        *,
        pushes_are_held: bool = False,
        nursery: Nursery | None = None,
        child: Child | None = None,
    ) -> None:
        self._run, self._pushes_are_held = run, pushes_are_held
        self._nursery, self._child = nursery, child

    def check(self, call: GateCall) -> Verdict:
        """Allow, deny with a reason, or ask with an open approval; each is in the audit.

        A call without an action class does nothing that a rule could be about. A database that
        cannot be reached raises, and so the call is not carried out; so does, with Released, a run
        that is somebody else's by now.
        """
        if not call.classes and not call.command and call.tool not in AGENT_TOOLS:
            return Allow()
        try:
            with bind(self._run.workspace_id):
                self._require_fence()
                if call.tool in AGENT_TOOLS:
                    return self._check_start(call)
                return self._check(call)
        finally:
            connection.close()

    def _check_start(self, call: GateCall) -> Verdict:
        """Whether a subagent may be started: allowed, but where the settings ask about it."""
        name = next((str(v) for key in NAMES if (v := call.input.get(key))), "")
        if self._nursery is None or not self._nursery.asks(name):
            return Allow()
        step = Step(stage=Stage.DELEGATION, decision=Decision.ASK, decides=True)
        return self._ask(call, (), Resolution(decision=Decision.ASK, step=step, trail=(step,)))

    def _require_fence(self) -> None:
        mine = RunCursor.objects.filter(run_id=self._run.pk, fence=self._run.fence)
        if not mine.exists():
            raise Released(f"The run {self._run.pk} is no longer this worker's.")

    def _check(self, call: GateCall) -> Verdict:
        run = self._run
        actions = actions_of(call, run)
        resolution = rules.judge(
            actions, agent_id=run.agent_id, space_id=run.space_id, mode=run.mode
        )
        if resolution.decision is Decision.ASK and call.command and self._pushes_are_held:
            resolution = self._but_for_pushes(actions, resolution)
        if resolution.decision is Decision.DENY:
            reason = explain.sentence(resolution)
            self._record(call, resolution, outcome="deny")
            return Deny(reason, rule=resolution.rule_key)
        if resolution.decision is Decision.ALLOW or call.asked_by_desk:
            self._record(call, resolution, outcome="allow")
            return Allow(rule=resolution.rule_key)
        return self._ask(call, actions, resolution)

    def _but_for_pushes(self, actions: tuple[Action, ...], asked: Resolution) -> Resolution:
        """The answer about all else that the line does; the question stands when that asks too."""
        rest = [replace(each, classes=each.classes - {"git_push"}) for each in actions]
        run = self._run
        answer = rules.judge(rest, agent_id=run.agent_id, space_id=run.space_id, mode=run.mode)
        return answer if answer.decision is Decision.ALLOW else asked

    def _ask(self, call: GateCall, actions: tuple[Action, ...], resolution: Resolution) -> Verdict:
        run = self._run
        if self._child is not None and self._child.never_asks:
            return Deny(NEVER_ASKS % {"rule": explain.sentence(resolution)})
        asked = self._question(call, actions)
        if call.approval_id is not None:
            return self._use(call.approval_id, asked, resolution)
        approval = request(run, asked, resolution)
        if approval.state != Approval.State.PENDING:
            return Deny(approval.note or _("Nobody could decide this."))
        return Ask(str(approval.pk), reason=explain.sentence(resolution))

    def _question(self, call: GateCall, actions: tuple[Action, ...]) -> Asked:
        """What is asked; of a subagent's call it says whose it is."""
        asked = question(call, actions)
        if self._child is None:
            return asked
        title = _("%(agent)s, a subagent: %(what)s") % {
            "agent": self._child.row.name,
            "what": asked.title,
        }
        return replace(asked, title=title)

    def _use(self, approval_id: str, asked: Asked, resolution: Resolution) -> Verdict:
        """Uses the yes. One that an earlier worker used and lost before it could begin still holds:
        the start of a call is committed before its effect, and there is none."""
        run = self._run
        key = asking.digest(
            asked, workspace_id=run.workspace_id, run_id=run.pk, asking=resolution.asking
        )
        used = Approval.objects.filter(
            pk=approval_id,
            run_id=run.pk,
            digest=key,
            state=Approval.State.APPROVED,
            used_at__isnull=False,
            withdrawn_at__isnull=True,
        )
        if not (used.exists() and not self._was_begun(asked.call_id)):
            try:
                approvals.consume(approval_id, digest=key)
            except approvals.NotUsable as error:
                return Deny(str(error))
        return Allow(rule=f"approval:{approval_id}")

    def _was_begun(self, call_id: str) -> bool:
        starts = RunEvent.objects.filter(run_id=self._run.pk, kind="tool_start")
        return bool(starts.filter(data__call_id=call_id).exists())

    def _record(self, call: GateCall, resolution: Resolution, *, outcome: str) -> None:
        audit.record(
            f"tool.{call.tool}",
            actor=self._run.agent.principal,
            on_behalf_of=self._run.requested_by,
            subject=call.summary,
            outcome=outcome,
            rule=resolution.rule_key,
            detail={"run": str(self._run.pk), "classes": sorted(call.classes)},
        )


def request(run: Run, asked: Asked, resolution: Resolution) -> Approval:
    """The open approval of this run for this question."""
    return approvals.request(
        asked,
        resolution=resolution,
        agent=run.agent.principal,
        conversation=run.conversation,
        run_id=run.pk,
        on_behalf_of=run.requested_by,
        attended=is_attended(run),
    )


def is_attended(run: Run) -> bool:
    """Whether a person asked for the run; one woken by a schedule or the API has nobody."""
    unattended = {Run.Wake.SCHEDULE, Run.Wake.API}
    return run.requested_by_id is not None or run.wake_reason not in unattended


def actions_of(call: GateCall, run: Run) -> tuple[Action, ...]:
    """What the call would do, as the policy takes it; a shell line is one action a command."""
    agent_id, space_id = str(run.agent_id), str(run.space_id)
    if call.command:
        return commands.actions(call.command, agent_id=agent_id, space_id=space_id)
    if not call.classes:
        return ()
    return (
        Action(
            classes=frozenset(each.value for each in call.classes),
            agent_id=agent_id,
            space_id=space_id,
            paths=call.paths,
            refs=call.refs,
            hosts=call.hosts,
            repositories=call.repositories,
        ),
    )


def question(call: GateCall, actions: tuple[Action, ...]) -> Asked:
    """What a person is shown, and what the answer binds to."""
    return Asked(
        kind=_kind(call),
        title=call.summary,
        actions=actions,
        call_id=call.call_id,
        command=call.command,
        repository=", ".join(call.repositories or ()),
        files=call.paths or (),
        arguments=_arguments(call),
        on_yes=_("The agent carries this out once, and its run goes on."),
    )


def _kind(call: GateCall) -> Kind:
    if call.command:
        return Kind.COMMAND
    return Kind.FILE if FILE_CLASSES & {each.value for each in call.classes} else Kind.TOOL


def _arguments(call: GateCall) -> str:
    # In an order of their own: the journal gives the arguments back in another one than the model.
    given = sorted(call.input.items())
    lines = [f"{name}: {value}" for name, value in given if name != "command"]
    return "\n".join(lines)[:MOST_SHOWN]
