"""A button pressed twice, and people who do the same thing at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from repositories import adding
from repositories.models import Repository
from spaces.creating import create_space
from spaces.models import Space
from tests.cast import Cast
from workspaces import connections, invitations, members
from workspaces.models import Invitation, ModelConnection, Principal, User
from workspaces.tenancy import bind

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 4


def at_once(cast: Cast, acts: list[Callable[[], object]]) -> list[object]:
    """Each act in a thread and a transaction of its own, begun together; what they gave."""
    start = Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        start.wait(timeout=30)
        try:
            with bind(cast.workspace):
                return act()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def test_spaces_of_one_name_get_addresses_of_their_own(committed_cast: Cast) -> None:
    ada = committed_cast.ada.principal
    at_once(committed_cast, [lambda: create_space("Race room", by=ada)] * MANY)
    with committed_cast.bound():
        assert Space.objects.filter(name="Race room").count() == MANY


def test_one_repository_added_twice_is_there_once_and_the_second_is_told(
    committed_cast: Cast,
) -> None:
    def add() -> str:
        try:
            return adding.add("https://git.example.org/shop", by=committed_cast.ada.principal).name
        except adding.CannotAdd as told:
            return str(told)

    told = at_once(committed_cast, [add] * MANY)
    with committed_cast.bound():
        assert Repository.objects.count() == 1
    assert sorted(map(str, told))[0].startswith("This repository is in the workspace already")
    assert told.count("shop") == 1


def test_the_demo_asked_for_twice_is_there_once(committed_cast: Cast) -> None:
    ada = committed_cast.ada.principal
    at_once(committed_cast, [lambda: connections.use_demo(by=ada)] * MANY)
    with committed_cast.bound():
        assert ModelConnection.objects.get().is_default


def test_of_two_first_connections_one_is_the_default(committed_cast: Cast) -> None:
    ada = committed_cast.ada.principal
    at_once(committed_cast, [lambda: connections.add("anthropic", by=ada, key="sk")] * MANY)
    with committed_cast.bound():
        assert len({row.name for row in ModelConnection.objects.all()}) == MANY
        assert ModelConnection.objects.filter(is_default=True).count() == 1


def test_two_people_of_one_name_join_at_once(committed_cast: Cast) -> None:
    users = [User.objects.create_user(f"s{n}@example.org", "x", name="Sam") for n in range(MANY)]
    acts = [lambda user=user: members.join(user, "member") for user in users]
    at_once(committed_cast, acts)  # type: ignore[arg-type]
    with committed_cast.bound():
        assert Principal.objects.filter(handle__startswith="sam").count() == MANY


def test_a_new_invitation_takes_the_place_of_the_one_before(committed_cast: Cast) -> None:
    ada = committed_cast.ada.principal
    at_once(
        committed_cast,
        [lambda: invitations.invite(email="Dan@example.org", role="member", by=ada)] * MANY,
    )
    with committed_cast.bound():
        assert sum(row.is_open for row in Invitation.objects.all()) == 1
