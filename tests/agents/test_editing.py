"""Changing an agent: one save, nothing lost, nothing half done."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from agents import editing, mirror, reporting
from agents.creating import Profile, create
from agents.models import Agent
from runs.models import Run
from spaces import posting
from spaces.models import Message
from tests.agents.conftest import save, text
from tests.cast import Cast
from tests.runs.stage import together
from workspaces.models import Principal
from workspaces.tenancy import bind

pytestmark = pytest.mark.django_db


def never(_agent: Agent) -> bool:
    return False


def start_run(cast: Cast, agent: Agent, state: str = "running") -> Run:
    with cast.bound():
        return Run.objects.create(
            agent=agent,
            space=cast.space,
            conversation=cast.conversation,
            adapter=agent.adapter,
            state=state,
        )


def fresh(cast: Cast, agent: Agent) -> Agent:
    with cast.bound():
        return Agent.objects.select_related("principal", "reports_to").get(pk=agent.pk)


def test_two_admins_cannot_save_over_each_other(cast: Cast) -> None:
    save(cast, cast.engineer, title="By Ada")
    with cast.bound(), pytest.raises(editing.Conflict) as conflict:
        editing.save(
            cast.engineer, {"title": "By Ben"}, version=1, by=cast.ben.principal, is_busy=never
        )
    assert conflict.value.agent.title == "By Ada"
    assert fresh(cast, cast.engineer).title == "By Ada"


@pytest.mark.django_db(transaction=True)
def test_of_two_saves_at_once_one_is_told(committed_cast: Cast) -> None:
    cast = committed_cast

    def act(title: str) -> Callable[[], Any]:
        def inside() -> str:
            with cast.bound():
                changes = {"title": title}
                return editing.save(
                    cast.engineer, changes, version=1, by=cast.ada.principal, is_busy=never
                ).title

        return inside

    results = together([act("one"), act("two")])
    kept = [each for each in results if isinstance(each, str)]
    assert len(kept) == 1
    assert [type(each) for each in results if each not in kept] == [editing.Conflict]
    row = fresh(cast, cast.engineer)
    assert (row.title, row.version) == (kept[0], 2)
    assert f"title: {kept[0]}\n" in text(cast.engineer)


@pytest.mark.req("CC-12", "CC-13")
def test_a_rename_moves_the_directory_and_old_mentions_keep_whom_they_meant(cast: Cast) -> None:
    with cast.bound():
        before, _new = posting.post(
            cast.conversation, author=cast.ada.principal, body="@engineer, look"
        )
    root = mirror.directory(cast.engineer).parent
    (root / "engineer" / "notes.txt").write_text("its own notes")
    renamed = save(cast, cast.engineer, name="builder")
    assert sorted(entry.name for entry in root.iterdir()) == ["builder", "ceo"]
    assert (root / "builder" / "notes.txt").read_text() == "its own notes"
    assert text(renamed).startswith("---\nname: builder\n")
    with cast.bound():
        assert before.mentions.get().principal_id == cast.engineer.principal_id
        after, _new = posting.post(
            cast.conversation, author=cast.ada.principal, body="@engineer or @builder"
        )
        assert [each.principal_id for each in after.mentions.all()] == [renamed.principal_id]


def test_a_new_name_is_written_into_the_files_of_those_below(cast: Cast) -> None:
    assert "reportsTo: ceo\n" in text(cast.engineer)
    save(cast, cast.ceo, name="chief")
    assert "reportsTo: chief\n" in text(cast.engineer)
    with cast.bound():
        assert mirror.drift_of_all(cast.workspace.pk) == []


@pytest.mark.parametrize("state", ["queued", "running", "parked"])
def test_no_rename_and_no_deletion_while_a_run_is_open(cast: Cast, state: str) -> None:
    from agents.views.agent import is_busy

    start_run(cast, cast.engineer, state)
    with cast.bound():
        for act in (
            lambda: editing.save(
                cast.engineer, {"name": "x"}, version=1, by=cast.ada.principal, is_busy=is_busy
            ),
            lambda: editing.delete(cast.engineer, by=cast.ada.principal, is_busy=is_busy),
        ):
            with pytest.raises(editing.Busy):
                act()
        saved = editing.save(
            cast.engineer, {"title": "New"}, version=1, by=cast.ada.principal, is_busy=is_busy
        )
    assert (saved.name, saved.title) == ("engineer", "New")
    assert mirror.directory(cast.engineer).is_dir()


@pytest.mark.req("CC-12")
@pytest.mark.parametrize("name", ["ceo", "ada", "here", "", "Engineer", "../x"])
def test_a_name_that_cannot_be_changes_nothing(cast: Cast, name: str) -> None:
    before = text(cast.engineer)
    with pytest.raises(ValidationError):
        save(cast, cast.engineer, name=name, title="Half", skills=["half"])
    row = fresh(cast, cast.engineer)
    assert (row.name, row.title, row.version) == ("engineer", "Engineer", 1)
    assert row.principal is not None
    assert row.principal.handle == "engineer"
    assert text(cast.engineer) == before


def test_a_draft_that_cannot_be_named_leaves_no_handle_behind(cast: Cast) -> None:
    from agents.creating import create_draft

    with cast.bound():
        draft = create_draft()
    with cast.bound(), pytest.raises(ValidationError):
        editing.save(
            draft,
            {"name": "scout", "silence_timeout_minutes": 241},
            version=1,
            by=cast.ada.principal,
            is_busy=never,
        )
    with cast.bound():
        assert not Principal.objects.filter(handle="scout").exists()
        assert create(Profile(name="scout"))[1]


def test_a_hand_edited_file_is_noticed_and_offered_never_overwritten(cast: Cast) -> None:
    file = mirror.directory(cast.engineer) / "AGENTS.md"
    file.write_text(text(cast.engineer) + "\nBy hand.\n")
    with pytest.raises(editing.HandEdited) as noticed:
        save(cast, cast.engineer, title="From the page")
    assert noticed.value.text.endswith("By hand.\n")
    assert fresh(cast, cast.engineer).title == "Engineer"
    assert "By hand." in file.read_text()
    save(cast, cast.engineer, title="From the page", over_file=True)
    assert "By hand." not in file.read_text()


@pytest.mark.req("CC-22")
@pytest.mark.parametrize("minutes", [0, 241, -1, 1.5, "many"])
def test_silence_outside_1_to_240_is_refused_by_the_act(cast: Cast, minutes: object) -> None:
    with pytest.raises(ValidationError, match="silence_timeout_minutes"):
        save(cast, cast.engineer, silence_timeout_minutes=minutes)


@pytest.mark.req("CC-21", "CC-22")
@pytest.mark.parametrize(
    ("field", "value"),
    [("silence_timeout_minutes", 0), ("silence_timeout_minutes", 241), ("context_size", 0)],
)
def test_the_database_refuses_it_too(cast: Cast, field: str, value: int) -> None:
    with cast.bound(), pytest.raises(IntegrityError), transaction.atomic():
        Agent.objects.filter(pk=cast.engineer.pk).update(**{field: value})


@pytest.mark.req("CC-22")
@pytest.mark.parametrize("minutes", [None, 1, 240])
def test_both_ends_of_the_range_are_stored(cast: Cast, minutes: int | None) -> None:
    assert save(cast, cast.engineer, silence_timeout_minutes=minutes).silence_timeout_minutes == (
        minutes
    )
    assert (f"silenceTimeoutMinutes: {minutes}\n" in text(cast.engineer)) == (minutes is not None)


@pytest.mark.req("CC-23")
def test_nobody_is_its_own_superior_however_far(cast: Cast) -> None:
    with cast.bound():
        qa, _new = create(Profile(name="qa", reports_to=cast.engineer.principal))
    for under in (cast.ceo, cast.engineer, qa):
        with pytest.raises(ValidationError, match="own superior"):
            save(cast, cast.ceo, reports_to=under.principal)
    with cast.bound():
        assert cast.ceo.principal is not None
        reporting.move(cast.ceo.principal, under=cast.ada.principal, by=cast.ada.principal)
        with pytest.raises(ValidationError, match="own superior"):
            reporting.move(cast.ada.principal, under=qa.principal, by=cast.ada.principal)
    assert "reportsTo: ada\n" in text(cast.ceo)


@pytest.mark.req("CC-23")
def test_a_superior_stands_in_the_same_workspace_and_is_still_here(cast: Cast) -> None:
    with bind(cast.elsewhere):
        foreign, _new = create(Profile(name="foreign"))
    with pytest.raises(ValidationError, match="not here"):
        save(cast, cast.engineer, reports_to=foreign.principal)


@pytest.mark.req("CC-23")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_round", range(3))
def test_two_moves_at_once_cannot_close_a_circle(committed_cast: Cast, _round: int) -> None:
    cast = committed_cast
    with cast.bound():
        one, _new = create(Profile(name="one"))
        two, _new = create(Profile(name="two"))
    assert one.principal is not None
    assert two.principal is not None

    def moves(who: Principal, under: Principal) -> Callable[[], object]:
        def inside() -> object:
            with cast.bound():
                return reporting.move(who, under=under, by=cast.ada.principal)

        return inside

    results = together([moves(one.principal, two.principal), moves(two.principal, one.principal)])
    assert sorted(type(each).__name__ for each in results) == ["Circle", "NoneType"]


@pytest.mark.django_db(transaction=True)
def test_deleting_does_what_the_page_says(committed_cast: Cast) -> None:
    cast = committed_cast
    run = start_run(cast, cast.ceo, "succeeded")
    with cast.bound():
        said, _new = posting.post(cast.conversation, author=cast.ceo.principal, body="Done.")
        run.events.create(run=run, seq=1, kind="done")
        editing.delete(cast.ceo, by=cast.ada.principal, is_busy=never)
        editing.delete(cast.ceo, by=cast.ada.principal, is_busy=never)  # twice is harmless
    with cast.bound():
        assert not Agent.objects.filter(name="ceo").exists()
        assert not Run.objects.exists()
        kept = Message.objects.select_related("author").get(pk=said.pk)
        assert kept.author is not None
        assert (kept.author.name, kept.author.kind) == ("Chief Executive Officer", "agent")
        assert fresh(cast, cast.engineer).reports_to is None
        assert not mirror.directory(cast.ceo).exists()
        assert "reportsTo" not in text(cast.engineer)
        again, is_new = create(Profile(name="ceo"))
        assert is_new
        assert again.principal_id != kept.author_id


def test_lifecycle_of_many_is_set_and_told_for_the_way_back(cast: Cast) -> None:
    with cast.bound():
        agents = [cast.ceo, cast.engineer]
        before = editing.set_lifecycle(agents, "paused", by=cast.ada.principal)
        assert before == {str(each.pk): "active" for each in agents}
        assert editing.set_lifecycle(agents, "paused", by=cast.ada.principal) == {}
        assert not any(each.is_dispatchable for each in Agent.objects.all())


@pytest.mark.req("CC-18", "CC-71")
def test_no_adapter_means_the_built_in_loop(cast: Cast) -> None:
    assert (cast.engineer.adapter_id, cast.engineer.adapter) == (None, "cc-harness")
    assert "adapterId" not in text(cast.engineer)


@pytest.mark.req("CC-04")
def test_an_agent_never_moves_to_another_workspace(cast: Cast) -> None:
    from django.core.exceptions import FieldError

    row = fresh(cast, cast.engineer)
    row.workspace = cast.elsewhere
    with cast.bound(), pytest.raises(FieldError):
        row.save()
