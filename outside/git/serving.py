"""Serves fetches from a mirror: the far end of a run's `git fetch`, which never sees the remote."""

import asyncio
import re
import signal
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from os import killpg
from pathlib import Path

from . import directories, remotes
from .command import Command

_VERSION = re.compile(r"version=[12]\Z")
CHUNK = 1 << 16
FETCH_SECONDS = 900


def serving_view(mirror: Path, *, default_branch: str) -> Path:
    """A bare directory beside the mirror that shows its refs by the names that the remote has."""
    view = serving_path(mirror)
    refs = remotes.mirrored(mirror)
    directories.lay_out(view, head=f"refs/heads/{default_branch}", objects_from=[mirror])
    directories.write_refs(view, refs)
    return view


def serving_path(mirror: Path) -> Path:
    """Where the view of a mirror lies."""
    return mirror.with_name(f"{mirror.stem}.served")


def upload_pack(
    view: Path, body: AsyncIterable[bytes], *, protocol: str = "", advertise: bool = False
) -> AsyncIterator[bytes]:
    """The answer of one stateless upload-pack request, as it comes.

    `protocol` is the client's Git-Protocol header. The process ends with the iteration.
    """
    options = ("--stateless-rpc", "--strict", *(("--http-backend-info-refs",) if advertise else ()))
    command = Command("upload-pack", options, (str(view),), environment=_spoken(protocol))
    return _exchange(command, body)


def _spoken(protocol: str) -> dict[str, str]:
    return {"GIT_PROTOCOL": protocol} if _VERSION.match(protocol) else {}


async def _exchange(command: Command, body: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    process = await asyncio.create_subprocess_exec(
        *command.argv(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=command.environ(),
        cwd="/",
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    feeding = asyncio.create_task(_feed(process.stdin, body))
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            while chunk := await process.stdout.read(CHUNK):
                yield chunk
    finally:
        feeding.cancel()
        with suppress(ProcessLookupError, PermissionError):
            killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _feed(stdin: asyncio.StreamWriter, body: AsyncIterable[bytes]) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):
        async for chunk in body:
            stdin.write(chunk)
            await stdin.drain()
        stdin.close()
