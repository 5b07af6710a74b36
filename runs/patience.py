"""Waiting for a database that is away for a moment, as long as the run is still ours."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

from harness.errors import Released
from harness.stop import StopReason

from .keeper import Held

log = logging.getLogger(__name__)

AWAY = (OperationalError, InterfaceError)
RETRY_SECONDS = 0.3
Result = TypeVar("Result")


def patiently(held: Held, act: Callable[[bool], Result]) -> Result:
    """What `act` returns, tried again while the database is away; True says that it is a retry.

    What it does must be safe to repeat: a commit may have arrived although nobody heard of it.
    The connection is given back in any case. Raises Released once the lease may have run out, or
    when the process ends.
    """
    is_retry = False
    while True:
        try:
            return act(is_retry)
        except AWAY as error:
            log.warning("run %s waits for the database: %s", held.run.pk, error)
            is_retry = True
        finally:
            connection.close()
        if not held.is_ours or held.stop.reason is StopReason.RELEASE:
            raise Released("The database did not come back in time.")
        time.sleep(RETRY_SECONDS)
