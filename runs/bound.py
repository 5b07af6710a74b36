"""The definition that a conversation is bound to, as its lead acts by it.

It supplies tools, model and the prompt in place of the default one; the persona, the instructions
and the identity in git stay the agent's own. One that joins is a teammate's: tools and model are
its, its text is added to the agent's instructions, and all else stays the agent's. It narrows and
never widens: what may leave is decided by rules, whatever a definition says.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from agents.library import modelchoice, reading, session, surface, template, trust
from agents.library.definition import AgentDefinition, Dialect
from agents.library.unserved import unserved
from agents.models import BUILT_IN
from harness import catalogue
from harness.seam import PromptInputs, RunSpec
from harness.tools.surface import ALL, WITH_BASH
from spaces.models import BoundDefinition, Conversation
from workspaces.models import ModelConnection

from .models import Run

# Our tools under the names of the library's registry, where they differ.
CANONICAL = {"todo": "todo_list"}
OURS = {canonical: name for name, canonical in CANONICAL.items()}
FAMILIES = ("opus", "sonnet", "haiku", "fable")


@dataclass(frozen=True, slots=True)
class Acting:
    """How a definition narrows the runs of its conversation's lead."""

    definition: AgentDefinition
    tools: frozenset[str]
    model: modelchoice.ModelChoice
    is_first_turn: bool
    joins: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def effort(self) -> str | None:
        """The definition's own, which one that only joins does not bring."""
        return None if self.joins else self.definition.effort

    def narrow(self, spec: RunSpec, known: Mapping[str, str]) -> RunSpec:
        """The run as the definition has it. `known` is what `${var}` means, in Jarvis files."""
        said = ((f"definition_{n}", text) for n, text in enumerate(self.warnings))
        notices = (*spec.notices, *said, *unserved(self.definition))
        spec = replace(spec, allowed_tools=self.tools, notices=notices)
        return self._joined(spec, known) if self.joins else self._led(spec, known)

    def _joined(self, spec: RunSpec, known: Mapping[str, str]) -> RunSpec:
        added = template.prompt_of(self.definition, {**known, "base_prompt": ""})
        texts = filter(None, (spec.prompt.system_prompt.strip(), added.strip()))
        return replace(spec, prompt=replace(spec.prompt, system_prompt="\n\n".join(texts)))

    def _led(self, spec: RunSpec, known: Mapping[str, str]) -> RunSpec:
        limits, wake = spec.limits, spec.wake
        if self.definition.max_turns:
            limits = replace(limits, max_turns=min(limits.max_turns, self.definition.max_turns))
        if self.is_first_turn and self.definition.initial_prompt:
            wake = replace(wake, text=f"{self.definition.initial_prompt}\n\n{wake.text}".strip())
        return replace(
            spec,
            effort=self.effort or spec.effort,  # type: ignore[arg-type]
            limits=limits,
            wake=wake,
            prompt=replaced(spec.prompt, self.definition, known, role="lead"),
        )


class Kept(Protocol):
    """A definition as a row keeps it, word for word."""

    name: str
    dialect: str
    path: str
    text: str
    standing: str
    session_agents: str


def replaced(
    prompt: PromptInputs,
    definition: AgentDefinition,
    known: Mapping[str, str],
    *,
    role: Literal["lead", "subagent"],
) -> PromptInputs:
    """The prompt with the definition's text in place of the default one. A lead whose definition
    says nothing keeps the default; a subagent has none."""
    if role == "lead" and not definition.body.strip():
        return prompt

    def rewrite(variables: Mapping[str, str]) -> str:
        return template.prompt_of(definition, {**known, **variables})

    return replace(prompt, rewrite=rewrite, role=role)


def acting(run: Run, *, model: str) -> Acting | None:
    """How the run's conversation is bound, None when it is not or somebody else than its lead
    runs. `model` is the agent's own, `connection/model`."""
    if run.parent_id or run.conversation.agent_id != run.agent_id or run.adapter != BUILT_IN:
        return None
    bound = bound_of(run.conversation)
    definition = definition_of(bound) if bound else None
    if bound is None or definition is None:
        return None
    chosen = modelchoice.resolve(definition, offer(model))
    first = run.message is not None and run.message.n == 1
    seen = surface_of(definition)
    said = (*definition.loud_warnings, *chosen.warnings, *seen.warnings)
    warnings = tuple(each.sentence for each in said)
    return Acting(definition, names_of(seen), chosen, first, bound.joins, warnings)


def bound_of(conversation: Conversation) -> BoundDefinition | None:
    return BoundDefinition.objects.filter(conversation=conversation).first()


def definition_of(bound: Kept) -> AgentDefinition | None:
    """The definition word for word as it was when the conversation began; None when only further
    definitions came with it."""
    if not bound.name:
        return None
    if not bound.text:
        own = session.read_agents_json(bound.session_agents)
        return next((each for each in own if each.name == bound.name), None)
    found = reading.read_text(bound.text, path=bound.path, dialect=Dialect(bound.dialect))
    if bound.standing == "packaged":
        return trust.as_packaged(found)
    return trust.as_untrusted(found) if bound.standing == "untrusted" else found


def tools_of(definition: AgentDefinition) -> frozenset[str]:
    """Our tools that the definition's lists let its agent have."""
    return names_of(surface_of(definition))


def surface_of(
    definition: AgentDefinition,
    *,
    pool: Collection[str] | None = None,
    as_main: bool = True,
    is_builtin: bool = False,
) -> surface.ToolSurface:
    """Each of our tools with its verdict; `pool` are those that a parent has, None for all."""
    known = [tool.name for tool in ALL if tool.name not in WITH_BASH]
    names = [CANONICAL.get(name, name) for name in known if pool is None or name in pool]
    return surface.resolve(definition, names, as_main=as_main, is_builtin=is_builtin)


def names_of(seen: surface.ToolSurface) -> frozenset[str]:
    """The tools of the surface under our own names."""
    allowed = {OURS.get(name, name) for name in seen.tools if name not in seen.memory_only}
    return frozenset(allowed | (WITH_BASH if "bash" in allowed else set()))


def offer(main: str, *, override: str = "") -> modelchoice.ModelOffer:
    """What the bound workspace's connections offer, the main model's own first. `override` is
    the model that the instance sets for subagents."""
    first, connections = main.partition("/")[0], ModelConnection.objects.all()
    ordered = sorted(connections, key=lambda each: (each.name != first, not each.is_default))
    aliases = _aliases(ordered)
    known = {*aliases.values(), main}
    return modelchoice.ModelOffer(
        main=main,
        aliases=aliases,
        override=override,
        known=known.__contains__,
        allowed=known,
    )


def _aliases(connections: Sequence[ModelConnection]) -> Mapping[str, str]:
    """Bare model names and the names of families, as `connection/model`."""
    found: dict[str, str] = {}
    for connection in connections:
        names = [model.name for model in catalogue.shipped().of_provider(connection.provider)]
        for name in (*names, connection.default_model):
            if name:
                found.setdefault(name, f"{connection.name}/{name}")
                found.setdefault(f"{connection.name}/{name}", f"{connection.name}/{name}")
        for family in FAMILIES:
            newest = next((name for name in names if family in name), None)
            if newest:
                found.setdefault(family, f"{connection.name}/{newest}")
    return found
