"""Decides whether an address may be reached, and which network addresses it means right now."""

import os
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from outside.sentences import phrase

from .public import is_public

Resolver = Callable[[str, int], list[str]]

PORTS = {"https": 443, "http": 80}
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?\Z")
_CONTROL = re.compile(r"[\x00-\x20\x7f\\]")


class Refused(Exception):
    """The guard said no; the text is a sentence for people."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked address: where it is written, and the network addresses it may be reached at."""

    scheme: str
    host: str
    port: int
    target: str
    addresses: tuple[str, ...]

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The address in its one plain spelling."""
        return f"{self.scheme}://{self.authority}{self.target}"


def resolve(host: str, port: int) -> list[str]:
    """The network addresses of a host, by the system's resolver. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class Guard:
    """Public addresses pass; what the operator listed passes too; nothing else does.

    `hosts` are patterns `host:port` (`*.corp.example:443`, `127.0.0.1:*`), `paths` are directories
    whose contents may serve as local git remotes.
    """

    hosts: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()
    resolver: Resolver = resolve

    @classmethod
    def of(cls, *, hosts: Iterable[str] = (), paths: Iterable[str | Path] = ()) -> Self:
        """A guard from the operator's settings (CC_ALLOW_HOSTS, CC_ALLOW_PATHS)."""
        return cls(
            hosts=tuple(host.strip().lower() for host in hosts),
            paths=tuple(Path(path) for path in paths),
        )

    def endpoint(self, url: str) -> Endpoint:
        """The checked endpoint of an http(s) address, resolved anew. Raises Refused."""
        scheme, host, port, target = _parse(url)
        addresses = self._resolve(host, port)
        if not self.lists(host, port):
            _require_public(host, addresses)
        return Endpoint(scheme, host, port, target, tuple(addresses))

    def local_path(self, path: str) -> Path:
        """The real directory behind a local path that the operator allowed. Raises Refused."""
        if not path.startswith("/") or "\0" in path:
            raise Refused(phrase("A local repository is given by its absolute path."))
        real = Path(os.path.realpath(path))  # a link in circles stays as it stands
        roots = [root.resolve() for root in self.paths]
        if not any(real == root or root in real.parents for root in roots):
            raise Refused(
                phrase(
                    "This server takes no repositories from that folder. "
                    "The operator lists the allowed folders in CC_ALLOW_PATHS."
                )
            )
        return real

    def lists(self, host: str, port: int) -> bool:
        """Whether the operator named this host and port."""
        written = (f"[{host}]:{port}", f"{host}:{port}") if ":" in host else (f"{host}:{port}",)
        return any(fnmatchcase(name, _pattern(listed)) for listed in self.hosts for name in written)

    def _resolve(self, host: str, port: int) -> list[str]:
        try:
            addresses = self.resolver(host, port)
        except (OSError, UnicodeError):
            addresses = []
        if not addresses:
            words = phrase("No server is known under the name %(host)s. Check the address.")
            raise Refused(words % {"host": host})
        return addresses


def _pattern(listed: str) -> str:
    """The operator's `host:port` for fnmatch: an IPv6 address's brackets are no character class."""
    return listed.replace("[", "[[]", 1) if listed.startswith("[") else listed


def _require_public(host: str, addresses: list[str]) -> None:
    hidden = [address for address in addresses if not is_public(address)]
    if hidden:
        words = phrase(
            "%(host)s is not on the public internet. "
            "The operator can list it as host:port in CC_ALLOW_HOSTS."
        )
        raise Refused(words % {"host": host})


def _parse(url: str) -> tuple[str, str, int, str]:
    if _CONTROL.search(url):
        raise Refused("The address contains blanks or characters that no address has.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise Refused("The address cannot be read. Check host and port.") from None
    if parts.scheme not in PORTS:
        raise Refused("Only addresses that begin with https:// or http:// can be reached.")
    if "@" in parts.netloc:
        raise Refused("Leave user name and password out of the address; give them as a credential.")
    host = host.removesuffix(".")
    if not (_HOST.match(host) or (":" in host and _is_ipv6(host))):
        raise Refused(
            "The host name in the address is not one. Names in other scripts are given in their "
            "xn-- form."
        )
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.scheme, host, PORTS[parts.scheme] if port is None else port, target


def _is_ipv6(host: str) -> bool:
    try:
        socket.inet_pton(socket.AF_INET6, host)
    except OSError:
        return False
    return True
