"""Where the sockets are: `websockets` is the ASGI application for the protocol `websocket`."""

from channels.routing import URLRouter
from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from live.consumers import LiveConsumer
from live.origin import SameOrigin

websockets = SameOrigin(
    URLRouter(
        [
            path("live/", LiveConsumer.as_asgi()),
            re_path("", WebsocketDenier.as_asgi()),
        ]
    )
)
