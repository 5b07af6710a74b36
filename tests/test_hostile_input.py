"""Whatever somebody puts into an address, a query, a form or a body: an answer, and never a fault.

Each route gets all its fields with each hostile value, and its own alone with the worst of them.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.db import transaction
from django.test import Client
from django.urls import get_resolver

from tests.cast import Cast
from tests.test_access_matrix import API, INSIDE, MATRIX, World

pytestmark = [pytest.mark.django_db, pytest.mark.soak, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[1]
VALUES = {
    "nul": "a\x00b",
    "path": "../../../../etc/passwd",
    "back": "..\\..\\x",
    "tags": "\u202e\U000e0041\u200b\ufeff",
    "nfd": "cafe\u0301",
    "huge number": "9" * 400,
    "infinity": "1e999",
    "not a number": "NaN",
    "minus": "-1",
    "digits elsewhere": "\u0661\u0662",
    "superscript": "²",
    "almost a key": "00000000-0000-0000-0000-00000000000g",
    "a key": "00000000-0000-7000-8000-000000000000",
    "markup": "<script>{{ x }}{% y %}\"'`</script>",
    "lines": "a\r\nSet-Cookie: x=1\n\n",
    "percent": "%s%(x)s%n{0}",
    "json": '{"a": [1, {"b": null}]}',
    "deep": "[" * 3000,
    "date": "2026-02-30T25:61",
    "long": "x" * 70_000,
    "list": "a,,b;c\n\n,",
}
WORST = ("nul", "almost a key")
TOO_LONG = ("long", "deep")  # no server takes such an address
RAW = ["%00", "%FF", "%ED%A0%80", "..%2f..%2fetc", "%0d%0aX:y", "a" * 300, "%E2%80%AE"]
# How programs and people read a request, in the sources of the views and forms.
_READ = re.compile(
    r"""(?:POST|GET|FILES|data|query|form)(?:\.get(?:list)?)?[\[(]\s*["']([a-z_]+)["']"""
)
_FIELD = re.compile(r"^    (\w+)(?:: [^=\n]+)?(?: = .*)?(?:Field\(|: [a-z])", re.MULTILINE)


def own_fields(name: str) -> set[str]:
    """The names that the view's own module reads."""
    return set(_names_in(inspect.getsource(sys.modules[_view(name).__module__])))


def fields_of(name: str) -> list[str]:
    """Those, and the fields of the room's forms and programs."""
    room = _view(name).__module__.partition(".")[0]
    near = [path for path in (ROOT / room / "forms.py", ROOT / room / "api.py") if path.exists()]
    others = {field for path in near for field in _names_in(path.read_text())}
    return sorted(own_fields(name) | others | {"q", "page", "after", "before", "next"})


def _names_in(source: str) -> list[str]:
    return [*_READ.findall(source), *_FIELD.findall(source)]


def _view(name: str) -> Any:
    def walk(patterns: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        for each in patterns:
            if hasattr(each, "url_patterns"):
                inner = f"{prefix}{each.namespace}:" if each.namespace else prefix
                yield from walk(each.url_patterns, inner)
            else:
                yield f"{prefix}{each.name}", each.callback

    view = dict(walk(get_resolver().url_patterns, ""))[name]
    while hasattr(view, "__wrapped__"):
        view = view.__wrapped__
    return view


ROOMS = sorted({name.partition(":")[0] for name in (*INSIDE, *API)})


@pytest.fixture
def world(cast: Cast) -> World:
    return World(cast)


@pytest.fixture
def owner(world: World) -> Client:
    client = world.client("owner")
    client.raise_request_exception = False
    return client


@contextmanager
def undone() -> Iterator[None]:
    """What one route did is no more when the next one is asked."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def routes_of(room: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(f"{room}:"))


def test_the_fields_of_a_view_are_found() -> None:
    assert {"adapter_id", "model_id"} <= set(fields_of("agents:agent-runs-on"))


@pytest.mark.parametrize("room", ROOMS)
def test_a_page_answers_whatever_it_is_sent(room: str, world: World, owner: Client) -> None:
    faults: list[str] = []
    for name in routes_of(room, INSIDE):
        address = world.address(name, workspace="analytical", rows=world.own)
        for method in MATRIX[name][1].split():
            send: Callable[..., Any] = owner.get if method == "GET" else owner.post
            for kind, data in sent_to(name, is_get=method == "GET"):
                with undone():
                    if send(address, data).status_code >= 500:
                        faults.append(f"{name} {method} {kind}")
    assert not faults, "\n".join(faults)


def sent_to(name: str, *, is_get: bool) -> Iterator[tuple[str, dict[str, str]]]:
    fields = fields_of(name)
    for kind, value in VALUES.items():
        if not (is_get and kind in TOO_LONG):
            yield kind, dict.fromkeys(fields, value)
    for field in sorted(own_fields(name)):
        for kind in WORST:
            yield f"{field}: {kind}", {field: VALUES[kind]}


@pytest.mark.parametrize("room", sorted({name.partition(":")[0] for name in API}))
def test_an_api_answers_whatever_it_is_sent(
    room: str, world: World, owner: Client, settings: Any
) -> None:
    faults: list[str] = []
    settings.API_CALLS_A_MINUTE = 1_000_000
    for name in routes_of(room, API):
        address = world.address(name, workspace="analytical", rows=world.own)
        for method in API[name]:
            for body in bodies_for(name) if method != "GET" else ():
                with undone():
                    answer = owner.generic(method, address, body, content_type="application/json")
                    if answer.status_code >= 500:
                        faults.append(f"{name} {method} {body[:80]!r}")
            for kind in WORST:
                query = "&".join(f"{field}={quote(VALUES[kind])}" for field in fields_of(name))
                with undone():
                    if owner.generic(method, f"{address}?{query}").status_code >= 500:
                        faults.append(f"{name} {method} query: {kind}")
    assert not faults, "\n".join(faults)


def bodies_for(name: str) -> Iterator[bytes]:
    fields = fields_of(name)
    yield from (b"", b"null", b"[]", b"{", b"\xff\xfe", b'"x"', b"[" * 100_000, b'{"a": 1e999}')
    odd: tuple[Any, ...] = (*VALUES.values(), None, True, -1, [], {}, [None], 10**30)
    for value in odd:
        yield json.dumps(dict.fromkeys(fields, value)).encode()
    for field in fields:
        yield json.dumps({field: VALUES["nul"]}).encode()


@pytest.mark.parametrize("room", ROOMS)
def test_an_address_answers_whatever_stands_in_it(room: str, world: World, owner: Client) -> None:
    faults: list[str] = []
    for name in routes_of(room, (*INSIDE, *API)):
        address = world.address(name, workspace="analytical", rows=world.own)
        parts = address.split("/")
        for raw in RAW:
            for at in (at for at, part in enumerate(parts) if part):
                changed = "/".join([*parts[:at], raw, *parts[at + 1 :]])
                if owner.get(changed).status_code >= 500:
                    faults.append(changed)
            if owner.get(f"{address}?q={raw}&page={raw}&after={raw}").status_code >= 500:
                faults.append(f"{address}?q={raw}")
    assert not faults, "\n".join(faults)
