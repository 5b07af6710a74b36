"""Settles the open tool calls of a run: parse → plan → gate → start → effect → result.

Calls that need no answer run first; those that wait are asked for, and then the run parks. A
decision that exists is followed, never asked for again.
"""

import errno
import logging
import time
from collections.abc import Mapping
from typing import Any

from harness import errors, events
from harness.calls import OpenCall, open_calls
from harness.conversation import INTERRUPTED
from harness.errors import RunEnded, WaitingFor
from harness.events import Event, Kind
from harness.journal import RunJournal
from harness.seam import Allow, Ask, Deny, Gate, GateCall
from harness.text import one_line, storable
from harness.tools.base import Output, Plan, Tool, ToolProblem, Waiting, Workbench
from harness.tools.delegating import outcome as outcome_of_child
from harness.tools.files import OutOfReach
from outside.sentences import Sentence, phrase

log = logging.getLogger(__name__)
FULL = (errno.ENOSPC, errno.EDQUOT)
ALIASES = {"Agent": "agent", "Task": "agent", "task": "agent", "Skill": "skill"}


class Settler:
    def __init__(
        self,
        journal: RunJournal,
        *,
        gate: Gate,
        tools: Mapping[str, Tool[Any]],
        bench: Workbench,
    ) -> None:
        self._journal = journal
        self._gate = gate
        self._tools = tools
        self._bench = bench

    def settle(self) -> None:
        """Afterwards every call has its result. Raises Parked when some still wait."""
        for call in open_calls(self._journal.events):
            self._bench.stop.check()
            self._settle(call)
        waiting = [c for c in open_calls(self._journal.events) if c.standing == "waiting"]
        if waiting:
            raise _parked(waiting)

    def _settle(self, call: OpenCall) -> None:
        tool = self._tools.get(call.name) or self._tools.get(ALIASES.get(call.name, ""))
        match call.standing:
            case "waiting":
                return
            case "answered" if call.child is not None:
                self._result(call, outcome_of_child(call.child))
            case "answered":
                self._result(call, Output(call.answer or "(no answer)"))
            case "decided" if call.decision and _settles(call.decision):
                self._result(call, _outcome(call.decision))
            case "interrupted" if tool is None or not tool.safe_to_repeat:
                self._result(call, Output(INTERRUPTED, is_error=True))
            case _:
                approval = call.decision["approval_id"] if call.decision else None
                self._attempt(call, tool, approval)

    def _attempt(self, call: OpenCall, tool: Tool[Any] | None, approval: str | None) -> None:
        try:
            if tool is None:
                raise ToolProblem(self._unknown(call.name))
            if call.invalid:
                raise ToolProblem(call.invalid)
            given = tool.parse(call.input)
            plan = tool.plan(given, self._bench)
        except (ToolProblem, OutOfReach, OSError) as problem:
            self._result(call, Output(_words(problem), is_error=True))
            return
        match self._ask_gate(call, tool, plan, approval):
            case Allow():
                self._execute(call, tool, given)
            case Deny(reason=reason, rule=rule):
                self._result(call, _denied(reason, rule))
            case Ask(approval_id=approval_id):
                self._journal.record(events.asked(approval_id, call_id=call.call_id))

    def _ask_gate(
        self, call: OpenCall, tool: Tool[Any], plan: Plan, approval: str | None
    ) -> Allow | Deny | Ask:
        if tool.never_gated:
            return Allow()
        return self._gate.check(
            GateCall(
                call_id=call.call_id,
                tool=call.name,
                classes=plan.classes,
                summary=_fit(plan.summary),
                input=call.input,
                command=plan.command,
                paths=plan.paths,
                hosts=plan.hosts,
                refs=plan.refs,
                repositories=plan.repositories,
                approval_id=approval,
                asked_by_desk=tool.asked_by_desk,
            )
        )

    def _execute(self, call: OpenCall, tool: Tool[Any], given: Any) -> None:
        start = Event(Kind.TOOL_START, {"call_id": call.call_id, "name": call.name})
        if not tool.safe_to_repeat:
            # Committed before the effect: from here on its outcome may be unknown.
            self._journal.record(start)
        before = time.monotonic()
        try:
            output = self._run(call, tool, given)
        except Waiting as waits:
            # Its start and what it waits for stand together, so that it never looks lost.
            begun = [start] if tool.safe_to_repeat else []
            self._journal.record(*begun, waits.event)
            return
        spent = round((time.monotonic() - before) * 1000)
        begun = [start] if tool.safe_to_repeat else []
        self._journal.record(*begun, *output.tells, _result(call, output, spent))

    def _run(self, call: OpenCall, tool: Tool[Any], given: Any) -> Output:
        try:
            return tool.run(given, self._bench, call.call_id)
        except (RunEnded, Waiting):
            raise
        except OSError as problem:
            if problem.errno in FULL:
                raise self._disk_full() from problem
            return Output(_words(problem), is_error=True)
        except (ToolProblem, OutOfReach) as problem:
            return Output(_words(problem), is_error=True)
        except Exception as problem:  # the edge of a tool call: the run goes on
            log.exception("tool %s failed", call.name)
            text = phrase("The tool %(name)s failed inside (%(kind)s).") % {
                "name": call.name,
                "kind": type(problem).__name__,
            }
            self._journal.record(_bug(text))
            return Output(text, is_error=True)

    def _disk_full(self) -> errors.DiskFull:
        text = phrase(
            "The disk is full. What was written before is kept; make room and start again."
        )
        self._journal.record(
            events.error({"source": "tool", "code": "disk_full", "text": text, "ends": True})
        )
        return errors.DiskFull(text)

    def _result(self, call: OpenCall, output: Output) -> None:
        spent = int(call.child.get("duration_ms", 0)) if call.child else 0
        self._journal.record(_result(call, output, spent))

    def _unknown(self, name: str) -> str:
        return f"There is no tool {name}. Your tools: {', '.join(sorted(self._tools))}."


