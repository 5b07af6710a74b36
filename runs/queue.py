"""Ringing for a worker. The message is a doorbell: the run itself stands in PostgreSQL."""

from typing import Any

from celery import current_app
from django.db.models.functions import Now
from kombu.exceptions import ChannelError, OperationalError

from harness.seam import BUILT_IN_ADAPTER
from workspaces.background import enqueue

from .models import Run

EXECUTE = "runs.tasks.execute_run"


QUEUES = ("runs", "cli")


def ring(run: Run) -> None:
    """On commit a worker hears of the run. A lost ring is repeated by the recovery sweep."""
    Run.objects.filter(pk=run.pk).update(rung_at=Now())
    enqueue(EXECUTE, run.workspace_id, run.pk, queue=queue_of(run.adapter))


def queue_of(adapter: str) -> str:
    return "runs" if adapter == BUILT_IN_ADAPTER else "cli"


def waiting() -> dict[str, int]:
    """How many rings each queue holds that no worker has taken. Raises OperationalError."""
    with current_app.connection_for_read() as connection:
        connection.ensure_connection(max_retries=1, interval_start=0)
        try:
            channel = connection.channel()
            return {name: _length(channel, name) for name in QUEUES}
        except connection.recoverable_connection_errors as error:
            raise OperationalError(str(error)) from error


def _length(channel: Any, name: str) -> int:
    try:
        return int(channel.queue_declare(queue=name, passive=True).message_count)
    except ChannelError:
        return 0  # a queue that is empty does not exist
