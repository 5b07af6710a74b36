"""Roles, ownership, leaving: one owner, and nobody gives away what they do not have."""

import re
from collections.abc import Callable

import pytest
from django.db import ProgrammingError, connections

from tests.cast import Cast
from workspaces import audit, credentials, members
from workspaces.handles import free_handle
from workspaces.members import CannotChangeMember
from workspaces.models import (
    AuditEntry,
    AuditSeal,
    Credential,
    Invitation,
    Membership,
    Role,
    User,
)

pytestmark = pytest.mark.django_db


def role_of(membership: Membership) -> str:
    return str(Membership.objects.get(pk=membership.pk).role)


def test_ownership_is_passed_on_whole(cast: Cast) -> None:
    with cast.bound():
        members.transfer_ownership(cast.ben, by=cast.ada)
        assert (role_of(cast.ada), role_of(cast.ben)) == (Role.ADMIN, Role.OWNER)


def test_nobody_else_makes_or_unmakes_an_owner(cast: Cast) -> None:
    with cast.bound():
        changes: list[Callable[[], None]] = [
            lambda: members.change_role(cast.ben, Role.OWNER, by=cast.ada),
            lambda: members.change_role(cast.ada, Role.MEMBER, by=cast.ada),
            lambda: members.remove(cast.ada, by=cast.ada),
            lambda: members.change_role(cast.vera, Role.ADMIN, by=cast.ben),
            lambda: members.remove(cast.vera, by=cast.ben),
            lambda: members.transfer_ownership(cast.vera, by=cast.ben),
        ]
        for change in changes:
            with pytest.raises(CannotChangeMember):
                change()
        assert role_of(cast.ada) == Role.OWNER


def test_what_was_read_before_a_transfer_unmakes_no_owner(cast: Cast) -> None:
    """The rows of a request that was under way while ownership was passed on."""
    with cast.bound():
        ben = Membership.objects.get(pk=cast.ben.pk)
        members.transfer_ownership(cast.ben, by=cast.ada)
        late: list[Callable[[], None]] = [
            lambda: members.change_role(ben, Role.VIEWER, by=cast.ada),
            lambda: members.remove(ben, by=cast.ada),
            lambda: members.transfer_ownership(cast.vera, by=cast.ada),
        ]
        for act in late:
            with pytest.raises(CannotChangeMember):
                act()
        owners = Membership.objects.filter(role=Role.OWNER, is_active=True)
        assert list(owners) == [ben]


def test_ownership_never_goes_to_who_was_removed_meanwhile(cast: Cast) -> None:
    with cast.bound():
        members.remove(Membership.objects.get(pk=cast.ben.pk), by=cast.ada)
    with pytest.raises(CannotChangeMember), cast.bound():
        members.transfer_ownership(cast.ben, by=cast.ada)
    with cast.bound():
        assert (role_of(cast.ada), role_of(cast.ben)) == (Role.OWNER, Role.MEMBER)


def test_a_removed_member_is_out_and_may_come_back(cast: Cast) -> None:
    ben = cast.client(cast.ben)
    assert ben.get(cast.path()).status_code == 200
    with cast.bound():
        members.remove(cast.ben, by=cast.ada)
    assert ben.get(cast.path()).status_code == 404
    with cast.bound():
        members.join(cast.ben.user, Role.VIEWER)
        assert Membership.objects.filter(user=cast.ben.user).count() == 1
    assert ben.get(cast.path()).status_code == 200


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("Ada", "ada-2"),
        ("Ben", "ben-2"),
        ("CEO", "ceo-2"),
        ("Zoë Ångström", "zoe-angstrom"),
        ("漢字", "member"),
        ("../etc/passwd", "etc-passwd"),
        ("a" * 200, "a" * 58),
    ],
)
def test_a_handle_is_ascii_and_free(cast: Cast, wanted: str, given: str) -> None:
    with cast.bound():
        assert free_handle(wanted) == given


def test_the_pages_do_what_they_say(cast: Cast) -> None:
    ada = cast.client(cast.ada)
    answer = ada.post(cast.path("settings/members/invite/"), {"email": "n@x.org", "role": "viewer"})
    assert b"/invite/" in answer.content
    answer = ada.post(cast.path(f"settings/members/{cast.ben.pk}/role/"), {"role": "viewer"})
    assert answer.status_code == 302
    with cast.bound():
        assert role_of(cast.ben) == Role.VIEWER
        acts = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"workspace.create", "member.invite", "member.role"} <= acts


