"""An ASGI application behind the servers of `controlcenter.local`, on a socket that is open:
`python -m tests.live.serving daphne|uvicorn FD MODULE:NAME`."""

import socket
import sys
from importlib import import_module


def main(server: str, fd: str, app: str) -> None:
    module, _, name = app.partition(":")
    listener = socket.socket(fileno=int(fd))
    if server == "daphne":
        # Before the application: it chooses the reactor.
        from controlcenter.local.daphne_server import serve

        serve(getattr(import_module(module), name), listener, body_limit_bytes=2**20)
    else:
        from controlcenter.local.uvicorn_server import serve as serve_uvicorn

        serve_uvicorn(getattr(import_module(module), name), listener)


if __name__ == "__main__":
    main(*sys.argv[1:])
