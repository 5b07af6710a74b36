"""The web process: pages through one thread hop, sockets through Channels."""

import os

import django
from channels.routing import ProtocolTypeRouter

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlcenter.settings")
django.setup()

from controlcenter.onehop import PageHandler  # noqa: E402 they need the settings
from live.routing import websockets  # noqa: E402

application = ProtocolTypeRouter({"http": PageHandler(), "websocket": websockets})
