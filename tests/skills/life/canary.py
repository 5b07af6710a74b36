"""Looks for a text everywhere that this program keeps or says anything."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import redis
from django.conf import settings
from django.db import connections


@dataclass
class Ears:
    """Everything that was published in Valkey while it listened."""

    heard: list[bytes] = field(default_factory=list)


@contextmanager
def listening() -> Iterator[Ears]:
    """Within: every message on every channel is kept."""
    ears, ready, stop = Ears(), threading.Event(), threading.Event()

    def listen() -> None:
        client = redis.Redis.from_url(settings.REDIS_URL)
        with client.pubsub() as channels:  # type: ignore[no-untyped-call]
            channels.psubscribe("*")
            while not stop.is_set():
                message = channels.get_message(timeout=0.2)
                if message and message["type"] == "psubscribe":
                    ready.set()
                elif message:
                    ears.heard.append(repr(message).encode())
        client.close()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield ears
    finally:
        stop.set()
        thread.join()


def places(canary: str, folders: list[Path]) -> list[str]:
    """Where the text is: files (names and bytes), rows of every table, keys of Valkey."""
    needles = [form.encode() for form in (canary, canary.encode().hex())]
    return [*_in_files(needles, folders), *_in_tables(needles), *_in_valkey(needles)]


def _hit(data: bytes, needles: list[bytes]) -> bool:
    return any(needle in data for needle in needles)


def _in_files(needles: list[bytes], folders: list[Path]) -> Iterator[str]:
    for folder in folders:
        for path in folder.rglob("*"):
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            target = str(path.readlink()).encode() if path.is_symlink() else b""
            if _hit(str(path).encode() + b"\n" + data + target, needles):
                yield f"file {path}"


def _in_tables(needles: list[bytes]) -> Iterator[str]:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            for (row,) in cursor.fetchall():
                if _hit(row.encode(), needles):
                    yield f"table {table}: {row[:300]}"


def _in_valkey(needles: list[bytes]) -> Iterator[str]:
    client = redis.Redis.from_url(settings.REDIS_URL)
    for key in client.scan_iter(count=1000):
        if _hit(key + b"\n" + (client.dump(key) or b""), needles):
            yield f"valkey {key!r}"
    client.close()
