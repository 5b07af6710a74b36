"""The built-in loop. Everything it knows is in the journal; stop it anywhere, start it anywhere.

begin     the prompt and the message that woke the run are in the journal
settle    every open tool call has its result, or the run parks
ask       one model turn is in the journal
… until a turn makes no call; then the run is over, if it has delivered what it must.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

from harness import called, compaction, delegation, directives, errors, events, prompt, repetition
from harness.asking import Asker, TurnEnd
from harness.conversation import THINKING_DROPPED
from harness.events import Delta, Event, Kind
from harness.journal import RunJournal
from harness.providers.errors import ProviderError
from harness.sandbox import NoSandbox, choose
from harness.seam import Ports, RunSpec, SkillLine, ToolSchema
from harness.settling import Settler
from harness.tools.base import Tool, Workbench
from harness.tools.delegating import Agent
from harness.tools.files import Files
from harness.tools.shells import Shells
from harness.tools.surface import surface
from outside.sentences import phrase

CUT_OFF = "Your answer was cut off at the output limit. Go on where it stopped, and be shorter."
SAID_NOTHING = "You ended without an answer. Say in a few words what you did and what is left."
UNMET = (
    "This run must deliver: {contract}. Missing: {missing}. Deliver it now. If there is honestly"
    " nothing to deliver, answer with the words 'nothing to deliver' and why."
)
NO_SANDBOX = phrase("Shell commands of this run are not sandboxed.")
NO_THINKING = phrase(
    "Earlier thinking of this run was left out: the provider no longer accepts it."
)
NUDGES = {
    "cut_off": 3,
    "said_nothing": 1,
    "not_started": 1,
    "contract": 1,
}  # how often each is said in a run


def run(spec: RunSpec, history: Sequence[Event], ports: Ports) -> NoReturn:
    """Executes the run from where its journal ends; always ends in a RunEnded."""
    attempt = _Attempt(spec, history, ports)
    try:
        attempt.go()
    except errors.Parked as parked:
        attempt.end_background(parked)
        raise
    finally:
        attempt.close()


class _Attempt:
    def __init__(self, spec: RunSpec, history: Sequence[Event], ports: Ports) -> None:
        self.spec = spec
        self.ports = ports
        self.journal = RunJournal(history, ports.sink)
        self.tools = surface(spec)
        self.bench = _workbench(spec, ports, self.journal)
        self.skills: tuple[SkillLine, ...] = ()
        self.schemas = self.described()
        self.asker = Asker(spec, ports, self.journal)
        self.settler = Settler(self.journal, gate=ports.gate, tools=self.tools, bench=self.bench)
        self.used_tokens = _used_tokens(self.journal)

    def go(self) -> NoReturn:
        self.begin()
        while True:
            self.ports.stop.check()
            self.journal.take_in()
            self.settler.settle()
            self.journal.take_in()
            self.load_skills()
            self.call_agents()
            system = self.system()
            self.check_progress()
            end = self.ask(system)
            if not end.calls:
                self.finish(end)

    def begin(self) -> None:
        """The prompt and the message that woke the run are in the journal."""
        self.journal.take_in()
        self.carry(tuple(self.ports.shelf.index()))
        new: list[Event] = []
        if not self._still_holds(self.journal.last(Kind.PROMPT)):
            new.append(self._prompt_event())
        # Others may have written before the run began; only the first message has a context.
        if not any(e.kind is Kind.MESSAGE and "context" in e.data for e in self.journal.events):
            new.append(self._first_message())
            new += directives.preloaded(self.spec.prompt.preloaded, self.ports.shelf)
        if not self.bench.sandbox.is_closed and "bash" in self.tools:
            new += self._notice_once("no_sandbox", NO_SANDBOX)
        for code, text in self.spec.notices:
            new += self._notice_once(code, text)
        if new:
            self.journal.record(*new)

    def carry(self, skills: tuple[SkillLine, ...]) -> None:
        """The agent has these skills now. A subagent reads of them in the tool's description,
        because its system prompt is its own."""
        self.skills = skills
        if self.spec.prompt.role == "subagent":
            self.schemas = self.described()

    def described(self) -> list[ToolSchema]:
        """What the model is told of its tools."""
        return [self._described(tool) for tool in self.tools.values()]

    def _described(self, tool: Tool[Any]) -> ToolSchema:
        if isinstance(tool, Agent):
            return tool.described(self.bench)
        if tool.name == prompt.SKILL_TOOL and self.spec.prompt.role == "subagent":
            return prompt.with_index(tool.schema, self.skills)
        return tool.schema

    def system(self) -> tuple[str, ...]:
        """The system prompt as stored with the run: it stays the same until the mode changes, or
        the skills that the agent carries."""
        skills = self._look_at_shelf()
        stored = self.journal.last(Kind.PROMPT)
        if stored is None or skills != self.skills:
            self.carry(skills)
            if stored is None or not self._lists(stored):
                self.journal.record(self._prompt_event())
                stored = self.journal.last(Kind.PROMPT)
        assert stored is not None
        sections = [prompt.Section(s["name"], s["text"]) for s in stored.data["sections"]]
        return prompt.Prompt(tuple(sections)).system

    def _look_at_shelf(self) -> tuple[SkillLine, ...]:
        """What the agent carries now; what changed about it is in the journal."""
        skills = tuple(self.ports.shelf.index())
        news = self.ports.shelf.news()
        if news:
            self.journal.record(*news)
        return skills

    def _lists(self, stored: Event) -> bool:
        """Whether a stored prompt has the index of what the agent carries now."""
        sections = {s["name"]: s["text"] for s in stored.data["sections"]}
        section = prompt.skills_section(self.spec, tools=self.schemas, skills=self.skills)
        return bool(sections.get("Skills", "") == section.strip())

    def _still_holds(self, stored: Event | None) -> bool:
        return bool(
            stored is not None
            and stored.data["mode"] == self.spec.mode
            and stored.data["tools"] == list(self.tools)
            and self._lists(stored)
        )

    def _prompt_event(self) -> Event:
        made = prompt.assemble(self.spec, tools=self.schemas, skills=self.skills)
        data: events.PromptData = {
            "sections": [{"name": s.name, "text": s.text} for s in made.sections],
            "model": self.asker.model.name,
            "mode": self.spec.mode,
            "tools": list(self.tools),
        }
        return Event(Kind.PROMPT, data)

    def _first_message(self) -> Event:
        wake = self.spec.wake
        more = {"author": wake.author, "message_id": wake.message_id, "reason": wake.reason}
        context = prompt.opening(self.spec)
        return events.message(wake.text, **{k: v for k, v in more.items() if v}, context=context)

    def _notice_once(self, code: str, text: str) -> list[Event]:
        if any(e.kind is Kind.NOTICE and e.data.get("code") == code for e in self.journal.events):
            return []
        return [events.notice(text, level="warning", code=code)]

    def load_skills(self) -> None:
        """Skills that were asked for by `/skill:<name>` are in the conversation."""
        names = directives.wanted(self.journal.events)
        if names:
            self.journal.record(*directives.answers(names, self.ports.shelf))

    def call_agents(self) -> None:
        """Subagents that were asked for by `@agent-<name>` are told to the agent as such."""
        colleagues = {each.handle for each in self.spec.prompt.team} | {self.spec.agent_name}
        names = [n for n in called.wanted(self.journal.events) if f"agent-{n}" not in colleagues]
        if names:
            self.journal.record(*called.answers(names, self._startable()))

    def _startable(self) -> set[str]:
        nursery = self.ports.nursery if self.spec.may_delegate else None
        return {each.name for each in nursery.types()} if nursery else set()

    def check_progress(self) -> None:
        """Raises when the run has had its turns or goes in circles; says so before it does."""
        limits = self.spec.limits
        if self.journal.turn_count >= limits.max_turns:
            words = phrase("The run has used all its %(count)d turns.")
            raise errors.MaxTurns(words % {"count": limits.max_turns})
        streak = repetition.streak(self.journal.events, limit=limits.identical_calls_end)
        if streak.count >= limits.identical_calls_end:
            words = phrase("The agent made the same call %(count)d times in a row.")
            raise errors.Looping(words % {"count": streak.count})
        if streak.count >= limits.identical_calls_steer and not streak.is_steered:
            text = repetition.STEER.format(count=streak.count)
            self.journal.record(events.steer(text, code=repetition.CODE))

    def ask(self, system: Sequence[str]) -> TurnEnd:
        """One model turn; shortens the conversation first when its window fills."""
        if self.used_tokens >= self.spec.limits.compaction_share * self.asker.window:
            self.compact(system)
        mended: set[str] = set()
        while True:
            try:
                end = self.asker.ask(system, self.schemas)
            except ProviderError as problem:
                if problem.code in mended:
                    raise errors.ProviderRefused(problem.text) from problem
                mended.add(problem.code)
                self._mend(problem)
                continue
            self.used_tokens = end.used_tokens
            return end

    def _mend(self, problem: ProviderError) -> None:
        if problem.code == "thinking_mismatch":
            self.journal.record(events.notice(NO_THINKING, level="warning", code=THINKING_DROPPED))
        else:
            self._shorten(compaction.digest(self.journal.events))

    def compact(self, system: Sequence[str]) -> None:
        """Replaces the conversation by a summary, or by a list of what was done if none comes."""
        try:
            end = self.asker.ask(system, self.schemas, extra=compaction.ASK)
            summary = end.text.strip()
        except ProviderError:
            summary = ""
        asked = compaction.requests(self.journal.events)
        self._shorten(
            f"{asked}\n\n{summary}" if summary else compaction.digest(self.journal.events)
        )

    def _shorten(self, summary: str) -> None:
        self.journal.take_in()
        through, before = self.journal.last_seq, self.used_tokens
        self.journal.record(compaction.compaction(summary, through=through, tokens_before=before))
        self.used_tokens = 0

    def finish(self, end: TurnEnd) -> None:
        """Ends the run, or returns after saying why it goes on."""
        if end.stop_reason == "refusal":
            raise errors.ProviderRefused(phrase("The model declined to go on with this."))
        if end.stop_reason == "overflow":
            self._shorten(compaction.digest(self.journal.events))
            return
        if self.journal.take_in(look=True):
            return
        if end.stop_reason == "max_tokens" and self._nudge("cut_off", CUT_OFF):
            return
        if not end.text.strip() and self._nudge("said_nothing", SAID_NOTHING):
            return
        names = ", ".join(called.not_started(self.journal.events))
        if names and self._nudge("not_started", called.NOT_STARTED.format(names=names)):
            return
        self._wait_for_children()
        self._check_contract(end)

    def _wait_for_children(self) -> None:
        """What works in the background is a part of the run: it is not over before that is."""
        going = delegation.in_background(self.journal.events)
        if going:
            raise errors.Parked("child", ids=tuple(going), summary=", ".join(going.values()))

    def _check_contract(self, end: TurnEnd) -> None:
        missing = self.ports.missing(self.journal.events) if self.ports.missing else ""
        if missing and "nothing to deliver" not in end.text.lower():
            text = UNMET.format(contract=self.spec.contract, missing=missing)
            if self._nudge("contract", text):
                return
            words = phrase("The run ended without its deliverable: %(missing)s.")
            raise errors.ContractUnmet(words % {"missing": missing})
        raise errors.Completed(end.text, seen=self.journal.last_seq)

    def _nudge(self, code: str, text: str) -> bool:
        said = [e for e in self.journal.events if e.kind is Kind.STEER]
        if sum(e.data.get("code") == code for e in said) >= NUDGES[code]:
            return False
        self.journal.record(events.steer(text, code=code))
        return True

    def end_background(self, parked: errors.Parked) -> None:
        """Before a wait nothing may go on unseen: background commands end, the model is told."""
        ended = self.bench.shells.finish_all()
        if ended:
            names = ", ".join(f"{shell.id} ({shell.command})" for shell in ended)
            text = f"While you wait nothing runs. These background commands were ended: {names}."
            self.journal.record(events.steer(text, code="background_ended"))

    def close(self) -> None:
        self.bench.shells.finish_all()
        self.asker.close()


def _used_tokens(journal: RunJournal) -> int:
    """What the last model turn had in its context; 0 after a compaction or before the first."""
    last = next(
        (e for e in reversed(journal.events) if e.kind in (Kind.USAGE, Kind.COMPACTION)), None
    )
    if last is None or last.kind is Kind.COMPACTION:
        return 0
    parts = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    return sum(int(last.data[part]) for part in parts)


def _workbench(spec: RunSpec, ports: Ports, journal: RunJournal) -> Workbench:
    try:
        sandbox = choose(spec)
    except NoSandbox as problem:
        words = phrase("This run needs a sandbox, and there is none: %(why)s.")
        raise errors.Finished(words % {"why": str(problem)}) from problem
    shells = Shells(sandbox, spec.artefact_directory, shown=spec.limits.tool_output_bytes)

    def show(call_id: str, text: str) -> None:
        turn, index = journal.place_of(call_id)
        journal.delta(Delta(turn, index, "output", text, call_id))

    return Workbench(
        spec=spec,
        files=Files(spec),
        shells=shells,
        sandbox=sandbox,
        stop=ports.stop,
        push_desk=ports.push_desk,
        shelf=ports.shelf,
        catalog=ports.catalog,
        nursery=ports.nursery,
        show=show,
    )
