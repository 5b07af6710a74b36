"""The page, the task and the tick of `small_settings`."""

import os
import threading

import redis
from celery import shared_task
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from controlcenter.onehop import PageHandler, Receive, Scope, Send


def facts(request: HttpRequest) -> HttpResponse:
    """Who serves, as which role, and what the task and the tick have counted."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        (user,) = cursor.fetchone()
    valkey = redis.Redis.from_url(settings.REDIS_URL, decode_responses=True)
    return JsonResponse(
        {
            "pid": os.getpid(),
            "user": user,
            "knows_owner": "DATABASE_OWNER_URL" in os.environ,
            "counts": {key: valkey.get(key) for key in ("task", "tick", "kept")},
        }
    )


def ring(request: HttpRequest) -> HttpResponse:
    count.apply_async(queue="runs")
    return HttpResponse("rung")


def work(request: HttpRequest) -> HttpResponse:
    work_on.apply_async(queue="runs")
    return HttpResponse("begun")


def keep(request: HttpRequest) -> HttpResponse:
    redis.Redis.from_url(settings.REDIS_URL).set("kept", "yes")
    return HttpResponse("kept")


def hang(request: HttpRequest) -> HttpResponse:
    redis.Redis.from_url(settings.REDIS_URL).set("kept", "hanging")
    threading.Event().wait(60)
    return HttpResponse("late")


@shared_task
def count() -> None:
    redis.Redis.from_url(settings.REDIS_URL).incr("task")


released = threading.Event()


@shared_task
def work_on() -> None:
    """A task of any length that ends early when its worker is told to stop."""
    valkey = redis.Redis.from_url(settings.REDIS_URL)
    valkey.set("kept", "working")
    if released.wait(60):
        valkey.set("kept", "let go")


def let_go() -> None:
    released.set()


def tick() -> None:
    redis.Redis.from_url(settings.REDIS_URL).incr("tick")


urlpatterns = [
    path("work", work),
    path("facts", facts),
    path("ring", ring),
    path("keep", keep),
    path("hang", hang),
]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    global _pages
    if _pages is None:
        _pages = PageHandler()
    await _pages(scope, receive, send)


_pages: PageHandler | None = None
