"""The gateway's door on a machine where the gateway is not: a socket file that leads to it.

A sandboxed command has no network; the socket file is mounted into the sandbox.
"""

import asyncio
import signal
import socket
from urllib.parse import urlsplit

PIECE_BYTES = 64 * 1024


def serve(door: socket.socket, address: str) -> None:
    """Every connection to the door goes on to the gateway's address, until TERM."""
    asyncio.run(_serve(door, address))


async def _serve(door: socket.socket, address: str) -> None:
    is_over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, is_over.set)
    server = await asyncio.start_unix_server(Relay(address).connect, sock=door)
    await is_over.wait()
    server.close()


class Relay:
    """Bytes both ways, at the pace of the slower side."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._is_encrypted = parts.scheme == "https"
        self._host = parts.hostname or "127.0.0.1"
        self._port = parts.port or (443 if self._is_encrypted else 80)

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(
                self._host, self._port, ssl=self._is_encrypted or None
            )
        except OSError:
            writer.close()  # git says that nobody answered, and may try again
            return
        try:
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
        except OSError:
            pass  # one side is gone, and so is the talk
        finally:
            writer.close()
            far_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(PIECE_BYTES):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
