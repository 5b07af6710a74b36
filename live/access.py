"""Who may listen. The rule itself belongs to a higher face; `settings.CC_LIVE_ACCESS` names it.

    def may_join(user_id: str, session_key: str, topic: str) -> JoinGrant | None

None for a topic that does not exist and for one that is not theirs: the tab cannot tell which.
Everything here may read the database and is called in a thread, never in the event loop.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Protocol

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, load_backend
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.module_loading import import_string


@dataclass(frozen=True)
class JoinGrant:
    """A reader may listen to a topic.

    `principal` and `scope`: who the reader is in the presence of which scope (a workspace's id);
    empty where reading a topic shows nobody. `is_private`: outside of the topic nobody is told
    that the reader is there."""

    principal: str = ""
    scope: str = ""
    is_private: bool = False


class MayJoin(Protocol):
    def __call__(self, user_id: str, session_key: str, topic: str) -> JoinGrant | None: ...


def may_join(user_id: str, session_key: str, topic: str) -> JoinGrant | None:
    return _rule(settings.CC_LIVE_ACCESS)(user_id, session_key, topic)


def still_granted(
    user_id: str, session_key: str, topics: Iterable[str]
) -> dict[str, JoinGrant] | None:
    """The grants that hold now, or None when that session is no longer signed in as that user."""
    if signed_in(session_key) != user_id:
        return None
    grants = {topic: may_join(user_id, session_key, topic) for topic in topics}
    return {topic: grant for topic, grant in grants.items() if grant is not None}


def signed_in(session_key: str) -> str | None:
    """The id of the active user whose session this is. Reads only: unlike Django's own `get_user`
    it never rotates or flushes a session, which a socket could not tell its browser."""
    session = _store()(session_key)
    try:
        user_id, path, given = (
            session[key] for key in (SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY)
        )
    except KeyError:
        return None
    if path not in settings.AUTHENTICATION_BACKENDS:
        return None
    user: Any = load_backend(path).get_user(user_id)
    if user is None:
        return None
    hashes = [user.get_session_auth_hash(), *user.get_session_auth_fallback_hash()]
    return str(user.pk) if any(constant_time_compare(given, known) for known in hashes) else None


def open_sessions(session_keys: set[str]) -> set[str]:
    """Those of the sessions that are neither ended nor run out; one query where they are rows."""
    store = _store()
    if hasattr(store, "get_model_class"):
        rows = store.get_model_class().objects.filter(
            session_key__in=session_keys, expire_date__gt=timezone.now()
        )
        return set(rows.values_list("session_key", flat=True))
    return {key for key in session_keys if store().exists(key)}


def _store() -> Any:
    return import_module(settings.SESSION_ENGINE).SessionStore


@lru_cache
def _rule(path: str) -> MayJoin:
    rule: MayJoin = import_string(path)
    return rule
