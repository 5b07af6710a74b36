"""Asking the pages of the skills, and what they lead to."""

from html import unescape
from typing import Any

from django.test import Client

from skills.models import SkillRequest
from tests.cast import Cast
from workspaces import members
from workspaces.models import Membership, Role, User
from workspaces.tenancy import bind


def page(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address, follow=True)
    assert answer.status_code == status, answer.content[:400]
    return unescape(answer.content.decode())


def post(client: Client, to: str, **values: Any) -> Any:
    return client.post(to, values)


def page_of(answer: Any, client: Client) -> str:
    """The page to which the answer leads."""
    assert answer.status_code == 302, answer.content[:400]
    return page(client, answer["Location"])


def request_path(cast: Cast, asked: SkillRequest, rest: str = "") -> str:
    return cast.path(f"skills/requests/{asked.pk}/{rest}")


def another_admin(cast: Cast) -> Membership:
    with bind(cast.workspace):
        user = User.objects.create_user("grace@example.org", "x", name="Grace Hopper")
        return members.join(user, Role.ADMIN)
