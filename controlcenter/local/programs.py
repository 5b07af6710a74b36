"""What each child does: web, gateway, the workers, the scheduler, the migration.

Each is a function that runs until its process gets TERM. Heavy imports that must not happen
before the fork (event loops) are made inside.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec

GATEWAY = "controlcenter.gateway"
STOP_SECONDS = 5


def load() -> None:
    """Import everything that the children share, once, before they are forked."""
    import django

    django.setup()
    from django.conf import settings
    from django.urls import get_resolver

    from controlcenter.celery import app

    app.loader.import_default_modules()
    _ = get_resolver(settings.ROOT_URLCONF).url_patterns
    import celery.apps.worker
    import celery.concurrency.thread
    import kombu.transport.redis
    import uvicorn.config  # noqa: F401
