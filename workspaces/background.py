"""Handing work to the background: on commit, by name and id, never with objects."""

import logging
from uuid import UUID

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)


def enqueue(task: str, *ids: UUID | str, queue: str = "system") -> None:
    """The task is queued once the transaction has committed.

    A broker that cannot be reached is logged, not raised: the act has happened, and each task has
    a sweep that finds what was not queued.
    """
    arguments = [str(each) for each in ids]

    def send() -> None:
        try:
            current_app.send_task(task, args=arguments, queue=queue)
        except (OperationalError, OSError) as error:
            log.warning("%s%s waits for its sweep: %s", task, tuple(arguments), error)

    transaction.on_commit(send)
