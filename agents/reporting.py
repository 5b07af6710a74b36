"""Who reports to whom: one move, without circles, whatever moves at the same moment."""

from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection
from django.utils.translation import gettext as _

from live.publish import publish
from workspaces import audit
from workspaces.models import Membership, Principal
from workspaces.tenancy import bind

from . import mirror
from .models import Agent


class Circle(ValidationError):
    """Somebody would become its own superior; nothing was written."""


def move(who: Principal, *, under: Principal | None, by: Principal) -> Principal | None:
    """The person or agent reports to `under`, or to nobody. Returns to whom it did before.

    Raises ValidationError when it would become its own superior, or for somebody who is gone.
    """
    with bind(who.workspace_id):
        require_acyclic(who, under=under)
        if who.is_agent:
            before = _move_agent(who, under)
        else:
            row = Membership.objects.select_related("reports_to").get(principal=who)
            before, row.reports_to = row.reports_to, under
            row.save(update_fields=["reports_to"])
        audit.record(
            "agent.move" if who.is_agent else "member.move",
            actor=by,
            subject=str(who),
            detail={"from": str(before or ""), "to": str(under or "")},
        )
        publish(f"w/{who.workspace_id}/roster", "changed", data={})
    return before


def _move_agent(who: Principal, under: Principal | None) -> Principal | None:
    row = Agent.objects.select_for_update(of=("self",)).select_related("reports_to").get(
        principal=who
    )  # fmt: skip
    before: Principal | None = row.reports_to
    is_hand_edited = mirror.hand_edit(row) is not None
    row.reports_to, row.version = under, row.version + 1
    row.save(update_fields=["reports_to", "version", "updated_at"])
    if not is_hand_edited:  # else the mirror's page offers both; nothing is overwritten here
        mirror.write(row)
    return before


def require_acyclic(who: Principal, *, under: Principal | None) -> None:
    """Raises ValidationError when `who` would report to itself, over however many steps.

    Moves in one workspace are made one after the other, so two at once cannot close a circle.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"chain {who.workspace_id}"])
    if under is None:
        return
    if not Principal.objects.filter(pk=under.pk, removed_at=None).exists():
        raise ValidationError({"reports_to": _("Whom it would report to is not here any more.")})
    chain, seen = chain_of_command(), set[UUID]()
    above: UUID | None = under.pk
    while above is not None and above not in seen:
        if above == who.pk:
            raise Circle(
                {"reports_to": _("That would make %(who)s its own superior.") % {"who": who}}
            )
        seen.add(above)
        above = chain.get(above)


def superior_of(who: Principal) -> UUID | None:
    """The principal above this one."""
    return chain_of_command().get(who.pk)


def chain_of_command() -> dict[UUID, UUID | None]:
    """Each principal of the bound workspace with the one above it, in two queries."""
    agents = Agent.objects.exclude(principal=None).values_list("principal_id", "reports_to_id")
    members = Membership.objects.values_list("principal_id", "reports_to_id")
    return dict([*agents, *members])


def pass_up(gone: Principal, *, to: Principal | None) -> list[Agent]:
    """Who reported to the one that goes reports to the one above it; files say so.

    Returns the agents concerned.
    """
    below = list(
        Agent.objects.filter(reports_to=gone).select_related("reports_to").prefetch_related(
            "skill_names"
        )
    )  # fmt: skip
    Membership.objects.filter(reports_to=gone).update(reports_to=to)
    for row in below:
        is_hand_edited = mirror.hand_edit(row) is not None
        row.reports_to, row.version = to, row.version + 1
        row.save(update_fields=["reports_to", "version", "updated_at"])
        if not is_hand_edited:
            mirror.write(row)
    return below
