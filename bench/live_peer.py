"""The usual way, beside which `bench/live.py` measures: one member of a channel-layer group for
each socket, with the faster layer of channels_redis. `bench.live_peer:application`."""

import os
from typing import Any

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="a peer for the benchmark",
    CHANNEL_LAYERS={
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [os.environ["REDIS_URL"]]},
        }
    },
)
django.setup()

from channels.generic.websocket import AsyncWebsocketConsumer  # noqa: E402


class Member(AsyncWebsocketConsumer):  # type: ignore[misc]
    async def connect(self) -> None:
        await self.accept()
        await self.channel_layer.group_add("bench", self.channel_name)
        await self.send(text_data='{"joined": "bench"}')

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        pass

    async def event(self, message: dict[str, Any]) -> None:
        await self.send(text_data=message["text"])


member = Member.as_asgi()


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await member(scope, receive, send)
    elif scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"here"})
