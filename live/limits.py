"""Every interval and bound of the room, in one place, so that a test can shrink it."""

from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True)
class Limits:
    """Defaults; `settings.CC_LIVE = {"heartbeat_seconds": 1}` replaces some of them."""

    # What a tab may send.
    message_bytes: int = 4096
    # A page joins all its topics at once.
    message_burst: int = 150
    messages_per_second: float = 20
    topics_per_tab: int = 100
    tabs_per_user: int = 100
    # What is larger is fetched instead: a broadcast multiplies its bytes, and Daphne sends no
    # message above the limit that it has for those it gets (64 KB here).
    fragment_bytes: int = 48 * 1024
    # What may be on its way to a tab before it counts as slow.
    window_messages: int = 256
    window_bytes: int = 1024 * 1024
    queue_messages: int = 512
    queue_bytes: int = 1024 * 1024
    slow_seconds: float = 60
    # Who may still listen.
    session_seconds: float = 4
    recheck_seconds: float = 30
    # The hub's own connection.
    ping_seconds: float = 5
    backoff_seconds: float = 0.05
    backoff_max_seconds: float = 2
    join_seconds: float = 3
    # A publisher waits this long for a Valkey that does not answer; the tabs back-fill afterwards.
    patience_seconds: float = 1
    # Presence.
    heartbeat_seconds: float = 10
    expiry_seconds: float = 30
    linger_seconds: float = 3
    done_seconds: float = 20
    sweep_seconds: float = 2
    fan_out_seconds: float = 0.1
    # Notices and text.
    notice_seconds: float = 0.1
    delta_seconds: float = 0.04


def limits() -> Limits:
    return Limits(**getattr(settings, "CC_LIVE", {}))
