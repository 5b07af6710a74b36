"""The migration operation that puts a tenant table behind its fences in PostgreSQL."""

from typing import Any

from django.db.migrations.operations.base import Operation

from .tenancy import FENCED

BOUND = "nullif(current_setting('app.workspaces', true), '')"
IN_BOUND = f"ANY (string_to_array({BOUND}, ',')::uuid[])"
USER = "nullif(current_setting('app.user_id', true), '')::uuid"


class TenantTable(Operation):
    """UNIQUE (workspace_id, id), composite foreign keys, forced row-level security, and grants.

    `own` is an SQL condition for a second, read-only policy on the signed-in user;
    `rights` are what the application and system roles hold, to withhold UPDATE or DELETE;
    `references` adds composite keys for plain UUID columns: {"column": "app.Model"}.
    """

    reduces_to_sql = True
    reversible = True

    def __init__(
        self,
        model: str,
        *,
        own: str = "",
        rights: str = "SELECT, INSERT, UPDATE, DELETE",
        key: str = "workspace_id",
        references: dict[str, str] | None = None,
    ) -> None:
        self.model, self.own, self.rights, self.key = model, own, rights, key
        self.references = references or {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """The fences change the database, not the models."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        model = to_state.apps.get_model(app_label, self.model)
        table = model._meta.db_table
        for statement in self._statements(model, table, to_state.apps):
            schema_editor.execute(statement)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        """The table's own removal takes the fences along."""

    def describe(self) -> str:
        return f"Fence {self.model} by its workspace"

    def _statements(self, model: Any, table: str, apps: Any) -> list[str]:
        lines = [
            f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY',
            f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY',
            f'CREATE POLICY tenant ON "{table}" TO cc_app'
            f" USING ({self.key} = {IN_BOUND}) WITH CHECK ({self.key} = {IN_BOUND})",
            f'CREATE POLICY everything ON "{table}" TO cc_system, cc_owner'
            " USING (true) WITH CHECK (true)",
            f'REVOKE ALL ON "{table}" FROM cc_app',
            f'GRANT {self.rights} ON "{table}" TO cc_app, cc_system',
        ]
        if self.own:
            lines.append(f'CREATE POLICY own ON "{table}" FOR SELECT TO cc_app USING ({self.own})')
        if self.key == "id":
            return lines
        lines.append(
            f'ALTER TABLE "{table}" ADD CONSTRAINT "{table}_tenant" UNIQUE (workspace_id, id)'
        )
        for field in model._meta.local_fields:
            if isinstance(field, FENCED):
                lines.append(_reference(table, field.column, field.related_model._meta.db_table))
        for column, label in self.references.items():
            lines.append(_reference(table, column, apps.get_model(label)._meta.db_table))
        return lines


class TenantReference(Operation):
    """A composite foreign key for a reference that joined a fenced table later, or from above."""

    reduces_to_sql = True
    reversible = True

    def __init__(self, model: str, column: str, to: str, *, on_delete: str = "NO ACTION") -> None:
        self.model, self.column, self.to, self.on_delete = model, column, to, on_delete

    def state_forwards(self, app_label: str, state: Any) -> None:
        """The reference changes the database, not the models."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        source = self.model if "." in self.model else f"{app_label}.{self.model}"
        table = to_state.apps.get_model(source)._meta.db_table
        target = to_state.apps.get_model(self.to)._meta.db_table
        schema_editor.execute(_reference(table, self.column, target, self.on_delete))

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        source = self.model if "." in self.model else f"{app_label}.{self.model}"
        table = from_state.apps.get_model(source)._meta.db_table
        schema_editor.execute(
            f'ALTER TABLE "{table}" DROP CONSTRAINT "{_name(table, self.column)}"'
        )

    def describe(self) -> str:
        return f"Fence {self.model}.{self.column} by its workspace"


def _name(table: str, column: str) -> str:
    return f"{table}_{column}_fence"


def _reference(table: str, column: str, target: str, on_delete: str = "NO ACTION") -> str:
    return (
        f'ALTER TABLE "{table}" ADD CONSTRAINT "{_name(table, column)}"'
        f' FOREIGN KEY (workspace_id, "{column}") REFERENCES "{target}" (workspace_id, id)'
        f" ON DELETE {on_delete}"
        " DEFERRABLE INITIALLY DEFERRED"
    )
