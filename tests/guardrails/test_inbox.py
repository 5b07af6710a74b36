"""The inbox as people meet it: what waits, whole; answering; and coming second."""

import re
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from guardrails import approvals, inbox
from guardrails.approvals import Answer
from guardrails.models import Approval, Rule
from repositories.models import PushRequest
from tests.cast import Cast
from tests.guardrails.asking import NEW, OLD, ask, command, push
from workspaces.models import AuditEntry, Membership

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true", "HX-Target": "approval-detail"}


def asked(cast: Cast, line: str = "") -> Approval:
    with cast.bound():
        return ask(cast, command(cast, line) if line else push(cast))


def decide(
    cast: Cast, who: Membership | None, row: Approval, decision: str = "approve_once", **more: str
) -> object:
    facts = {"decision": decision, "digest": row.digest} | more
    return cast.client(who).post(cast.path(f"inbox/{row.pk}/decide/"), facts, headers=HTMX)


# ---------------------------------------------------------------- what one sees


def test_the_inbox_says_what_by_whom_for_whom_and_what_happens_on_yes(cast: Cast) -> None:
    asked(cast)
    page = cast.client(cast.ben).get(cast.path("inbox/")).content.decode()
    for words in (
        "Push 2 commits to tide-api",
        "engineer",
        "Ada Lovelace",
        "First light",
        "Exactly these two commits are forwarded, once.",
        "No rule says anything; the default for “Push to a remote” is: Ask first.",
        "feature/x",
        "1 needs you",
        "Approve for 8 hours",
        "feature/** · in tide-api",
    ):
        assert words in page, words


def test_a_push_shows_its_commits_and_what_would_not_be_seen(cast: Cast) -> None:
    row = asked(cast)
    with cast.bound():
        PushRequest.objects.create(
            number=311,
            repository_name="tide-api",
            run_id=row.run_id or row.pk,
            digest=row.digest,
            approval=row,
            refs=[{"ref": "refs/heads/feature/x", "old": OLD, "new": NEW, "kind": "update"}],
            summary={
                "commits": [{"oid": NEW, "subject": "Claim a delivery first", "author": "e"}],
                "commit_count": 3,
                "file_count": 1,
                "warnings": ["It changes a workflow."],
            },
        )
    for path in (f"inbox/{row.pk}/", f"inbox/{row.pk}/card/"):
        page = cast.client(cast.ben).get(cast.path(path)).content.decode()
        assert "Claim a delivery first" in page
        assert "2 more commits" in page
    whole = cast.client(cast.ben).get(cast.path(f"inbox/{row.pk}/")).content.decode()
    assert "It changes a workflow." in whole
    assert "Push request 311" in whole


def test_an_empty_inbox_says_what_it_is_for(cast: Cast) -> None:
    page = cast.client(cast.ben).get(cast.path("inbox/")).content.decode()
    assert "Nothing waits for you" in page
    assert "Which rules ask?" in page


def test_what_could_hide_in_a_command_is_shown(cast: Cast) -> None:
    row = asked(cast, "rm -rf build # \u202egnp.tob\u200b")
    page = cast.client(cast.ben).get(cast.path(f"inbox/{row.pk}/")).content.decode()
    assert "\u202e" not in page
    assert "\u200b" not in page
    assert "⟨U+202E⟩" in page


def test_who_only_views_reads_but_is_told_that_a_member_decides(cast: Cast) -> None:
    row = asked(cast)
    page = cast.client(cast.vera).get(cast.path(f"inbox/{row.pk}/")).content.decode()
    assert "Your role reads approvals; a member decides them." in page


def test_a_page_opened_before_gets_the_list_and_nothing_where_nothing_changed(
    cast: Cast,
) -> None:
    row = asked(cast)
    client = cast.client(cast.ben)
    page = client.get(cast.path("inbox/list/")).content.decode()
    assert row.title in page
    detail = cast.path(f"inbox/{row.pk}/detail/")
    assert client.get(detail).status_code == 200
    assert client.get(detail + "?shown=0-0-0").status_code == 204
    with cast.bound():
        approvals.decide(row, by=cast.ada.principal, answer=Answer.DENY)
    assert client.get(detail + "?shown=0-0-0").status_code == 200


