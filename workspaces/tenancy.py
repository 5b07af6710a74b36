"""A tenant sees only itself.

Three fences stand behind one another: the manager refuses to read when no workspace is bound and
filters by it when one is; row-level security hides what the bound workspaces do not own; composite
foreign keys refuse a reference into another workspace. Only this module binds.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar
from uuid import UUID

from django.core.exceptions import FieldError
from django.db import connection, models, transaction

from .ids import uuid7
from .standby import standby

SYSTEM_ROLE = "cc_system"


class NoWorkspaceBound(RuntimeError):
    """A tenant table was asked for while no workspace was bound."""


class SeveralWorkspacesBound(RuntimeError):
    """A tenant row was to be written while several workspaces were bound."""


@dataclass(frozen=True, slots=True)
class Binding:
    workspaces: tuple[UUID, ...] = ()
    user: UUID | None = None
    system: bool = False


_NOTHING = Binding()
_binding: ContextVar[Binding] = ContextVar("tenancy_binding", default=_NOTHING)


def current() -> Binding:
    """What is bound in this thread or task."""
    return _binding.get()


def bound() -> UUID | None:
    """The one bound workspace, or None when there is none or several."""
    workspaces = current().workspaces
    return workspaces[0] if len(workspaces) == 1 else None


@contextmanager
def bind(*workspaces: "UUID | str | models.Model") -> Iterator[None]:
    """Within: one transaction that sees the rows of these workspaces; a write needs exactly one."""
    ids = tuple(_id_of(workspace) for workspace in workspaces)
    with _bound_as(replace(current(), workspaces=ids, system=False)):
        yield


@contextmanager
def as_user(user_id: UUID) -> Iterator[None]:
    """Within: the user's own memberships, their workspaces and API tokens can be read."""
    with _bound_as(replace(current(), user=user_id)):
        yield


@contextmanager
def across_workspaces() -> Iterator[None]:
    """Within: one transaction as the system role, which sees every workspace. For sweeps only."""
    with _bound_as(Binding(system=True)):
        yield


def call(workspace_id: UUID, function: str, *arguments: Any) -> Any:
    """What that function of the database returns, called in a transaction of its own that has the
    workspace bound, or in the caller's that has. One round trip, for what is called all the time.
    """
    statement = f"SELECT {function}({', '.join(['%s'] * len(arguments))})"
    if not connection.in_atomic_block:
        return standby().ask(f"{statement} {_BOUND}", [*arguments, str(workspace_id)])
    if bound() != workspace_id:
        raise NoWorkspaceBound("The open transaction is not bound to this workspace.")
    with connection.cursor() as cursor:
        cursor.execute(statement, arguments)
        return cursor.fetchone()[0]


# What stands behind FROM and WHERE is there before the function is called.
_BOUND = (
    "FROM (SELECT set_config('app.workspaces', %s, true), set_config('app.user_id', '', true))"
    " AS bound (workspaces, nobody) WHERE workspaces <> '' AND nobody = ''"
)


def _id_of(workspace: "UUID | str | models.Model") -> UUID:
    key = workspace.pk if isinstance(workspace, models.Model) else workspace
    return key if isinstance(key, UUID) else UUID(str(key))


def on_rollback(undo: Callable[[], None]) -> None:
    """Registers what puts things outside the database back when the bound transaction fails.

    Also when the commit itself fails; a file written inside the transaction is restored this way.
    """
    frames = _undo.get()
    if not frames:
        raise NoWorkspaceBound("Nothing is bound, so nothing can be rolled back together.")
    frames[-1].append(undo)


_undo: ContextVar[tuple[list[Callable[[], None]], ...]] = ContextVar("tenancy_undo", default=())


