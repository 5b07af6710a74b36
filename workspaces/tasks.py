"""Deliveries of the workspaces room."""

from uuid import UUID

from celery import shared_task

from harness.providers.check import try_connection
from runs.briefing import provider_settings

from . import connections
from .credentials import CannotUnseal
from .models import ModelConnection
from .tenancy import bind


@shared_task(name="workspaces.tasks.check_connection")
def check_connection(workspace_id: str, connection_id: str) -> None:
    """Asks the provider once and writes down in words how it went."""
    with bind(workspace_id):
        connection = (
            ModelConnection.objects.select_related("credential")
            .filter(pk=UUID(connection_id))
            .first()
        )
        if connection is None:
            return
        try:
            settings = provider_settings(connection)
        except CannotUnseal as error:
            connections.note_check(connection, ok=False, sentence=str(error))
            return
    result = try_connection(settings, model=connection.default_model)
    with bind(workspace_id):
        connections.note_check(connection, ok=result.ok, sentence=result.sentence)
