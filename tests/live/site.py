"""A site of nothing but the room, for a server process of its own: `tests.live.site:application`.

Who is signed in and who may join stands in Valkey, so that a story can change it while the server
runs: `site:session:<key>` → user, `site:topics:<user>` → topics, `site:private` → private ones.
"""

import json
import os
from typing import Any

import django
from django.conf import settings

if __name__ == "tests.live.site" and not settings.configured:
    settings.configure(
        SECRET_KEY="a site for tests",
        ALLOWED_HOSTS=["127.0.0.1", "localhost"],
        INSTALLED_APPS=["live"],
        LANGUAGES=[("en", "English"), ("pt", "Portuguese")],
        REDIS_URL=os.environ["REDIS_URL"],
        SESSION_ENGINE="tests.live.site",
        AUTHENTICATION_BACKENDS=["tests.live.site.Backend"],
        CC_LIVE_ACCESS="tests.live.site.may_join",
        CC_LIVE={
            name.removeprefix("CC_LIVE_").lower(): json.loads(value)
            for name, value in os.environ.items()
            if name.startswith("CC_LIVE_")
        },
    )
    django.setup()

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

from live import valkey
from live.access import JoinGrant
from live.routing import websockets
from tests.live import pages

CSP = b"default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; style-src 'self'"


class Person:
    def __init__(self, pk: str) -> None:
        self.pk = pk

    def get_session_auth_hash(self) -> str:
        return f"hash of {self.pk}"

    def get_session_auth_fallback_hash(self) -> list[str]:
        return []


class Backend:
    def get_user(self, user_id: str) -> Person | None:
        return Person(user_id)


class SessionStore(dict[str, Any]):
    def __init__(self, session_key: str = "") -> None:
        user: Any = valkey.client().get(f"site:session:{session_key}")
        if user:
            self[SESSION_KEY] = user.decode()
            self[BACKEND_SESSION_KEY] = "tests.live.site.Backend"
            self[HASH_SESSION_KEY] = Person(user.decode()).get_session_auth_hash()

    def exists(self, session_key: str) -> bool:
        return bool(valkey.client().exists(f"site:session:{session_key}"))


def may_join(user_id: str, session_key: str, topic: str) -> JoinGrant | None:
    client = valkey.client()
    if not client.sismember(f"site:topics:{user_id}", topic):
        return None
    scope = topic.split("/")[1] if topic.startswith("w/") else ""
    return JoinGrant(user_id, scope, bool(client.sismember("site:private", topic)))


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await websockets(scope, receive, send)
    elif scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
    else:
        status, kind, body = pages.answer(
            scope["path"], scope["query_string"].decode(), pages.user_of(scope["headers"])
        )
        headers = [(b"content-type", kind), (b"content-security-policy", CSP)]
        if status == 302:
            headers.append((b"location", b"/"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
