"""How the server reaches a skill source: GitHub, and what the operator listed."""

import re
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from outside import git
from outside.egress.guard import PORTS
from workspaces.reach import guard, remote

from .models import SkillSource

__all__ = ["display_name", "guard", "kind_of", "read_address", "remote_of"]

GITHUB = "https://github.com/"
_PAGE = re.compile(r"(https://(?:www\.)?github\.com/[^/]+/[^/]+)/(?:tree|blob)/([^/?#]+).*\Z", re.I)


def read_address(text: str) -> tuple[str, str]:
    """The normal address, and the branch that the address of a GitHub page names ("" for none).

    Raises git.BadAddress, also for a host that is neither GitHub nor on the operator's list.
    """
    text = text.strip()
    page = _PAGE.match(text)
    address = git.normal(page[1] if page else text).replace("//www.github.com/", "//github.com/")
    kind = kind_of(address)
    if kind is SkillSource.Kind.GITHUB:
        address = address.removesuffix(".git")
    if kind is SkillSource.Kind.GITHUB and address.removeprefix(GITHUB).count("/") != 1:
        raise git.BadAddress(_("A GitHub repository is given as owner/name or by its address."))
    if kind is SkillSource.Kind.GIT and not _is_listed(address):
        raise git.BadAddress(
            _(
                "Skills come from GitHub. Another host can be used when the operator lists it as "
                "host:port in CC_ALLOW_HOSTS."
            )
        )
    return address, page[2] if page else ""


def kind_of(address: str) -> SkillSource.Kind:
    if address.startswith("/"):
        return SkillSource.Kind.LOCAL
    return SkillSource.Kind.GITHUB if address.startswith(GITHUB) else SkillSource.Kind.GIT


def display_name(address: str) -> str:
    """`owner/name` of a hosted repository, the last part of a path."""
    parts = address.removesuffix(".git").rstrip("/").split("/")
    return "/".join(parts[-1:] if address.startswith("/") else parts[3:])[-120:]


def remote_of(source: SkillSource) -> git.Remote:
    """The remote with its credential unsealed. Raises CannotUnseal. Never leaves the server."""
    return remote(source.address, source.credential)


def _is_listed(address: str) -> bool:
    parts = urlsplit(address)
    port = parts.port or PORTS.get(parts.scheme, 0)
    return guard().lists(parts.hostname or "", port)
