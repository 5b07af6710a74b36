"""Starting subagents: whom a run may start, and the child run of a call.

Definitions are resolved anew at each call, from the same places as everywhere. A child keeps the
one that it began with. It has no tool that its parent does not have, and passes the same gate.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, connection, transaction

from agents.inspecting import refusal_of
from agents.library import delegates, modelchoice, posture
from agents.library.definition import AgentDefinition, Dialect, Posture
from agents.library.delegates import Delegates
from agents.library.places import Scope
from agents.library.scopes import Entry, Library
from agents.library.surface import ToolSurface
from agents.permissions import AgentRules, rules_of
from agents.surroundings import is_believed, library_of, settings_of_library
from harness.errors import Released
from harness.seam import ChildBegun, ChildWish, DefinitionLine, NoChild, Root
from spaces.models import BoundDefinition
from workspaces.tenancy import bind

from . import broadcast, locks, queue
from .bound import OURS, bound_of, definition_of, names_of, offer, surface_of
from .catalog import member_of, projects_of, session_agents
from .models import Run, RunCursor, Subagent
from .subagents import BUILT_IN, MOST_DEPTH

MOST_AT_ONCE = 10
FRESH_SECONDS = 10.0
MAIN = "agent"  # the default main agent's own definition, which nobody starts
NO_SUCH = "There is no agent {name} to start here. Agents: {known}."


@dataclass(frozen=True, slots=True)
class _Place:
    """Everything that decides whom this run may start, as it stands now."""

    library: Library
    rules: AgentRules
    reach: Delegates
    main_dialect: Dialect

    def may_start(self, name: str, entry: Entry) -> bool:
        is_main = name == MAIN and entry.found.place.scope is Scope.BUILTIN
        if is_main or entry.definition.executor:
            return False
        return self.reach.admits(name) and not self.rules.denies(name)

    @property
    def startable(self) -> dict[str, Entry]:
        found = sorted(self.library.by_name.items())
        return {
            name: entry
            for name, entry in found
            if name == entry.name and self.may_start(name, entry)
        }

    @property
    def default(self) -> str:
        return "coder" if self.main_dialect is Dialect.JARVIS else "general-purpose"


class Nursery:
    """The subagents of one run; see `harness.seam.Nursery`. `model` is the run's own."""

    def __init__(self, run: Run, roots: Sequence[Root], *, model: str, effort: str) -> None:
        self._run, self._roots = run, tuple(roots)
        self._model, self._effort = model, effort
        self._types: tuple[DefinitionLine, ...] = ()
        self._looked = float("-inf")

    def types(self) -> Sequence[DefinitionLine]:
        """Those that may be started, by name; none below the deepest level."""
        if time.monotonic() - self._looked > FRESH_SECONDS:
            self._types = tuple(self._read_types())
            self._looked = time.monotonic()
        return self._types

    def _read_types(self) -> list[DefinitionLine]:
        with bind(self._run.workspace_id):
            mine = _subagent_of(self._run)
            place = self._place(mine) if mine is None or mine.depth < MOST_DEPTH else None
        connection.close()
        return [_line(name, each) for name, each in place.startable.items()] if place else []

    def asks(self, name: str) -> bool:
        """Whether a person is asked before that one is started. Reads rows of the workspace."""
        place = self._place(_subagent_of(self._run))
        entry = place.library.find(name or place.default)
        by_default = settings_of_library().asks_to_delegate
        return entry is not None and place.rules.asks(entry.name, by_default=by_default)

    def begin(self, wish: ChildWish) -> ChildBegun:
        """The child of this call, queued; one that was begun before is taken as it is."""
        run = self._run
        try:
            with bind(run.workspace_id):
                known = _child_of_call(run, wish.call_id)
                mine = _subagent_of(run)
                place = self._place(mine)
                entry = self._entry(wish, place, mine)
            if known is not None:
                return known
            _require_clean(entry)
            if wish.unasked:
                self._require_unasked(entry)
            with bind(run.workspace_id):
                return self._start(wish, entry, mine)
        finally:
            connection.close()

    def _require_unasked(self, entry: Entry) -> None:
        """Raises NoChild where a person would have to be asked, who cannot be asked this way."""
        with bind(self._run.workspace_id):
            is_asked = self.asks(entry.name)
        if is_asked:
            raise NoChild(
                f"A person is asked before {entry.name} is started. Start it with the agent tool,"
                " with the skill's name and the task in its prompt."
            )

    def _place(self, mine: Subagent | None) -> _Place:
        run = self._run
        bound = bound_of(run.conversation)
        member, projects = member_of(run), projects_of(self._roots)
        main = _main_dialect(bound)
        own_files = session_agents(run.conversation)
        library = library_of(member, projects, session=own_files, main_dialect=main)
        own = definition_of(mine) if mine else _lead(run, bound)
        custom = [n for n, e in library.by_name.items() if e.found.place.scope < Scope.BUILTIN]
        reach = Delegates(None)
        if own is not None:
            reach = delegates.resolve(
                own, as_main=mine is None, has_agent_tool=True, discovered=custom
            )
        return _Place(library, rules_of(member, projects), reach, main)

    def _entry(self, wish: ChildWish, place: _Place, mine: Subagent | None) -> Entry:
        """The definition that is meant. Raises NoChild for one that may not be started."""
        if mine is not None and mine.depth >= MOST_DEPTH:
            raise NoChild(
                f"Agents are started at most {MOST_DEPTH} levels deep; do the work yourself."
            )
        name = wish.agent or place.default
        entry = place.library.find(name)
        if entry is not None and entry.definition.executor:
            raise NoChild(f"The agent {name} runs in a program of its own, which is not here.")
        if entry is not None and place.rules.denies(entry.name):
            raise NoChild(f"The settings do not allow to start the agent {entry.name}.")
        if entry is None or not place.may_start(entry.name, entry):
            raise NoChild(NO_SUCH.format(name=name, known=", ".join(place.startable) or "none"))
        return entry

    def _start(self, wish: ChildWish, entry: Entry, mine: Subagent | None) -> ChildBegun:
        run, definition = self._run, entry.definition
        is_builtin = entry.found.place.scope is Scope.BUILTIN
        offered = offer(self._main_model(), override=settings.FUXI_CODE_SUBAGENT_MODEL)
        chosen = modelchoice.resolve(definition, offered, call=wish.model, is_builtin=is_builtin)
        if chosen.error:
            raise NoChild(chosen.error)
        isolation = wish.isolation or definition.isolation or ""
        if isolation and not any(root.checkout for root in self._roots):
            raise NoChild(
                "There is no repository here of which a worktree could be made; start the agent"
                " without isolation."
            )
        found = self._posture(entry, mine)
        child = Run(
            agent=run.agent,
            space_id=run.space_id,
            conversation_id=run.conversation_id,
            parent=run,
            requested_by=run.requested_by,
            wake_reason=run.wake_reason,
            adapter=run.adapter,
            model=chosen.model,
            effort=definition.effort or self._effort,
            mode="plan" if found is Posture.PLAN and run.mode == "chat" else run.mode,
        )
        made = Subagent(
            run=child,
            parent=run,
            call_id=wish.call_id,
            depth=mine.depth + 1 if mine else 1,
            name=entry.name[:200],
            description=wish.description[:300],
            prompt=wish.prompt,
            background=bool(wish.background) or definition.background is True,
            posture=found.value,
            isolation=isolation,
            surface=_as_json(self._surface(entry, mine)),
            **_kept(entry),
        )
        self._require_room(made)
        return self._store(child, made)

    def _require_room(self, made: Subagent) -> None:
        """Raises NoChild when too many work already; Released when the run is another worker's."""
        fresh = locks.hold(self._run.pk)
        if fresh is None or fresh.fence != self._run.fence or not fresh.is_open:
            raise Released(f"The run {self._run.pk} is no longer this worker's.")
        at_work = Run.objects.filter(parent=self._run, state__in=Run.OPEN).count()
        if at_work >= MOST_AT_ONCE:
            raise NoChild(
                f"{at_work} agents that you started are still at work; wait for their results."
            )

    def _store(self, child: Run, made: Subagent) -> ChildBegun:
        try:
            with transaction.atomic():
                child.save()
                made.save()
        except IntegrityError as error:
            known = _child_of_call(self._run, made.call_id)
            if known is None:
                raise
            raise Released("The call was made by another worker.") from error
        RunCursor.objects.create(run=child)
        queue.ring(child)
        broadcast.child_started(child)
        return ChildBegun(str(child.pk), made.name, child.model, made.background)

    def _main_model(self) -> str:
        """The model of the main conversation, which is inherited at every level."""
        top = self._run
        while top.parent_id:
            top = Run.objects.get(pk=top.parent_id)
        return self._model if top is self._run else top.model

    def _posture(self, entry: Entry, mine: Subagent | None) -> Posture:
        trusted = is_believed(entry, projects_of(self._roots))
        return posture.resolve(self._own_posture(mine), entry.definition, trusted=trusted)

    def _own_posture(self, mine: Subagent | None) -> Posture:
        if mine is not None:
            return Posture(mine.posture)
        if self._run.mode != "chat":
            return Posture.PLAN
        lead = _lead(self._run, bound_of(self._run.conversation))
        return (lead.posture if lead else None) or Posture.ASK

    def _surface(self, entry: Entry, mine: Subagent | None) -> ToolSurface:
        lead = _lead(self._run, bound_of(self._run.conversation)) if mine is None else None
        pool = mine.tools if mine else names_of(surface_of(lead)) if lead else None
        is_builtin = entry.found.place.scope is Scope.BUILTIN
        return surface_of(entry.definition, pool=pool, as_main=False, is_builtin=is_builtin)


