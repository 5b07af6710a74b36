"""Whose session it is, asked as a socket asks: without changing anything."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone

from live import access

if TYPE_CHECKING:
    from tests.cast import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(cast: "Cast", settings: Any) -> SessionStore:
    """Ada has signed in."""
    store = SessionStore()
    store[SESSION_KEY] = str(cast.ada.user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = cast.ada.user.get_session_auth_hash()
    store.create()
    return store


def key(store: SessionStore) -> str:
    assert store.session_key
    return store.session_key


def change(store: SessionStore, name: str, value: Any) -> None:
    store[name] = value
    store.save()


def test_a_session_is_somebodys(session: SessionStore, cast: "Cast") -> None:
    assert access.signed_in(key(session)) == str(cast.ada.user.pk)
    assert access.open_sessions({key(session), "other"}) == {key(session)}


@pytest.mark.parametrize("wrong", ["", "x", "x" * 32, "\x00", "é" * 40])
def test_a_key_that_is_none_is_nobodys(cast: "Cast", wrong: str) -> None:
    assert access.signed_in(wrong) is None


def test_a_session_that_was_ended_is_nobodys(session: SessionStore) -> None:
    ended = key(session)
    session.delete()
    assert access.signed_in(ended) is None
    assert access.open_sessions({ended}) == set()


def test_a_session_that_ran_out_is_nobodys(session: SessionStore) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert access.signed_in(key(session)) is None
    assert access.open_sessions({key(session)}) == set()


def test_a_new_password_ends_the_other_sessions(session: SessionStore, cast: "Cast") -> None:
    cast.ada.user.set_password("another one altogether")
    cast.ada.user.save()
    assert access.signed_in(key(session)) is None


def test_somebody_who_was_shut_out_is_nobody(session: SessionStore, cast: "Cast") -> None:
    cast.ada.user.is_active = False
    cast.ada.user.save()
    assert access.signed_in(key(session)) is None


def test_a_rotated_key_of_the_instance_keeps_sessions_and_changes_none(
    session: SessionStore, cast: "Cast", settings: Any
) -> None:
    settings.SECRET_KEY_FALLBACKS = [str(settings.SECRET_KEY)]
    settings.SECRET_KEY = "a new one"
    assert access.signed_in(key(session)) == str(cast.ada.user.pk)
    assert Session.objects.count() == 1


def test_a_way_in_that_was_taken_away_counts_no_more(session: SessionStore) -> None:
    change(session, BACKEND_SESSION_KEY, "somewhere.Else")
    assert access.signed_in(key(session)) is None


def test_a_session_of_nobody(session: SessionStore) -> None:
    del session[SESSION_KEY]
    session.save()
    assert access.signed_in(key(session)) is None


def test_another_persons_session_is_not_still_granted(session: SessionStore, cast: "Cast") -> None:
    assert access.still_granted(str(cast.eve.user.pk), key(session), []) is None
    assert access.still_granted(str(cast.ada.user.pk), key(session), ["w/nowhere/inbox"]) == {}
