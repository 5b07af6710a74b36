"""A tenant sees only itself, even when the code forgets to filter."""

from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, models, transaction

from agents.models import Agent
from spaces.models import Conversation, Space
from tests.cast import Cast
from workspaces import tenancy
from workspaces.models import Membership, Principal, Workspace
from workspaces.tenancy import NoWorkspaceBound, SeveralWorkspacesBound, across_workspaces, bind

pytestmark = pytest.mark.django_db


def one(sql: str, *params: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchone()[0]


def test_speaks_as_the_application_role_that_inherits_nothing(cast: Cast) -> None:
    assert one("SELECT current_user") == "cc_app"
    assert one("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = 'cc_app'") is False
    assert one("SELECT pg_has_role('cc_app', 'cc_system', 'USAGE')") is False
    assert one("SELECT pg_has_role('cc_app', 'cc_system', 'SET')") is True


def test_reading_with_nothing_bound_raises(cast: Cast) -> None:
    with pytest.raises(NoWorkspaceBound):
        Agent.objects.count()
    with pytest.raises(NoWorkspaceBound):
        Space.objects.create(name="Nowhere", slug="nowhere")


@pytest.mark.req("CC-04", "CC-05", "CC-06")
def test_foreign_rows_stay_hidden_without_the_managers_filter(cast: Cast) -> None:
    unfiltered = models.Manager[Agent]()
    unfiltered.model = Agent
    with bind(cast.elsewhere):
        assert unfiltered.all().count() == 0
        assert unfiltered.filter(pk=cast.ceo.pk).first() is None
        assert unfiltered.filter(pk=cast.ceo.pk).update(title="Stolen") == 0
        assert one("SELECT count(*) FROM agents_agent") == 0
    with bind(cast.workspace):
        assert one("SELECT count(*) FROM agents_agent") == 2
    assert one("SELECT count(*) FROM agents_agent") == 0  # nothing bound: no rows


def test_a_row_cannot_refer_to_another_workspace(cast: Cast) -> None:
    with bind(cast.elsewhere), transaction.atomic():
        Conversation.objects.create(space_id=cast.space.pk)
        with pytest.raises(IntegrityError), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        transaction.set_rollback(True)


def test_a_row_never_moves(cast: Cast) -> None:
    with bind(cast.workspace):
        agent = Agent.objects.get(pk=cast.ceo.pk)
        agent.workspace_id = cast.elsewhere.pk
        with pytest.raises(Exception, match="never moves"):
            agent.save()


def test_a_write_needs_exactly_one_workspace(cast: Cast) -> None:
    with bind(cast.workspace, cast.elsewhere):
        assert Principal.objects.count() == 6
        with pytest.raises(SeveralWorkspacesBound):
            Space.objects.create(name="Both", slug="both")


def test_the_system_role_sees_all_and_only_within(cast: Cast) -> None:
    with across_workspaces():
        assert one("SELECT current_user") == "cc_system"
        assert Workspace.objects.count() == 2
        assert Principal.objects.count() == 6
    assert one("SELECT current_user") == "cc_app"
    assert Workspace.objects.count() == 0


def test_a_nested_binding_gives_way_to_the_outer_one(cast: Cast) -> None:
    with bind(cast.workspace):
        with bind(cast.elsewhere):
            assert Principal.objects.count() == 1
        assert tenancy.bound() == cast.workspace.pk
        assert Principal.objects.count() == 5
        with pytest.raises(ZeroDivisionError), bind(cast.elsewhere):
            _ = 1 / 0
        assert one("SELECT count(*) FROM workspaces_principal") == 5


def test_a_user_reads_own_memberships_without_a_workspace(cast: Cast) -> None:
    with tenancy.as_user(cast.ben.user_id):
        assert [m.workspace.slug for m in Membership.objects.select_related("workspace")] == [
            "analytical"
        ]
        assert Workspace.objects.count() == 1


def test_every_tenant_table_stands_behind_its_fences() -> None:
    """Read from the catalogue of PostgreSQL, so that a forgotten migration shows."""
    from django.apps import apps

    naked, unfenced = [], []
    for model in apps.get_models():
        if not issubclass(model, tenancy.TenantModel):
            continue
        table = model._meta.db_table
        forced = one(
            "SELECT relrowsecurity AND relforcerowsecurity FROM pg_class WHERE oid = %s::regclass",
            table,
        )
        policies = one("SELECT count(*) FROM pg_policies WHERE tablename = %s", table)
        if not forced or policies < 2:
            naked.append(table)
        fields: list[Any] = list(model._meta.local_fields)
        for field in fields:
            if isinstance(field, tenancy.FENCED) and not one(
                "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND condeferred"
                " AND conrelid = %s::regclass AND array_length(conkey, 1) = 2"
                " AND (SELECT attnum FROM pg_attribute WHERE attrelid = conrelid"
                "      AND attname = %s) = ANY (conkey)",
                table,
                field.column,
            ):
                unfenced.append(f"{table}.{field.column}")
            if field.many_to_one and not isinstance(field, tenancy.FENCED):
                target = field.related_model
                if isinstance(target, type) and issubclass(target, tenancy.TenantModel):
                    unfenced.append(f"{table}.{field.column} is an ordinary foreign key")
        assert not model._meta.local_many_to_many, f"{table}: write the middle table out"
    assert naked == []
    assert unfenced == []


def test_only_known_places_read_across_workspaces() -> None:
    root = Path(__file__).parents[2]
    rooms = "runs repositories guardrails spaces agents skills workspaces live controlcenter"
    callers = {
        file.relative_to(root).as_posix()
        for room in rooms.split()
        for file in (root / room).rglob("*.py")
        if "across_workspaces()" in file.read_text()
    }
    assert callers <= ACROSS


ACROSS = {
    "workspaces/tenancy.py",
    "workspaces/audit.py",
    "workspaces/members.py",
    "agents/management/workspaces.py",
    "agents/seeding.py",
    "skills/management/reporting.py",
    "skills/recovery.py",
    "runs/keeper.py",
    "runs/recovery.py",
    "runs/silence.py",
    "runs/live_state.py",
    "repositories/recovery.py",
    "guardrails/approvals.py",
}


def _restore(file: Path) -> None:
    file.write_text("before")


def test_what_was_written_outside_comes_back_when_the_transaction_fails(
    cast: Cast, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("before")

    def act() -> None:
        with bind(cast.workspace), bind(cast.workspace):
            tenancy.on_rollback(lambda: _restore(file))
            file.write_text("after")
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError):
        act()
    assert file.read_text() == "before"