def _subagent_of(run: Run) -> Subagent | None:
    return Subagent.objects.filter(run=run).first() if run.parent_id else None


def _child_of_call(run: Run, call_id: str) -> ChildBegun | None:
    row = Subagent.objects.filter(parent=run, call_id=call_id).select_related("run").first()
    if row is None:
        return None
    return ChildBegun(str(row.run_id), row.name, row.run.model, row.background)


def _lead(run: Run, bound: BoundDefinition | None) -> AgentDefinition | None:
    """The definition by which the conversation's lead acts, if this run is the lead's."""
    is_lead = bound is not None and run.conversation.agent_id == run.agent_id
    return definition_of(bound) if bound is not None and is_lead else None


def _main_dialect(bound: BoundDefinition | None) -> Dialect:
    return Dialect(bound.dialect) if bound is not None and bound.dialect else Dialect.CC


def _require_clean(entry: Entry) -> None:
    """Raises NoChild for a repository's file that the scan refuses, or could not look at."""
    if entry.found.place.from_repository and (why := refusal_of(entry.found.definition)):
        raise NoChild(why)


def _kept(entry: Entry) -> dict[str, str]:
    """The definition as its row keeps it, with what its origin took from it."""
    original, place = entry.found.definition, entry.found.place
    standing = ""
    if place.scope is Scope.BUILTIN:
        standing = BUILT_IN
    elif entry.definition != original:
        standing = "packaged" if place.scope is Scope.PLUGIN else "untrusted"
    own = {**original.values, "prompt": original.body}
    return {
        "dialect": original.dialect.value,
        "path": entry.found.relative[-400:],
        "text": original.raw,
        "standing": standing,
        "session_agents": "" if original.raw else json.dumps({entry.name: own}),
    }


def _as_json(seen: ToolSurface) -> list[dict[str, object]]:
    found = [
        {
            "tool": OURS.get(each.tool, each.tool),
            "allowed": each.allowed and each.tool not in seen.memory_only,
            "code": each.code,
            "reason": str(each.reason),
        }
        for each in seen.verdicts
    ]
    extra = names_of(seen) - {str(each["tool"]) for each in found}
    more = {"allowed": True, "code": "with-shell", "reason": "It belongs to the shell."}
    return [*found, *({"tool": name, **more} for name in sorted(extra))]


def _line(name: str, entry: Entry) -> DefinitionLine:
    definition = entry.definition
    hint = f" {definition.when_to_use}" if definition.when_to_use else ""
    return DefinitionLine(name, f"{definition.description}{hint}", definition.dialect.value)
