"""A site of a few views without a database, served as a process of its own by the tests."""

import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

from django.conf import settings

GATE = Path(sys.argv[3]) if len(sys.argv) > 3 else Path("gate")

settings.configure(
    SECRET_KEY="a key for tests",
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    DATA_UPLOAD_MAX_MEMORY_SIZE=25 * 2**20,
    FILE_UPLOAD_MAX_MEMORY_SIZE=2**20,
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.middleware.common.CommonMiddleware",
    ],
)

import django  # noqa: E402  # settings come first

django.setup()

from django.core.files.uploadedfile import UploadedFile  # noqa: E402
from django.core.signals import request_finished, request_started  # noqa: E402
from django.http import (  # noqa: E402
    FileResponse,
    HttpRequest,
    HttpResponse,
    JsonResponse,
    StreamingHttpResponse,
)
from django.urls import path  # noqa: E402

signals: list[str] = []
left_early = threading.Event()
is_waiting = threading.Event()
request_started.connect(lambda **_: signals.append("started"), weak=False)
request_finished.connect(lambda **_: signals.append("finished"), weak=False)


def hello(request: HttpRequest) -> HttpResponse:
    response = HttpResponse(f"hello {request.GET.get('name', '')}")
    response.set_cookie("seen", "yes")
    response.headers["X-Thread"] = threading.current_thread().name
    return response


def echo(request: HttpRequest) -> HttpResponse:
    """What arrived: the length, and whether it was kept on disk."""
    return JsonResponse({"bytes": len(request.body), "method": request.method})


def upload(request: HttpRequest) -> HttpResponse:
    files = cast(dict[str, "UploadedFile[bytes]"], request.FILES.dict())
    return JsonResponse({name: file.size for name, file in files.items()})


def broken(request: HttpRequest) -> HttpResponse:
    raise ValueError("this view is broken")


def endless(request: HttpRequest) -> StreamingHttpResponse:
    def parts() -> Iterator[bytes]:
        try:
            while True:
                yield b"x" * 65536
        finally:
            left_early.set()

    return StreamingHttpResponse(parts())


def numbers(request: HttpRequest) -> StreamingHttpResponse:
    return StreamingHttpResponse(f"{number}\n" for number in range(1000))


async def drip(request: HttpRequest) -> StreamingHttpResponse:
    async def parts() -> AsyncIterator[str]:
        for number in range(3):
            yield f"{number}\n"

    return StreamingHttpResponse(parts())


def file(request: HttpRequest) -> FileResponse:
    return FileResponse(GATE.open("rb"))


def waiting(request: HttpRequest) -> HttpResponse:
    """Holds its thread until the file appears that the test makes."""
    is_waiting.set()
    while not GATE.exists():
        threading.Event().wait(0.01)
    return HttpResponse("waited")


def facts(request: HttpRequest) -> HttpResponse:
    if "forget" in request.GET:
        signals.clear()
        left_early.clear()
    return JsonResponse(
        {
            "signals": list(signals),
            "left_early": left_early.is_set(),
            "is_waiting": is_waiting.is_set(),
        }
    )


urlpatterns = [
    path("", hello),
    path("echo", echo),
    path("upload", upload),
    path("broken", broken),
    path("endless", endless),
    path("numbers", numbers),
    path("drip", drip),
    path("file", file),
    path("waiting", waiting),
    path("facts", facts),
]

if __name__ == "__main__":
    settings.ROOT_URLCONF = "__main__"
    from controlcenter.onehop import BODY_LIMIT_BYTES, PageHandler

    server, descriptor = sys.argv[1], int(sys.argv[2])
    held = socket.socket(fileno=descriptor)
    if server == "daphne":
        from controlcenter.local import daphne_server

        daphne_server.serve(PageHandler(), held, body_limit_bytes=BODY_LIMIT_BYTES)
    else:
        from controlcenter.local import uvicorn_server

        uvicorn_server.serve(PageHandler(), held)
