"""Deliveries of the runs room."""

from uuid import UUID

from celery import shared_task
from celery.signals import worker_shutting_down

from . import runner
from .keeper import keeper


@shared_task(name="runs.tasks.execute_run")
def execute_run(workspace_id: str, run_id: str) -> None:
    runner.execute(UUID(workspace_id), UUID(run_id))


@worker_shutting_down.connect
def give_up_runs(**_facts: object) -> None:
    """On TERM every run of this process stops at its next event and goes on in another."""
    keeper.close()
