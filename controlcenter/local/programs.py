"""What each child does: web, gateway, the workers, the scheduler, the migration.

Each is a function that runs until its process gets TERM. What must not exist before the fork
(event loops, connections) is made inside.
"""

import gc
import os
import signal
import socket
import sys
import threading
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

from controlcenter.local.workers import Pool

GATEWAY = "controlcenter.gateway.application"

# Imported once by the supervisor, so that its children share them and start at once.
SHARED = (
    "billiard.pool", "celery.app.amqp", "celery.app.events", "celery.app.log",
    "celery.apps.worker", "celery.concurrency.thread", "celery.events.receiver",
    "celery.worker.autoscale", "celery.worker.components", "celery.worker.consumer",
    "celery.worker.control", "celery.worker.strategy", "kombu.transport.redis", "uvicorn",
)  # fmt: skip


def load() -> None:
    """Import Django, every room and what the children share. Opens no connection."""
    # What is imported stays: looking for garbage between the modules finds none, and takes a tenth.
    collecting = gc.isenabled()
    gc.disable()
    try:
        _load()
    finally:
        if collecting:
            gc.enable()


def _load() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlcenter.settings")
    django.setup()
    from django.conf import settings
    from django.urls import get_resolver

    from controlcenter.celery import app

    app.loader.import_default_modules()
    app.finalize()
    _ = get_resolver(settings.ROOT_URLCONF).url_patterns
    for module in SHARED:
        import_module(module)


def web(listener: socket.socket) -> None:
    """Pages and sockets, under Daphne or Uvicorn as CC_SERVER says."""
    from django.conf import settings
    from django.utils.module_loading import import_string

    from controlcenter.onehop import BODY_LIMIT_BYTES

    # WhiteNoise serves from where the files are; the collected copy is an operator's choice.
    warnings.filterwarnings("ignore", message="No directory at")
    if settings.SERVER == "uvicorn":
        from controlcenter.local import uvicorn_server

        uvicorn_server.serve(import_string(settings.ASGI_APPLICATION), listener)
        return
    from controlcenter.local import daphne_server  # before anything else may install a reactor

    application = import_string(settings.ASGI_APPLICATION)
    daphne_server.serve(application, listener, body_limit_bytes=BODY_LIMIT_BYTES)


def gateway(listener: socket.socket) -> None:
    """What streams or waits: git, the model proxy, MCP, hooks."""
    from django.conf import settings
    from django.utils.module_loading import import_string

    from controlcenter.local import uvicorn_server

    application = import_string(getattr(settings, "GATEWAY_APPLICATION", GATEWAY))
    uvicorn_server.serve(application, listener, *_door(settings))


def _door(settings: Any) -> list[socket.socket]:
    """The socket by which sandboxed commands reach the gateway, although they have no network."""
    if not getattr(settings, "GATEWAY_SOCKET", ""):
        return []
    path = Path(settings.GATEWAY_SOCKET)
    path.unlink(missing_ok=True)
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    door.bind(str(path))
    path.chmod(0o600)
    return [door]


def relay(door: socket.socket) -> None:
    """The gateway's door where the gateway is on another machine."""
    from controlcenter.local import relay as relaying

    relaying.serve(door, os.environ["CC_GATEWAY_URL"])


def worker(pool: Pool) -> None:
    """Celery on a pool of threads; TERM ends it when its tasks have given up their leases."""
    from celery.platforms import SecurityWarning
    from celery.signals import worker_shutting_down

    from controlcenter.celery import app

    # It warns of pickled messages under root; ours are JSON and nothing else is accepted.
    warnings.simplefilter("ignore", SecurityWarning)
    # `make check` has checked the program; the checks would read every page and model again.
    os.environ["CELERY_SKIP_CHECKS"] = "1"
    worker_shutting_down.connect(_tell_of_stopping)
    program = app.Worker(
        hostname=f"{pool.name}@{socket.gethostname()}",
        pool="threads",
        concurrency=pool.threads,
        queues=pool.queues,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    program.start()
    sys.exit(program.exitcode)


def _tell_of_stopping(**_: object) -> None:
    """Calls what `settings.CC_WORKER_STOPPING` names: long tasks end at their next event."""
    from django.conf import settings
    from django.utils.module_loading import import_string

    # We are inside a signal handler: whoever holds a lock there would never give it back.
    for path in getattr(settings, "CC_WORKER_STOPPING", ()):
        threading.Thread(target=import_string(path), name="stopping").start()


def scheduler() -> None:
    """The ticks of `settings.CC_TICKS`, in one scheduler of all that run."""
    from controlcenter.local import scheduler as ticking

    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    ticking.run(stop)


def migrate() -> None:
    """The database has the shape of this version; an unclaimed instance says its token."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.core.management import call_command
    from django.db import connections
    from django.db.migrations.executor import MigrationExecutor

    from controlcenter.local import blueprint

    executor = MigrationExecutor(connections["owner"])
    built = blueprint.build_new(executor)
    if later := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", database="owner", interactive=False, verbosity=0)
    if built or later:
        sys.stdout.write("The database has the shape of this version.\n")
    if settings.SETUP_TOKEN and not get_user_model()._default_manager.using("owner").exists():
        sys.stdout.write(
            "Others can reach this instance and nobody owns it yet. The first account asks for "
            f"this token:  {settings.SETUP_TOKEN}\n"
        )
