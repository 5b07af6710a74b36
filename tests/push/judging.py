"""A judge of pushes for tests: allows, denies or asks as the story says, and notes what it saw.

It stands where the gatekeeper of runs stands; asking goes through the real approvals.
"""

from dataclasses import dataclass, field
from uuid import UUID

from guardrails import approvals, rules
from guardrails.actions import Action
from guardrails.asking import Asked, Kind, RefMove
from harness.seam import Allow, Ask, Deny, Verdict
from repositories.gateway.judge import PushEnd, PushFacts
from spaces.models import Conversation
from workspaces.models import Principal


@dataclass
class Bench:
    """What the judge does, and what it has seen. `answers` by ref come before `answer`."""

    answer: str = "ask"
    answers: dict[str, str] = field(default_factory=dict)
    seen: list[PushFacts] = field(default_factory=list)
    ends: list[PushEnd] = field(default_factory=list)
    running: bool = True


bench = Bench()


def reset() -> Bench:
    """The bench as at the start of a story."""
    global bench
    bench = Bench()
    return bench


def may_use_git(workspace_id: UUID, run_id: UUID, fence: int) -> bool:
    return bench.running


def settled(end: PushEnd) -> None:
    bench.ends.append(end)


def judge(facts: PushFacts) -> Verdict:
    bench.seen.append(facts)
    answers = {bench.answers.get(fact.ref, bench.answer) for fact in facts.refs}
    if "missing" in answers:
        raise ImportError("there is no judge")
    if "break" in answers:
        raise RuntimeError("the rules cannot be read")
    if "deny" in answers:
        return Deny("No pushes on Fridays.", rule="test")
    if answers == {"allow"}:
        return Allow(rule="test")
    approval = approvals.request(
        question(facts),
        resolution=rules.judge(question(facts).actions, agent_id=None, space_id=None),
        agent=Principal.objects.get(pk=facts.origin.agent_principal_id),
        conversation=Conversation.objects.get(pk=facts.origin.conversation_id),
        run_id=facts.origin.run_id,
    )
    return Ask(str(approval.pk), reason="Pushes are asked for.")


def question(facts: PushFacts) -> Asked:
    action = Action(
        classes=frozenset({"git_push"}),
        refs=tuple(fact.ref for fact in facts.refs),
        repositories=(facts.repository,),
        rewrites=any(fact.rewrites for fact in facts.refs),
    )
    return Asked(
        kind=Kind.PUSH,
        title=f"Push to {facts.repository}",
        actions=(action,),
        repository=facts.repository,
        moves=tuple(
            RefMove(ref=fact.ref, old=fact.old, new=fact.new, rewrites=fact.rewrites)
            for fact in facts.refs
        ),
        push_request_id=str(facts.push_request_id),
    )
