"""The Celery application. Tasks are doorbells: they carry ids, PostgreSQL holds the truth.

Messages are acknowledged when a task starts (the lease in the database is the retry), carry JSON
only, and wait in four queues: `runs`, `cli`, `files`, `system`.
"""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlcenter.settings")

QUEUES = ("runs", "cli", "files", "system")

app = Celery("controlcenter")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
