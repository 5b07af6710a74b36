"""How a child run acts: by the definition that it was started with, in a conversation of its own.

Its system prompt is the definition's text and where it works; what the place says (instruction
files, the state of git) and its skills are told as messages before its task.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agents.library.definition import AgentDefinition, Dialect, Posture
from agents.library.unserved import unserved
from harness.errors import Finished
from harness.seam import PromptInputs, Root, RunSpec, Wake
from outside import git
from outside.sentences import phrase as _

from .bound import bound_of, definition_of, replaced
from .models import Run, Subagent

BUILT_IN = "builtin"  # standing of a definition that comes with the product
MOST_DEPTH = 5
UNTOLD = frozenset({"Explore", "Plan"})  # built-in ones that look for themselves
LISTED = 40


@dataclass(frozen=True, slots=True)
class Child:
    """A child run's definition, and what its conversation adds to each subagent."""

    row: Subagent
    definition: AgentDefinition
    appended: str = ""

    @property
    def never_asks(self) -> bool:
        """What would be asked is denied instead (`dontAsk`)."""
        return self.row.posture == Posture.DENY_PROMPTS.value

    @property
    def is_untold(self) -> bool:
        """It gets neither instruction files nor the state of git."""
        is_fuxi = self.definition.dialect is Dialect.FUXI
        return self.row.standing == BUILT_IN and is_fuxi and self.row.name in UNTOLD

    def narrow(self, spec: RunSpec, known: Mapping[str, str]) -> RunSpec:
        """The run as its definition has it."""
        limits, is_ours = spec.limits, self.row.standing == BUILT_IN
        told = () if is_ours else self.definition.loud_warnings
        if self.definition.max_turns:
            limits = replace(limits, max_turns=min(limits.max_turns, self.definition.max_turns))
        prompt = PromptInputs(
            instance_name=spec.prompt.instance_name,
            workspace_name=spec.prompt.workspace_name,
            space_name=spec.prompt.space_name,
            references="" if self.is_untold else spec.prompt.references,
            memory=spec.prompt.memory,
            tells_of_place=not self.is_untold,
            appended=self.appended,
            preloaded=self.definition.skills,
        )
        return replace(
            spec,
            allowed_tools=self.row.tools,
            limits=limits,
            wake=Wake(spec.wake.reason, self.row.prompt),
            prompt=replaced(prompt, self.definition, known, role="subagent"),
            notices=(
                *spec.notices,
                *((f"definition_{n}", each.sentence) for n, each in enumerate(told)),
                *unserved(self.definition),
            ),
        )


def child_of(run: Run) -> Child:
    """The definition of a child run. Reads rows of the bound workspace. Raises Finished."""
    row = Subagent.objects.filter(run=run).first()
    definition = definition_of(row) if row else None
    if row is None or definition is None:
        raise Finished(_("What this subagent was started as cannot be read any more."))
    bound = bound_of(run.conversation)
    return Child(row, definition, bound.subagent_prompt if bound else "")


def state_of_git(roots: Sequence[Root]) -> str:
    """Where each checkout stands and what differs from its last commit. Runs git."""
    return "\n\n".join(text for root in roots if root.checkout and (text := _state(root)))


def _state(root: Root) -> str:
    assert root.checkout is not None
    try:
        changes = git.status(root.checkout)
    except git.GitError:
        return ""
    lines = [f"- {change.status} {change.path}" for change in changes[:LISTED]]
    if len(changes) > LISTED:
        lines.append(f"- … {len(changes) - LISTED} more")
    head = f"repos/{root.name} is on the branch {root.branch or '(none)'}"
    return f"{head}; changed since its last commit:\n" + "\n".join(lines) if lines else f"{head}."
