"""Typed reading of environment variables: a value is valid, or the start stops with its name."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


class BadSetting(ValueError):
    """An environment variable holds something that cannot be meant."""


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip() or default


def flag(name: str, *, default: bool = False) -> bool:
    value = text(name).lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise BadSetting(f"{name} must be 1 or 0, not {value!r}.")


def number(name: str, default: int, *, low: int = 0, high: int = 2**31) -> int:
    value = text(name)
    if not value:
        return default
    if not value.lstrip("-").isdigit() or not low <= int(value) <= high:
        raise BadSetting(f"{name} must be a whole number from {low} to {high}, not {value!r}.")
    return int(value)


def seconds(name: str, default: float) -> float:
    value = text(name)
    try:
        result = float(value) if value else default
    except ValueError:
        raise BadSetting(f"{name} must be a number of seconds, not {value!r}.") from None
    if result < 0:
        raise BadSetting(f"{name} must not be negative, not {value!r}.")
    return result


def choice(name: str, default: str, among: Iterable[str]) -> str:
    value, known = text(name, default), tuple(among)
    if value not in known:
        raise BadSetting(f"{name} must be one of {', '.join(known)}, not {value!r}.")
    return value


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list without its empty places."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def path(name: str, default: Path) -> Path:
    value = text(name)
    return Path(value).expanduser().resolve() if value else default


# A connection whose other end says nothing any more, because a line was cut, is given up within
# half a minute instead of a quarter of an hour. Sockets of this machine need none of it.
CUT_OFF = {
    "connect_timeout": "10",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}


def database(name: str, default: str) -> dict[str, Any]:
    """Django's settings of a `postgresql://user:password@host:port/name?host=/socket` address."""
    address = urlsplit(text(name, default))
    if address.scheme not in {"postgresql", "postgres"}:
        raise BadSetting(f"{name} must begin with postgresql://, not {address.scheme}://.")
    query = {key: values[-1] for key, values in parse_qs(address.query).items()}
    return {
        "ENGINE": "controlcenter.postgresql",
        "NAME": unquote(address.path.lstrip("/")),
        "USER": unquote(address.username or ""),
        "PASSWORD": unquote(address.password or ""),
        "HOST": query.pop("host", address.hostname or ""),
        "PORT": str(query.pop("port", address.port or "")),
        "OPTIONS": CUT_OFF | query,
    }
