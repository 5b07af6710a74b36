"""Settings of a worker on a machine whose clock is an hour ahead."""

from datetime import datetime, timedelta

from django.utils import timezone

from controlcenter.settings import *  # noqa: F403

_right = timezone.now


def _wrong() -> datetime:
    return _right() + timedelta(hours=1)


timezone.now = _wrong
