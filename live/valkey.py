"""The way to Valkey, and the names of what the room keeps there."""

import os
from functools import cache
from typing import Any

import redis
import redis.asyncio
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from live.limits import limits

COUNTER_SECONDS = 7 * 24 * 3600
TEXT_SECONDS = 15 * 60

BOOT = "live:boot"
CONTROL = "live:control"

DOWN = (redis.exceptions.RedisError, OSError)


def client() -> redis.Redis:
    """A pooled client for threads; the same one for each call in a process."""
    return _client(_url(), os.getpid())


def connection_pool(**options: Any) -> redis.asyncio.ConnectionPool:
    """A pool for one event loop, whose connections never come back by themselves: a connection
    that healed in silence would hide the messages it lost."""
    return redis.asyncio.ConnectionPool.from_url(
        _url(),
        protocol=2,
        socket_connect_timeout=limits().patience_seconds,
        retry=redis.asyncio.retry.Retry(NoBackoff(), 0),
        **options,
    )


def lone_connection() -> Any:
    """A connection for a subscription: nobody else uses it, nothing brings it back, and it may
    be silent for as long as nothing happens."""
    pool: Any = connection_pool(socket_timeout=None, redis_connect_func=_greet_async)
    return pool.make_connection()


def channel(topic: str, locale: str) -> str:
    return f"live:{locale}:{topic}"


def topic(channel: str) -> str:
    return channel.split(":", 2)[2]


def channels(topic: str) -> list[str]:
    return [channel(topic, locale) for locale in locales()]


def locales() -> list[str]:
    return [code for code, _ in settings.LANGUAGES]


def counter(topic: str) -> str:
    return f"live:n:{topic}"


def open_blocks(topic: str) -> str:
    return f"live:blocks:{topic}"


def text(topic: str, block: str) -> str:
    """Of an open block; the block's name is the end of the key."""
    return f"live:text:{topic}#{block}"


def _url() -> str:
    return str(settings.REDIS_URL)


@cache
def _client(url: str, process: int) -> redis.Redis:
    # `process` is in the key so that a forked child opens connections of its own.
    return redis.Redis.from_url(
        url,
        protocol=2,
        socket_timeout=limits().patience_seconds,
        socket_connect_timeout=limits().patience_seconds,
        # One quick second try covers a connection that the server closed while it lay idle.
        retry=Retry(NoBackoff(), 1),
        redis_connect_func=_greet,
    )


def _greet(connection: Any) -> None:
    """Every connection that numbers messages begins by noting which life of Valkey it meets: a
    crash may have set counters back by up to a second, and `scripts` then begins a new epoch."""
    connection.on_connect()
    connection.send_command("INFO", "server")
    connection.send_command("SET", BOOT, _life(connection.read_response()))
    connection.read_response()


async def _greet_async(connection: Any) -> None:
    await connection.on_connect()
    await connection.send_command("INFO", "server")
    await connection.send_command("SET", BOOT, _life(await connection.read_response()))
    await connection.read_response()


def _life(info: bytes) -> str:
    lines = info.decode().splitlines()
    return next(line for line in lines if line.startswith("run_id:")).removeprefix("run_id:")
