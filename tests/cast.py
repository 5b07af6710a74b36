"""The people and agents of our small stories."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.test import Client

from agents.creating import Profile, create
from agents.models import Agent
from spaces.models import Conversation, Participant, Space
from workspaces import members
from workspaces.models import Membership, Principal, Role, User, Workspace
from workspaces.tenancy import bind

PASSWORD = "difference engine no. 2"


@dataclass
class Cast:
    """Ada owns *Analytical*, Ben is a member, Vera only views; Eve belongs elsewhere."""

    workspace: Workspace
    elsewhere: Workspace
    ada: Membership
    ben: Membership
    vera: Membership
    eve: Membership
    ceo: Agent
    engineer: Agent
    space: Space
    conversation: Conversation

    @contextmanager
    def bound(self) -> Iterator[None]:
        with bind(self.workspace):
            yield

    def client(self, who: Membership | None = None) -> Client:
        """A browser in which this person has signed in."""
        client = Client()
        if who is not None:
            client.force_login(who.user)
        return client

    def path(self, rest: str = "") -> str:
        return f"/w/{self.workspace.slug}/{rest}"


def person(name: str, **fields: object) -> User:
    return User.objects.create_user(
        f"{name.lower()}@example.org", PASSWORD, name=f"{name} {SURNAMES[name]}", **fields
    )


SURNAMES = {"Ada": "Lovelace", "Ben": "Franklin", "Vera": "Rubin", "Eve": "Moneypenny"}


def make_cast() -> Cast:
    users = {name: person(name) for name in SURNAMES}
    workspace = members.create_workspace(users["Ada"], "Analytical")
    elsewhere = members.create_workspace(users["Eve"], "Elsewhere")
    with bind(elsewhere):
        eve = Membership.objects.get(user=users["Eve"])
    with bind(workspace):
        ada = Membership.objects.select_related("principal").get(user=users["Ada"])
        ben = members.join(users["Ben"], Role.MEMBER)
        vera = members.join(users["Vera"], Role.VIEWER)
        ceo, _ = create(Profile(name="ceo", title="Chief Executive Officer"))
        engineer, _ = create(
            Profile(
                name="engineer",
                title="Engineer",
                skills=("implementation", "testing"),
                reports_to=ceo.principal,
            )
        )
        space = Space.objects.create(name="Engine room", slug="engine-room")
        for principal in (ada.principal, ben.principal, ceo.principal, engineer.principal):
            Participant.objects.create(space=space, principal=principal)
        conversation = Conversation.objects.create(
            space=space, title="First light", created_by=ada.principal
        )
    return Cast(workspace, elsewhere, ada, ben, vera, eve, ceo, engineer, space, conversation)


def principal_of(name: str) -> Principal:
    return Principal.objects.get(handle=name)
