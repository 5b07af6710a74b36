"""Questions for the stories of this folder."""

from dataclasses import replace
from uuid import UUID, uuid4

from guardrails import approvals, commands, rules
from guardrails.actions import Action
from guardrails.asking import Asked, Kind, RefMove
from guardrails.models import Approval
from tests.cast import Cast
from workspaces.models import Principal

OLD, NEW = "5d20b9a" + "0" * 33, "8c41f0e" + "0" * 33


def push(cast: Cast, *, ref: str = "refs/heads/feature/x", rewrites: bool = False) -> Asked:
    return Asked(
        kind=Kind.PUSH,
        title="Push 2 commits to tide-api",
        actions=(
            Action(
                classes=frozenset({"git_push"}),
                agent_id=str(cast.engineer.pk),
                space_id=str(cast.space.pk),
                refs=(ref,),
                repositories=("tide-api",),
                rewrites=rewrites,
            ),
        ),
        repository="tide-api",
        moves=(RefMove(ref=ref, old=OLD, new=NEW, rewrites=rewrites),),
        on_yes="Exactly these two commits are forwarded, once.",
    )


def command(cast: Cast, line: str = "rm -rf build", *, call_id: str = "call-1") -> Asked:
    found = commands.actions(line, agent_id=str(cast.engineer.pk), space_id=str(cast.space.pk))
    return Asked(
        kind=Kind.COMMAND, title=f"Run {line}", actions=found, command=line, call_id=call_id
    )


def ask(
    cast: Cast,
    asked: Asked | None = None,
    *,
    run_id: UUID | None = None,
    on_behalf_of: Principal | None = None,
    attended: bool = True,
) -> Approval:
    """The question put to people, for Ada unless said otherwise."""
    asked = asked or push(cast)
    resolution = rules.judge(asked.actions, agent_id=cast.engineer.pk, space_id=cast.space.pk)
    return approvals.request(
        asked,
        resolution=resolution,
        agent=cast.engineer.principal,
        conversation=cast.conversation,
        run_id=run_id or uuid4(),
        on_behalf_of=on_behalf_of or cast.ada.principal,
        attended=attended,
    )


def moved(asked: Asked, **changes: object) -> Asked:
    return replace(asked, **changes)  # type: ignore[arg-type]
