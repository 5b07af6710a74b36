"""The ASGI application below `/git/`: smart HTTP for the git of a run.

`/git/<name>/…` with the token in the Authorization header, or `/git/<token>/<name>/…`.
"""

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs

from django.conf import settings
from django.utils.translation import gettext as _

from outside import git
from repositories import adding, places
from repositories.models import Repository
from repositories.submitting import NotHere, repository_of
from workspaces.credentials import CannotUnseal

from . import pktline, tokens, web
from .receiving import receive_pack
from .spool import Gone, Refused, unfolded
from .tokens import Grant

log = logging.getLogger(__name__)

AGENT = "control-center"
MAX_FETCH_REQUEST = 64 * 2**20
UPLOAD, RECEIVE = "git-upload-pack", "git-receive-pack"


async def application(scope: web.Message, receive: web.Receive, send: web.Send) -> None:
    """One request. Whatever the client sends, it gets an answer that git can show."""
    request = web.Request.of(scope, receive)
    try:
        grant, rest = await web.in_thread(_admit, request)
        await _serve(request, grant, rest, send)
    except tokens.BadToken as error:
        await web.answer(send, 403, f"{error}\n".encode())
    except NotHere as error:
        await web.answer(send, 404, f"{error}\n".encode())
    except Refused as error:
        await web.answer(send, 413, f"{error}\n".encode())
    except Gone as error:
        log.info("a git client is gone: %s", error)
        await web.answer(send, 408, f"{error}\n".encode())


def _admit(request: web.Request) -> tuple[Grant, tuple[str, ...]]:
    """The grant and what of the path follows the repository's name. Raises BadToken or NotHere."""
    parts = request.parts[1:]
    token = request.token
    if parts and "~" in parts[0]:
        token, parts = parts[0], parts[1:]
    grant = tokens.read(token)
    name = parts[0].removesuffix(".git") if parts else ""
    if name != grant.repository:
        raise NotHere(_("This git token is for another repository."))
    tokens.require_run(grant)
    return grant, parts[1:]


async def _serve(request: web.Request, grant: Grant, rest: tuple[str, ...], send: web.Send) -> None:
    service = parse_qs(request.query).get("service", [""])[0]
    match request.method, rest:
        case "GET", ("info", "refs") if service == UPLOAD:
            await _advertise_fetch(request, grant, send)
        case "GET", ("info", "refs") if service == RECEIVE:
            await _advertise_push(grant, send)
        case "POST", (name,) if name == UPLOAD:
            await _fetch(request, grant, send)
        case "POST", (name,) if name == RECEIVE:
            await receive_pack(request, grant, send)
        case _:
            await web.answer(send, 404, b"Only git's own requests are answered here.\n")


async def _advertise_push(grant: Grant, send: web.Send) -> None:
    kind = f"application/x-{RECEIVE}-advertisement"
    try:
        refs = await web.in_thread(_fresh_refs, grant)
    except git.GitError as error:
        await web.answer(send, 200, _trouble(RECEIVE, error.sentence), kind)
        return
    await web.answer(send, 200, pktline.advertisement(refs, agent=AGENT), kind)


async def _advertise_fetch(request: web.Request, grant: Grant, send: web.Send) -> None:
    kind = f"application/x-{UPLOAD}-advertisement"
    try:
        view = await web.in_thread(_fresh_view, grant)
    except git.GitError as error:
        await web.answer(send, 200, _trouble(UPLOAD, error.sentence), kind)
        return
    protocol = request.headers.get("git-protocol", "")
    await web.begin(send, 200, kind)
    if protocol != "version=2":
        header = f"# service={UPLOAD}\n".encode()
        await web.piece(send, pktline.packet(header) + pktline.FLUSH)
    async for chunk in git.upload_pack(view, _nothing(), protocol=protocol, advertise=True):
        await web.piece(send, chunk)
    await web.finish(send)


async def _fetch(request: web.Request, grant: Grant, send: web.Send) -> None:
    repository = await web.in_thread(repository_of, grant.origin, grant.repository)
    view = git.serving_path(places.mirror(grant.origin.workspace_id, repository.name))
    body = _bounded(unfolded(request.body(), request.is_gzip))
    protocol = request.headers.get("git-protocol", "")
    await web.begin(send, 200, f"application/x-{UPLOAD}-result")
    async for chunk in git.upload_pack(view, body, protocol=protocol):
        await web.piece(send, chunk)
    await web.finish(send)


def _fresh_refs(grant: Grant) -> dict[str, str]:
    repository = _refreshed(grant)
    return git.mirrored(places.mirror(grant.origin.workspace_id, repository.name))


def _fresh_view(grant: Grant) -> Path:
    repository = _refreshed(grant)
    mirror = places.mirror(grant.origin.workspace_id, repository.name)
    return git.serving_view(mirror, default_branch=repository.default_branch)


def _refreshed(grant: Grant) -> Repository:
    """The repository, its mirror as new as it can be had. Raises a GitError without any mirror."""
    repository = repository_of(grant.origin, grant.repository)
    try:
        adding.refresh(repository, max_age_seconds=settings.MIRROR_FRESH_SECONDS)
    except (git.GitError, CannotUnseal) as error:
        if not repository.is_ready:
            raise git.Unreachable(str(error)) from error
        log.warning("%s is served as it was last fetched: %s", repository.name, error)
    return repository


def _trouble(service: str, sentence: str) -> bytes:
    """An advertisement that makes git print `fatal: remote error: …`."""
    header = pktline.packet(f"# service={service}\n".encode()) + pktline.FLUSH
    return header + pktline.packet(f"ERR {sentence}\n".encode())


async def _bounded(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in body:
        size += len(chunk)
        if size > MAX_FETCH_REQUEST:
            return
        yield chunk


async def _nothing() -> AsyncIterator[bytes]:
    empty: tuple[bytes, ...] = ()
    for chunk in empty:
        yield chunk
