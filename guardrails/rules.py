"""The stored rules: which are in force, and what they say about a call."""

from collections.abc import Iterable
from uuid import UUID

from guardrails import autonomy, managed, policy
from guardrails.actions import Action
from guardrails.decisions import AutonomyLevel, narrower
from guardrails.models import Rule
from guardrails.policy import CHAT, Circumstances, Resolution, RuleFacts
from workspaces import clock


def in_force() -> list[RuleFacts]:
    """Every rule of the bound workspace that holds now, and the operator's."""
    return [*managed.load(), *(rule.facts() for rule in Rule.objects.in_force())]


def judge(
    actions: Iterable[Action],
    *,
    agent_id: UUID | str | None,
    space_id: UUID | str | None,
    mode: str = CHAT,
    ceiling: AutonomyLevel = AutonomyLevel.ACT_FREELY,
) -> Resolution:
    """Allow, ask or deny for one call of an agent in a space, by what is stored now.

    `ceiling` is the freedom of who delegated to the agent. Whoever cannot reach the database
    gets its error and has to deny.
    """
    level = narrower(autonomy.level_for(agent_id, space_id), ceiling)
    around = Circumstances(now=clock.now(), mode=mode, autonomy=level)
    return policy.resolve_all(in_force(), actions, around)
