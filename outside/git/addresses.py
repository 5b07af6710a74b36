"""The address of a remote: what people write, brought to the one spelling that git gets."""

import re
from dataclasses import dataclass, field

from ..egress import Guard, Refused
from .credentials import Credential
from .errors import BadAddress

_OWNER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+\Z")
_SCP = re.compile(r"(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+\.[A-Za-z]{2,}):(?!//)([^:]+)\Z")
_WEB = re.compile(r"(https?)://([^/?#]+)/+([^?#]*[^?#/])/*\Z", re.IGNORECASE)
_SSH = re.compile(r"(?:git\+)?ssh://(?:[^@/]+@)?([^:/@]+)(?::\d+)?/(.+)\Z")


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository elsewhere, by its normal address, and what it asks for."""

    address: str
    credential: Credential | None = field(default=None, repr=False)

    @property
    def is_local(self) -> bool:
        return self.address.startswith("/")


@dataclass(frozen=True, slots=True)
class Route:
    """How git reaches a remote right now: the operand, the protocols, and the pinned addresses."""

    operand: str
    protocols: str
    config: tuple[str, ...] = ()


def normal(text: str) -> str:
    """The one spelling of an address that a person wrote: `owner/name` means GitHub, ssh forms
    become https. Raises BadAddress with what to write instead."""
    text = text.strip()
    if not text or text.startswith("-") or "\0" in text or "::" in text.partition("/")[0]:
        raise BadAddress()
    if text.startswith("file://"):
        text = text.removeprefix("file://")
    if text.startswith("/"):
        return "/" + text.strip("/")
    if _OWNER_NAME.match(text):
        return f"https://github.com/{text.removesuffix('.git')}"
    for form in (_SSH, _SCP):
        if found := form.match(text):
            return f"https://{found[1].lower()}/{found[2].lstrip('/')}"
    return _normal_web(text)


def _normal_web(text: str) -> str:
    found = _WEB.match(text)
    if found is None or {".", ".."} & set(found[3].split("/")):
        raise BadAddress()
    user, _, host = found[2].rpartition("@")
    if ":" in user:
        raise BadAddress(
            "There is a password in this address, where everybody would read it. Leave it out of "
            "the address and give it as the credential."
        )
    path = found[3].removesuffix(".git") if host.lower() == "github.com" else found[3]
    return f"{found[1].lower()}://{host.lower()}/{path}"


def route(remote: Remote, guard: Guard) -> Route:
    """Checks the address with the guard, now, and pins git to the addresses that it checked.

    Raises BadAddress with the guard's sentence.
    """
    try:
        if remote.is_local:
            return Route(str(guard.local_path(remote.address)), "file")
        endpoint = guard.endpoint(remote.address)
    except Refused as refused:
        raise BadAddress(refused.sentence) from refused
    is_plain = endpoint.scheme == "http" and not guard.lists(endpoint.host, endpoint.port)
    if remote.credential and is_plain:
        raise BadAddress("A credential is sent over https:// only. Give the https address.")
    addresses = ",".join(endpoint.addresses)
    pin = f"http.curloptResolve={endpoint.host}:{endpoint.port}:{addresses}"
    return Route(endpoint.url, endpoint.scheme, (pin,))
