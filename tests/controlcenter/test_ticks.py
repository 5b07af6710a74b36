"""What the scheduler and the start take from the settings is really there."""

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

from controlcenter.celery import QUEUES, app
from controlcenter.local.workers import pools


@pytest.mark.parametrize(("path", "every_seconds"), settings.CC_TICKS)
def test_every_tick_can_be_called(path: str, every_seconds: float) -> None:
    assert callable(import_string(path))
    assert every_seconds > 0


def test_the_applications_of_web_and_gateway_are_there() -> None:
    assert callable(import_string(settings.ASGI_APPLICATION))
    assert callable(import_string("controlcenter.gateway.application"))


def test_tasks_carry_json_only_and_their_queues_are_all_worked_on() -> None:
    assert app.conf.accept_content == ["json"]
    assert {queue for pool in pools() for queue in pool.queues} == set(QUEUES)
    app.loader.import_default_modules()
    used = {getattr(task, "queue", app.conf.task_default_queue) for task in app.tasks.values()}
    assert used <= set(QUEUES)