def test_a_secret_is_kept_sealed_and_only_hinted_at(cast: Cast) -> None:
    with cast.bound():
        kept = credentials.keep(
            Credential.Kind.MODEL_KEY, "sk-ant-0123456789abcdef", label="A", by=cast.ada.principal
        )
        row = Credential.objects.get(pk=kept.pk)
    assert b"0123456789" not in bytes(row.sealed)
    assert row.hint == "cdef"
    assert credentials.unseal(row.sealed) == "sk-ant-0123456789abcdef"


@pytest.mark.django_db(transaction=True)
def test_the_chain_names_the_first_bad_entry(committed_cast: Cast) -> None:
    cast = committed_cast
    with cast.bound():
        for number in range(5):
            audit.record("test.act", actor=cast.ada.principal, subject=str(number))
    assert audit.seal_all() >= 5
    assert audit.seal_all() == 0
    assert audit.verify(cast.workspace) == (None, 0)
    with cast.bound():
        audit.record("test.act", actor=cast.ada.principal, subject="late")
        victim = AuditSeal.objects.order_by("seq")[2]
    assert audit.verify(cast.workspace) == (None, 1)
    with connections["owner"].cursor() as cursor:  # the application role holds no UPDATE here
        cursor.execute(
            "UPDATE workspaces_auditentry SET subject = 'else' WHERE id = %s", [victim.audit_id]
        )
    assert audit.verify(cast.workspace)[0] == victim


def test_who_is_invited_becomes_a_member_unless_one_says_more(cast: Cast) -> None:
    page = cast.client(cast.ada).get(cast.path("settings/members/")).content.decode()
    assert '<option value="member" selected>' in page.split("<table")[0]


def test_the_audit_tells_each_reader_in_the_own_language(cast: Cast) -> None:
    from outside.sentences import phrase

    with cast.bound():
        said = phrase("%(agent)s in %(space)s") % {"agent": "ceo", "space": "Engine room"}
        entry = audit.record("autonomy.set", actor=cast.ada.principal, subject=said)
    assert entry.subject == "ceo in Engine room"
    ada = cast.client(cast.ada)
    for language, words in (("en", "ceo in Engine room"), ("pt", "ceo em Engine room")):
        page = ada.get(cast.path("settings/audit/"), headers={"accept-language": language})
        assert words in page.content.decode()


def test_the_application_cannot_change_what_the_audit_says(cast: Cast) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"), cast.bound():
        AuditEntry.objects.update(subject="else")


def test_the_same_person_signs_in_whatever_the_case(cast: Cast) -> None:
    with pytest.raises(Exception, match="unique"):
        User.objects.create_user("ADA@example.org", "x")


@pytest.mark.parametrize("email", ["Ben@example.org", "x" * 250 + "@example.org", "nobody", ""])
def test_whom_one_cannot_invite_is_said_at_the_field(cast: Cast, email: str) -> None:
    page = cast.client(cast.ada).post(
        cast.path("settings/members/invite/"), {"email": email, "role": "member"}
    )
    assert page.status_code == 422
    assert 'aria-invalid="true"' in page.content.decode()
    with cast.bound():
        assert not Invitation.objects.exists()


@pytest.mark.parametrize("role", [Role.GUEST, Role.VIEWER, Role.MEMBER, Role.ADMIN])
def test_nobody_is_shown_a_way_that_is_closed_to_them(cast: Cast, role: Role) -> None:
    with cast.bound():
        members.change_role(cast.ben, role, by=cast.ada)
    ben = cast.client(cast.ben)
    home = cast.path()
    shown = set(re.findall(r'href="(/[^"#]*)"', ben.get(home).content.decode()))
    if role != Role.GUEST:
        settings = ben.get(cast.path("settings/")).content.decode()
        shown |= set(re.findall(r'href="(/[^"#]*)"', settings))
    ways = {way for way in shown if way.startswith(home) and "/static/" not in way}
    assert cast.path("spaces/") in ways
    assert {way: ben.get(way).status_code for way in ways} == dict.fromkeys(ways, 200)