def test_the_number_in_the_rail_is_what_one_could_answer(cast: Cast) -> None:
    asked(cast)
    asked(cast, "rm x")
    with cast.bound():
        assert inbox.waiting_count(cast.ben) == 2
        assert inbox.waiting_count(cast.vera) == 0
    assert ">2<" in cast.client(cast.ben).get(cast.path("inbox/count/")).content.decode()
    rail = cast.client(cast.ben).get(cast.path("inbox/")).content.decode()
    assert re.search(r'id="count-inbox"[^>]*>2<', rail)


def test_what_waits_in_a_private_space_is_seen_by_those_who_take_part(cast: Cast) -> None:
    row = asked(cast)
    with cast.bound():
        cast.space.visibility = "private"
        cast.space.save()
        cast.space.participants.filter(principal=cast.ben.principal).delete()
    ben, ada = cast.client(cast.ben), cast.client(cast.ada)
    for path in (f"inbox/{row.pk}/", f"inbox/{row.pk}/detail/", f"inbox/{row.pk}/card/"):
        assert ben.get(cast.path(path)).status_code == 404
        assert ada.get(cast.path(path)).status_code == 200
    assert row.title not in ben.get(cast.path("inbox/")).content.decode()
    assert decide(cast, cast.ben, row).status_code == 404  # type: ignore[attr-defined]


def test_the_list_costs_the_same_for_one_and_for_thirty(
    cast: Cast, django_assert_max_num_queries: object
) -> None:
    with cast.bound():
        for number in range(30):
            ask(cast, command(cast, "rm x", call_id=str(number)))
    client = cast.client(cast.ben)
    client.get(cast.path("inbox/list/"))
    with django_assert_max_num_queries(16):  # type: ignore[operator]
        page = client.get(cast.path("inbox/list/"))
    assert page.status_code == 200
    assert page.content.decode().count("rm x") >= 30


def test_what_was_answered_stays_readable_with_who_what_and_when(cast: Cast) -> None:
    row = asked(cast)
    with cast.bound():
        approvals.decide(
            row, by=cast.ada.principal, answer=Answer.DENY, note="Open a pull request."
        )
    page = cast.client(cast.ben).get(cast.path("inbox/?show=answered")).content.decode()
    assert row.title in page
    assert "Denied" in page
    whole = cast.client(cast.ben).get(cast.path(f"inbox/{row.pk}/")).content.decode()
    assert "Ada Lovelace" in whole
    assert "Open a pull request." in whole


# ---------------------------------------------------------------- answering


@pytest.mark.parametrize(
    ("decision", "state", "rules"),
    [("approve_once", "approved", 0), ("approve_for", "approved", 1), ("deny", "denied", 0)],
)
def test_an_answer_works_and_the_page_shows_it(
    cast: Cast, decision: str, state: str, rules: int
) -> None:
    row = asked(cast)
    response = decide(cast, cast.ben, row, decision, note="because")
    assert response.status_code == 200  # type: ignore[attr-defined]
    with cast.bound():
        row.refresh_from_db()
        assert (row.state, row.decided_by, row.note) == (state, cast.ben.principal, "because")
        assert Rule.objects.count() == rules


def test_a_stranger_and_a_foreign_id_get_the_same_404(cast: Cast) -> None:
    row = asked(cast)
    assert decide(cast, cast.eve, row).status_code == 404  # type: ignore[attr-defined]
    missing = cast.client(cast.ben).post(cast.path(f"inbox/{uuid4()}/decide/"), headers=HTMX)
    assert missing.status_code == 404
    row.pk = uuid4()
    assert decide(cast, cast.ben, row).status_code == 404  # type: ignore[attr-defined]


def test_who_only_views_gets_a_403_and_a_visitor_the_way_to_sign_in(cast: Cast) -> None:
    row = asked(cast)
    assert decide(cast, cast.vera, row).status_code == 403  # type: ignore[attr-defined]
    assert decide(cast, None, row).status_code == 401  # type: ignore[attr-defined]