@contextmanager
def _bound_as(binding: Binding) -> Iterator[None]:
    before, frames = current(), _undo.get()
    undo: list[Callable[[], None]] = []
    frame_token = _undo.set((*frames, undo))
    try:
        with transaction.atomic():
            _tell_database(before, binding)
            token = _binding.set(binding)
            try:
                yield
            finally:
                _binding.reset(token)
            # After an error the roll-back to the savepoint brings the old values back by itself.
            _tell_database(binding, before)
    except BaseException:
        for step in reversed(undo):
            step()
        raise
    finally:
        _undo.reset(frame_token)
    if frames:
        frames[-1].extend(undo)


def _tell_database(before: Binding, after: Binding) -> None:
    with connection.cursor() as cursor:
        if before.system != after.system:
            cursor.execute(f"SET LOCAL ROLE {SYSTEM_ROLE if after.system else 'NONE'}")
        cursor.execute(
            "SELECT set_config('app.workspaces', %s, true), set_config('app.user_id', %s, true)",
            [",".join(map(str, after.workspaces)), str(after.user or "")],
        )


Row = TypeVar("Row", bound=models.Model)


class TenantManager(models.Manager[Row]):
    """Reads only what is bound, and says so when nothing is."""

    def get_queryset(self) -> models.QuerySet[Row]:
        binding, rows = current(), super().get_queryset()
        if binding.system:
            return rows
        if len(binding.workspaces) == 1:
            return rows.filter(workspace_id=binding.workspaces[0])
        if binding.workspaces:
            return rows.filter(workspace_id__in=binding.workspaces)
        raise NoWorkspaceBound(f"{self.model.__name__} was read while no workspace was bound.")


class OwnManager(TenantManager[Row]):
    """Also reads what the row-level policy on the signed-in user shows, and nothing else."""

    def get_queryset(self) -> models.QuerySet[Row]:
        if current().user and not current().workspaces and not current().system:
            return models.Manager.get_queryset(self)
        return super().get_queryset()


class Fenced:
    """A reference inside the workspace: its constraint is composite and written by TenantTable."""

    def __init__(self, to: Any, on_delete: Any, **kwargs: Any) -> None:
        super().__init__(to, on_delete, **(kwargs | {"db_constraint": False}))  # type: ignore[call-arg]

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()  # type: ignore[misc]
        kwargs.pop("db_constraint", None)
        return name, path, args, kwargs


class TenantKey(Fenced, models.ForeignKey):  # type: ignore[type-arg]
    """Many rows may hold it."""


class TenantOneToOne(Fenced, models.OneToOneField):  # type: ignore[type-arg]
    """At most one row holds it."""


FENCED = (TenantKey, TenantOneToOne)


class TenantModel(models.Model):
    """A row that belongs to exactly one workspace for its whole life."""

    _loaded_workspace: UUID | None = None

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    workspace = models.ForeignKey(
        "workspaces.Workspace", on_delete=models.CASCADE, related_name="+", editable=False
    )

    objects: ClassVar[TenantManager[Self]] = TenantManager()

    class Meta:
        abstract = True

    @classmethod
    def from_db(cls, *args: Any, **kwargs: Any) -> Self:
        row = super().from_db(*args, **kwargs)
        row._loaded_workspace = row.__dict__.get("workspace_id")
        return row

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Stores the row in the bound workspace.

        Raises NoWorkspaceBound, SeveralWorkspacesBound, or FieldError when the row was moved.
        """
        if self.__dict__.get("workspace_id") is None:
            self.workspace_id = writable_workspace()
        if self._loaded_workspace not in {None, self.workspace_id}:
            raise FieldError("A row never moves to another workspace.")
        super().save(*args, **kwargs)
        self._loaded_workspace = self.workspace_id


def writable_workspace() -> UUID:
    """The one workspace that new rows belong to.

    Raises NoWorkspaceBound or SeveralWorkspacesBound.
    """
    workspaces = current().workspaces
    if not workspaces:
        raise NoWorkspaceBound("A tenant row was to be written while no workspace was bound.")
    if len(workspaces) > 1:
        raise SeveralWorkspacesBound("A write needs exactly one bound workspace.")
    return workspaces[0]
