"""Uvicorn on a socket that is already open."""

import socket
from typing import Any

import uvicorn

FINISH_SECONDS = 3
SOCKET_MESSAGE_BYTES = 64 * 1024


def serve(application: Any, *listeners: socket.socket) -> None:
    """Serve until TERM; returns when the requests in progress are answered, 3 s at most."""
    config = uvicorn.Config(
        application,
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=SOCKET_MESSAGE_BYTES,
        # Each tab would have its own compressor, and a broadcast be compressed for each of them.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=FINISH_SECONDS,
    )
    uvicorn.Server(config).run(sockets=list(listeners))
