"""The room's tables stand behind their fences."""

import pytest
from django.db import IntegrityError, connection, transaction

from repositories.models import Repository, SpaceRepository
from tests.cast import Cast
from workspaces.tenancy import NoWorkspaceBound, bind

pytestmark = pytest.mark.django_db


def test_repositories_are_read_only_with_a_workspace_bound(cast: Cast) -> None:
    with pytest.raises(NoWorkspaceBound):
        Repository.objects.count()
    with cast.bound():
        Repository.objects.create(name="apple", address="https://example.com/apple")
        assert Repository.objects.count() == 1
    with bind(cast.elsewhere):
        assert Repository.objects.count() == 0


def test_a_link_into_another_workspace_is_refused_by_the_database(cast: Cast) -> None:
    with bind(cast.elsewhere):
        foreign = Repository.objects.create(name="apple", address="https://example.com/apple")
    with cast.bound():
        SpaceRepository.objects.create(space=cast.space, repository=foreign)
        with pytest.raises(IntegrityError), transaction.atomic():
            connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")
        SpaceRepository.objects.all().delete()


def test_a_name_is_unique_in_its_workspace(cast: Cast) -> None:
    with cast.bound():
        Repository.objects.create(name="apple", address="https://example.com/apple")
        with pytest.raises(IntegrityError), transaction.atomic():
            Repository.objects.create(name="apple", address="https://example.com/other")