def _fit(summary: str) -> str:
    if isinstance(summary, Sentence):
        return summary.mapped(_fit)
    return str(storable(one_line(summary)))


def _result(call: OpenCall, output: Output, duration_ms: int) -> Event:
    data: events.ToolResultData = {
        "call_id": call.call_id,
        "name": call.name,
        "content": storable(output.content),
        "is_error": output.is_error,
        "detail": storable(dict(output.detail)),
        "duration_ms": duration_ms,
    }
    return Event(Kind.TOOL_RESULT, data)


def _settles(decision: Mapping[str, Any]) -> bool:
    """Whether the decision itself is the call's end: a no, or an effect carried out elsewhere."""
    return decision["decision"] == "deny" or "outcome" in decision


def _outcome(decision: Mapping[str, Any]) -> Output:
    detail = {"approval_id": decision["approval_id"], "decided_by": decision.get("decided_by", "")}
    if decision["decision"] == "deny":
        who = f" by @{decision['decided_by']}" if decision.get("decided_by") else ""
        note = f": {decision['note']}" if decision.get("note") else "."
        return Output(f"Denied{who}{note}", is_error=True, detail={**detail, "denied": True})
    return Output(
        decision["outcome"],
        is_error=bool(decision.get("failed")),
        detail={**detail, "allowed": True},
    )


def _denied(reason: str, rule: str) -> Output:
    return Output(f"Denied: {reason}", is_error=True, detail={"denied": True, "rule": rule})


def _bug(text: str) -> Event:
    return events.error({"source": "tool", "code": "bug", "text": text})


def _words(problem: Exception) -> str:
    if isinstance(problem, FileNotFoundError):
        return "There is no such file or directory."
    if isinstance(problem, OSError):
        return f"{problem.strerror or problem}."
    return str(problem)


def _parked(waiting: list[OpenCall]) -> errors.Parked:
    # A person's answer and an approval end in the same inbox; the first one names the wait.
    kinds: tuple[WaitingFor, ...] = ("approval", "person", "child")
    found = {call.waits_for for call in waiting}
    waits_for = next(kind for kind in kinds if kind in found)
    ids = tuple(call.waits_on for call in waiting if call.waits_on)
    return errors.Parked(waits_for, ids=ids, summary=", ".join(call.name for call in waiting))