def test_a_link_in_a_mail_decides_nothing(cast: Cast) -> None:
    row = asked(cast)
    for method in ("get", "put", "delete"):
        answer = getattr(cast.client(cast.ben), method)(cast.path(f"inbox/{row.pk}/decide/"))
        assert answer.status_code == 405


def test_without_its_token_a_form_decides_nothing(cast: Cast) -> None:
    row = asked(cast)
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.ben.user)
    answer = client.post(
        cast.path(f"inbox/{row.pk}/decide/"), {"decision": "deny", "digest": row.digest}
    )
    assert answer.status_code == 403


def test_a_double_click_is_harmless(cast: Cast) -> None:
    row = asked(cast)
    decide(cast, cast.ben, row)
    second = decide(cast, cast.ben, row)
    assert second.status_code == 409  # type: ignore[attr-defined]
    with cast.bound():
        assert AuditEntry.objects.filter(action="approval.approve").count() == 1


def test_who_comes_second_reads_who_was_first(cast: Cast) -> None:
    row = asked(cast)
    decide(cast, cast.ben, row)
    second = decide(cast, cast.ada, row, "deny")
    assert second.status_code == 409  # type: ignore[attr-defined]
    page = second.content.decode()  # type: ignore[attr-defined]
    assert "Already approved by Ben Franklin" in page
    assert "data-when" in page
    assert "Approve once</button>" not in page
    with cast.bound():
        row.refresh_from_db()
        assert row.state == "approved"


def test_an_answer_to_what_was_not_shown_is_refused(cast: Cast) -> None:
    row = asked(cast)
    answer = decide(cast, cast.ben, row, digest="0" * 64)
    assert answer.status_code == 409  # type: ignore[attr-defined]
    with cast.bound():
        row.refresh_from_db()
        assert row.is_open


def test_an_answer_that_is_none_is_refused(cast: Cast) -> None:
    row = asked(cast)
    assert decide(cast, cast.ben, row, "perhaps").status_code == 422  # type: ignore[attr-defined]


def test_eight_hours_for_what_nothing_limits_are_refused_in_words(cast: Cast) -> None:
    row = asked(cast, "rm -rf *")
    answer = decide(cast, cast.ben, row, "approve_for")
    assert answer.status_code == 422  # type: ignore[attr-defined]
    assert "approved once only" in answer.content.decode()  # type: ignore[attr-defined]


def test_a_question_that_has_expired_is_answered_by_time(cast: Cast) -> None:
    with cast.bound():
        row = ask(cast, attended=False)
        Approval.objects.filter(pk=row.pk).update(expires_at=timezone.now())
    answer = decide(cast, cast.ben, row)
    assert answer.status_code == 409  # type: ignore[attr-defined]
    assert "counts as denied" in answer.content.decode()  # type: ignore[attr-defined]
    with cast.bound():
        row.refresh_from_db()
        assert row.state == "expired"


def test_from_a_conversation_the_card_comes_back(cast: Cast) -> None:
    row = asked(cast)
    client = cast.client(cast.ben)
    card = client.get(cast.path(f"inbox/{row.pk}/card/")).content.decode()
    assert f'id="approval-{row.pk}"' in card
    assert 'name="shown" value="0-0-0"' in card
    again = client.get(cast.path(f"inbox/{row.pk}/card/"), {"shown": "0-0-0"})
    assert again.status_code == 204
    answer = client.post(
        cast.path(f"inbox/{row.pk}/decide/"),
        {"decision": "deny", "digest": row.digest},
        headers={"HX-Request": "true"},
    )
    assert f'id="approval-{row.pk}"' in answer.content.decode()
    assert "approval-detail" not in answer.content.decode()


def test_without_script_the_answer_leads_back_to_the_question(cast: Cast) -> None:
    row = asked(cast)
    answer = cast.client(cast.ben).post(
        cast.path(f"inbox/{row.pk}/decide/"), {"decision": "deny", "digest": row.digest}
    )
    assert answer.status_code == 302
    assert answer["Location"] == cast.path(f"inbox/{row.pk}/")
