"""How often somebody may ask: a count a minute in Valkey, which may forget it."""

import logging
import time

from django.core.cache import cache
from redis.exceptions import RedisError

log = logging.getLogger(__name__)
MINUTE = 60


def seconds_to_wait(who: str, *, calls_a_minute: int) -> int:
    """0 when this call is within the minute's number, else after how many seconds one may be.

    A Valkey that cannot be reached counts nothing: the pace guards the server, not a right.
    """
    now = int(time.time())
    key = f"pace:{who}:{now // MINUTE}"
    try:
        cache.add(key, 0, timeout=2 * MINUTE)
        calls = cache.incr(key)
    except (RedisError, OSError, ValueError) as error:  # ValueError: it was wiped in between
        log.warning("Calls are not counted: %s", error)
        return 0
    return MINUTE - now % MINUTE if calls > calls_a_minute else 0
