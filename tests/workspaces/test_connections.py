"""Ways to a model: what is wrong is said in words, and the house stays closed to strangers."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from runs.briefing import provider_settings
from tests.cast import Cast
from tests.scripted import anthropic, openai
from tests.scripted.script import Step
from workspaces import tasks
from workspaces.models import Credential, ModelConnection, User

pytestmark = pytest.mark.django_db
ADDRESS = "settings/models/add/"


def connect(cast: Cast, **form: str) -> Any:
    return cast.client(cast.ada).post(cast.path(ADDRESS), form)


def only(cast: Cast) -> ModelConnection:
    with cast.bound():
        return ModelConnection.objects.select_related("credential").get()


def checked(cast: Cast) -> ModelConnection:
    tasks.check_connection(str(cast.workspace.pk), str(only(cast).pk))
    return only(cast)


@pytest.fixture
def operator(cast: Cast) -> Cast:
    User.objects.filter(pk=cast.ada.user_id).update(is_instance_admin=True)
    return cast


def test_the_first_one_is_the_default_and_its_key_is_never_shown(operator: Cast) -> None:
    key = "sk-ant-0123456789abcdef"
    assert connect(operator, provider="anthropic", key=key).status_code == 302
    row = only(operator)
    assert row.is_default
    page = operator.client(operator.ada).get(operator.path("settings/models/")).content.decode()
    assert key not in page
    assert "…cdef" in page


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"provider": "anthropic"}, "Paste a key"),
        ({"provider": "openai"}, "Give the address"),
        ({"provider": "openai", "base_url": "http://localhost:1/v1"}, "Name the model"),
        ({"provider": "openai", "base_url": "not an address", "model": "m"}, "valid URL"),
        ({"provider": "elsewhere"}, ""),
    ],
)
def test_what_is_missing_is_said(operator: Cast, form: dict[str, str], words: str) -> None:
    answer = connect(operator, **form)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    with operator.bound():
        assert not ModelConnection.objects.exists()


INSIDE = [
    "http://localhost:11434/v1",
    "http://127.0.0.1/v1",
    "http://[::1]/v1",
    "http://10.0.0.7/v1",
    "http://169.254.169.254/v1",
    "http://printer/v1",
    "http://db.internal/v1",
]


@pytest.mark.parametrize("address", INSIDE)
def test_the_house_is_for_who_runs_it(cast: Cast, address: str) -> None:
    form = {"provider": "openai", "base_url": address, "model": "m"}
    assert connect(cast, **form).status_code == 422
    with cast.bound():
        assert not ModelConnection.objects.exists()
    User.objects.filter(pk=cast.ada.user_id).update(is_instance_admin=True)
    assert connect(cast, **form).status_code == 302
    assert provider_settings(only(cast)).guard is None


def test_a_name_that_leads_inside_is_refused_when_it_is_asked(cast: Cast) -> None:
    """The form sees a public name; the guard sees where it leads at each connection."""
    with cast.bound():
        ModelConnection.objects.create(
            provider="openai", name="x", base_url="http://localhost.localdomain:1/v1"
        )
    assert provider_settings(only(cast)).guard is not None
    row = checked(cast)
    assert row.check_ok is False


Scripted = Callable[..., AbstractContextManager[Any]]


@pytest.mark.parametrize(
    ("fault", "words"),
    [("401", "key"), ("404", "model"), ("html", ""), ("500", "")],
)
@pytest.mark.parametrize(
    ("provider", "scripted", "path"),
    [("anthropic", anthropic.scripted, ""), ("openai", openai.scripted, "/v1")],
)
def test_the_test_says_what_is_wrong(
    operator: Cast, provider: str, scripted: Scripted, path: str, fault: str, words: str
) -> None:
    with scripted(Step(text="ready", first=[fault] * 20)) as server:
        connect(operator, provider=provider, base_url=server.url + path, key="k" * 20, model="some")
        row = checked(operator)
        server._gave_up = True
    assert row.check_ok is False
    assert words in row.check_sentence.lower()


def test_a_server_that_is_down_is_said_to_be(operator: Cast) -> None:
    connect(operator, provider="openai", base_url="http://127.0.0.1:9/v1", model="m")
    row = checked(operator)
    assert row.check_ok is False
    assert "cannot be reached" in row.check_sentence


def test_the_right_key_after_a_wrong_one_is_the_one_that_is_used(operator: Cast) -> None:
    refused = Step(text="ready", first=["401"])
    with anthropic.scripted(refused) as server:
        connect(operator, provider="anthropic", key="sk-ant-wrong-0000000", base_url=server.url)
        assert checked(operator).check_ok is False
        server.give_up()
    connect(operator, provider="anthropic", key="sk-ant-right-0000000")
    connect(operator, provider="openai", base_url="http://localhost:1/v1", model="m")
    with operator.bound():
        default = ModelConnection.objects.get(is_default=True)
    assert (default.provider, default.base_url) == ("anthropic", "")


def test_the_demo_says_that_there_is_no_ai_in_it(operator: Cast) -> None:
    for _ in range(2):  # a double click
        connect(operator, provider="demo")
    row = checked(operator)
    assert row.check_ok is True
    assert "no AI" in row.check_sentence


def test_each_reader_reads_the_test_in_the_own_language(operator: Cast) -> None:
    connect(operator, provider="demo")
    checked(operator)
    there = operator.path("settings/models/")
    ada = operator.client(operator.ada)
    for language, words in (
        ("en", "The demo needs no connection."),
        ("pt", "A demonstração não precisa de ligação."),
    ):
        page = ada.get(there, headers={"accept-language": language}).content.decode()
        assert words in page


def test_disconnecting_takes_the_key_along(operator: Cast) -> None:
    connect(operator, provider="anthropic", key="sk-ant-0123456789abcdef")
    there = operator.path(f"settings/models/{only(operator).pk}/remove/")
    for _ in range(2):
        assert operator.client(operator.ada).post(there).status_code == 302
    with operator.bound():
        assert not Credential.objects.exists()


def test_a_key_that_nobody_can_unseal_ends_the_test_in_words(operator: Cast) -> None:
    connect(operator, provider="anthropic", key="sk-ant-0123456789abcdef")
    with operator.bound():
        Credential.objects.update(sealed=b"sealed with a key that is gone")
    row = checked(operator)
    assert row.check_ok is False
    assert "enter the secret again" in row.check_sentence
