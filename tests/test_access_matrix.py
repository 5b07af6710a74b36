"""Every route × persona × method. A route without an entry here fails the build.

What is foreign answers exactly like what is missing: same status, same body.
"""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from agents.definitions import DefinitionImport
from guardrails.models import Approval, Rule
from repositories.models import PushRequest, Repository
from runs.models import Run, RunCursor
from skills.models import Skill, SkillListing, SkillRequest, SkillSource
from tests.cast import Cast
from workspaces import invitations, members, tokens
from workspaces.models import ApiToken, Membership, ModelConnection, Role
from workspaces.tenancy import bind

pytestmark = pytest.mark.django_db

# name → (least role, methods). The role is what the view asks for at its door; what a POST asks
# for beyond it stands in STRICTER.
MATRIX: dict[str, tuple[str, str]] = {
    "agents:agent-bulk": (Role.ADMIN, "POST"),
    "agents:agent-bulk-undo": (Role.ADMIN, "POST"),
    "agents:agent-create": (Role.ADMIN, "POST"),
    "agents:agent-delete": (Role.ADMIN, "POST"),
    "agents:agent-export": (Role.VIEWER, "GET"),
    "agents:agent-files": (Role.VIEWER, "GET"),
    "agents:agent-heal": (Role.ADMIN, "POST"),
    "agents:agent-list": (Role.VIEWER, "GET"),
    "agents:agent-prompt": (Role.VIEWER, "GET"),
    "agents:agent-runs": (Role.VIEWER, "GET"),
    "agents:agent-runs-on": (Role.VIEWER, "GET"),
    "agents:agent-show": (Role.VIEWER, "GET POST"),
    "agents:agent-take-file": (Role.ADMIN, "POST"),
    "agents:definition-edit": (Role.MEMBER, "GET POST"),
    "agents:definition-new": (Role.MEMBER, "GET POST"),
    "agents:definition-remove": (Role.MEMBER, "POST"),
    "agents:import-again": (Role.MEMBER, "POST"),
    "agents:import-create": (Role.MEMBER, "POST"),
    "agents:import-now": (Role.MEMBER, "GET"),
    "agents:import-show": (Role.MEMBER, "GET POST"),
    "agents:import-undo": (Role.ADMIN, "POST"),
    "agents:library-adopt": (Role.ADMIN, "POST"),
    "agents:library-duplicates": (Role.VIEWER, "GET"),
    "agents:library-import": (Role.MEMBER, "GET POST"),
    "agents:library-prompt": (Role.MEMBER, "GET POST"),
    "agents:library-settings": (Role.ADMIN, "GET POST"),
    "agents:library-show": (Role.VIEWER, "GET"),
    "agents:library-trust": (Role.ADMIN, "GET POST"),
    "agents:library-undo": (Role.MEMBER, "POST"),
    "agents:mirror-show": (Role.VIEWER, "GET"),
    "agents:orgchart-move": (Role.ADMIN, "POST"),
    "agents:orgchart-show": (Role.VIEWER, "GET"),
    "agents:orgchart-svg": (Role.VIEWER, "GET"),
    "agents:orgchart-undo": (Role.ADMIN, "POST"),
    "guardrails:approval-card": (Role.GUEST, "GET"),
    "guardrails:approval-decide": (Role.MEMBER, "POST"),
    "guardrails:approval-detail": (Role.VIEWER, "GET"),
    "guardrails:autonomy-set": (Role.MEMBER, "POST"),
    "guardrails:inbox": (Role.VIEWER, "GET"),
    "guardrails:inbox-count": (Role.VIEWER, "GET"),
    "guardrails:inbox-show": (Role.VIEWER, "GET"),
    "guardrails:inbox-list": (Role.VIEWER, "GET"),
    "guardrails:rule-create": (Role.ADMIN, "GET POST"),
    "guardrails:rule-edit": (Role.ADMIN, "GET POST"),
    "guardrails:rule-list": (Role.MEMBER, "GET"),
    "guardrails:rule-revoke": (Role.MEMBER, "POST"),
    "guardrails:waiting-set": (Role.ADMIN, "POST"),
    "guardrails:what-if": (Role.MEMBER, "GET"),
    "repositories:push-diff": (Role.GUEST, "GET"),
    "repositories:push-diff-whole": (Role.GUEST, "GET"),
    "repositories:push-list": (Role.GUEST, "GET"),
    "repositories:push-show": (Role.GUEST, "GET"),
    "repositories:repository-add": (Role.ADMIN, "POST"),
    "repositories:repository-credential": (Role.ADMIN, "POST"),
    "repositories:repository-fetch": (Role.MEMBER, "POST"),
    "repositories:repository-list": (Role.VIEWER, "GET"),
    "repositories:repository-remove": (Role.ADMIN, "POST"),
    "repositories:repository-show": (Role.VIEWER, "GET"),
    "repositories:skill-accept": (Role.ADMIN, "POST"),
    "repositories:skill-withdraw": (Role.ADMIN, "POST"),
    "runs:run-list": (Role.VIEWER, "GET"),
    "runs:run-pause": (Role.MEMBER, "POST"),
    "runs:run-resume": (Role.MEMBER, "POST"),
    "runs:run-show": (Role.GUEST, "GET"),
    "runs:run-steer": (Role.MEMBER, "POST"),
    "runs:run-stop": (Role.MEMBER, "POST"),
    "runs:run-transcript": (Role.GUEST, "GET"),
    "spaces:active-choose": (Role.MEMBER, "POST"),
    "skills:draft-edit": (Role.ADMIN, "GET"),
    "skills:editor-preview": (Role.ADMIN, "POST"),
    "skills:held-list": (Role.VIEWER, "GET"),
    "skills:listing-preview": (Role.MEMBER, "POST"),
    "skills:place-list": (Role.VIEWER, "GET"),
    "skills:request-accept": (Role.ADMIN, "POST"),
    "skills:request-again": (Role.MEMBER, "POST"),
    "skills:request-body": (Role.VIEWER, "GET"),
    "skills:request-cancel": (Role.MEMBER, "POST"),
    "skills:request-files": (Role.VIEWER, "GET"),
    "skills:request-install": (Role.MEMBER, "POST"),
    "skills:request-refuse": (Role.ADMIN, "POST"),
    "skills:request-show": (Role.VIEWER, "GET"),
    "skills:rules-show": (Role.VIEWER, "GET POST"),
    "skills:skill-accept": (Role.ADMIN, "POST"),
    "skills:skill-agents": (Role.VIEWER, "GET"),
    "skills:skill-bring-back": (Role.ADMIN, "POST"),
    "skills:skill-bulk": (Role.ADMIN, "POST"),
    "skills:skill-create": (Role.ADMIN, "GET POST"),
    "skills:skill-edit": (Role.ADMIN, "GET POST"),
    "skills:skill-export": (Role.VIEWER, "GET"),
    "skills:skill-files": (Role.VIEWER, "GET"),
    "skills:skill-findings": (Role.VIEWER, "GET"),
    "skills:skill-history": (Role.VIEWER, "GET"),
    "skills:skill-link": (Role.ADMIN, "POST"),
    "skills:skill-list": (Role.VIEWER, "GET"),
    "skills:skill-rescan": (Role.ADMIN, "POST"),
    "skills:skill-restore": (Role.ADMIN, "POST"),
    "skills:skill-show": (Role.VIEWER, "GET"),
    "skills:skill-uninstall": (Role.ADMIN, "POST"),
    "skills:skill-update": (Role.ADMIN, "POST"),
    "skills:source-add": (Role.ADMIN, "POST"),
    "skills:source-credential": (Role.ADMIN, "POST"),
    "skills:source-list": (Role.VIEWER, "GET"),
    "skills:source-remove": (Role.ADMIN, "POST"),
    "skills:source-show": (Role.VIEWER, "GET"),
    "skills:source-sync": (Role.MEMBER, "POST"),
    "spaces:conversation-create": (Role.MEMBER, "GET POST"),
    "spaces:conversation-now": (Role.GUEST, "GET"),
    "spaces:conversation-show": (Role.GUEST, "GET"),
    "spaces:conversation-timeline": (Role.GUEST, "GET"),
    "spaces:mention-list": (Role.GUEST, "GET"),
    "spaces:message-post": (Role.MEMBER, "POST"),
    "spaces:skill-list": (Role.MEMBER, "GET"),
    "spaces:space-archive": (Role.ADMIN, "POST"),
    "spaces:space-create": (Role.MEMBER, "GET POST"),
    "spaces:space-edit": (Role.MEMBER, "GET POST"),
    "spaces:space-list": (Role.GUEST, "GET"),
    "spaces:space-show": (Role.GUEST, "GET"),
    "workspaces:audit-list": (Role.ADMIN, "GET"),
    "workspaces:home": (Role.GUEST, "GET"),
    "workspaces:invitation-create": (Role.ADMIN, "POST"),
    "workspaces:invitation-revoke": (Role.ADMIN, "POST"),
    "workspaces:member-list": (Role.VIEWER, "GET"),
    "workspaces:member-remove": (Role.GUEST, "POST"),
    "workspaces:member-role": (Role.ADMIN, "POST"),
    "workspaces:member-transfer": (Role.OWNER, "POST"),
    "workspaces:model-add": (Role.ADMIN, "POST"),
    "workspaces:model-check": (Role.ADMIN, "POST"),
    "workspaces:model-default": (Role.ADMIN, "POST"),
    "workspaces:model-list": (Role.VIEWER, "GET"),
    "workspaces:model-remove": (Role.ADMIN, "POST"),
    "workspaces:model-show": (Role.VIEWER, "GET"),
    "workspaces:settings-show": (Role.VIEWER, "GET POST"),
    "workspaces:setup-show": (Role.VIEWER, "GET"),
    "workspaces:token-create": (Role.VIEWER, "POST"),
    "workspaces:token-list": (Role.VIEWER, "GET"),
    "workspaces:token-revoke": (Role.VIEWER, "POST"),
}
# What programs call: name → the least role of each method.
API: dict[str, dict[str, str]] = {
    "agents:api-agent": {"GET": Role.VIEWER, "PATCH": Role.ADMIN, "DELETE": Role.ADMIN},
    "agents:api-agent-archive": {"POST": Role.ADMIN},
    "agents:api-agent-export": {"GET": Role.VIEWER},
    "agents:api-agent-heal": {"POST": Role.ADMIN},
    "agents:api-agent-loss": {"GET": Role.VIEWER},
    "agents:api-agent-mirror": {"GET": Role.VIEWER},
    "agents:api-agent-pause": {"POST": Role.ADMIN},
    "agents:api-agent-prompt": {"GET": Role.VIEWER},
    "agents:api-agent-resume": {"POST": Role.ADMIN},
    "agents:api-agent-take": {"POST": Role.ADMIN},
    "agents:api-agents": {"GET": Role.VIEWER, "POST": Role.ADMIN},
    "agents:api-agents-several": {"POST": Role.ADMIN},
    "agents:api-mirror": {"GET": Role.VIEWER},
    "agents:api-move": {"POST": Role.ADMIN},
    "spaces:api-conversation": {"GET": Role.GUEST},
    "spaces:api-conversations": {"POST": Role.MEMBER},
}
# Routes outside a workspace: who reaches them without signing in is told by their own tests.
OUTSIDE = {
    "instance-home",
    "healthz",
    "help-show",
    "help-page",
    "style-show",
    "workspaces:workspace-create",
    "workspaces:invitation-show",
    "workspaces:you-show",
}
# Deleting twice is harmless, so these lead back to their list instead of a 404.
LEAD_BACK = {"agents:agent-delete", "skills:skill-uninstall", "workspaces:model-remove"}
RANK = [Role.GUEST, Role.VIEWER, Role.MEMBER, Role.ADMIN, Role.OWNER]


def routes() -> Iterator[tuple[str, str]]:
    """Every named route of ours with its pattern."""

    def walk(patterns: Any, prefix: str, path: str) -> Iterator[tuple[str, str]]:
        for each in patterns:
            here = path + str(each.pattern)
            if isinstance(each, URLResolver):
                space = f"{prefix}{each.namespace}:" if each.namespace else prefix
                if not here.startswith("accounts/"):
                    yield from walk(each.url_patterns, space, here)
            elif isinstance(each, URLPattern):
                yield f"{prefix}{each.name}", here

    yield from walk(get_resolver().url_patterns, "", "")


ROUTES = dict(routes())
FOR_PROGRAMS = "w/<slug:workspace>/api/"
INSIDE = sorted(
    name
    for name, path in ROUTES.items()
    if path.startswith("w/") and not path.startswith(FOR_PROGRAMS)
)


def test_every_route_has_an_entry() -> None:
    programs = {name for name, path in ROUTES.items() if path.startswith(FOR_PROGRAMS)}
    assert programs == set(API), "add the route to API"
    assert set(INSIDE) - set(MATRIX) == set(), "add the route to MATRIX"
    assert set(MATRIX) - set(INSIDE) == set(), "the route is gone"
    assert {name for name, path in ROUTES.items() if not path.startswith("w/")} - OUTSIDE == set()


def test_every_room_asks_at_its_door() -> None:
    """The view's own role is the one of the table, so that the table cannot lie."""
    roles = {}

    def walk(patterns: Any, prefix: str) -> None:
        for each in patterns:
            if isinstance(each, URLResolver):
                walk(each.url_patterns, f"{prefix}{each.namespace}:" if each.namespace else prefix)
            else:
                view = each.callback
                while view is not None and not hasattr(view, "role") and not hasattr(view, "roles"):
                    view = getattr(view, "__wrapped__", None)
                found = getattr(view, "roles", getattr(view, "role", None))
                roles[f"{prefix}{each.name}"] = found

    walk(get_resolver().url_patterns, "")
    assert {name: roles[name] for name in INSIDE} == {
        name: MATRIX[name][0] for name in INSIDE if name in MATRIX
    }
    assert {name: roles[name] for name in API} == API


class World:
    """The cast with one row of everything that a route can name, here and elsewhere."""

    def __init__(self, cast: Cast) -> None:
        self.cast = cast
        self.own = self._rows(cast.workspace, cast)
        with bind(cast.elsewhere):
            self.foreign: dict[str, Any] = {key: uuid4() for key in self.own}
            self.foreign["space"] = "elsewhere-only"
        self.people: dict[str, Membership | None] = {
            "anonymous": None,
            "owner": cast.ada,
            "member": cast.ben,
            "viewer": cast.vera,
            "stranger": cast.eve,
        }
        with bind(cast.workspace):
            from tests.cast import PASSWORD
            from workspaces.models import User

            for role in (Role.ADMIN, Role.GUEST):
                user = User.objects.create_user(f"{role}@example.org", PASSWORD, name=str(role))
                self.people[str(role)] = members.join(user, role)
            gone = User.objects.create_user("gone@example.org", PASSWORD, name="Gone")
            was_here = self.people["removed"] = members.join(gone, Role.MEMBER)
            members.remove(was_here, by=cast.ada)

    def _rows(self, workspace: Any, cast: Cast) -> dict[str, Any]:
        with bind(workspace):
            run = Run.objects.create(
                agent=cast.engineer,
                space=cast.space,
                conversation=cast.conversation,
                adapter="cc-harness",
            )
            RunCursor.objects.create(run=run)
            invitation, _token = invitations.invite(
                email="new@example.org", role=Role.VIEWER, by=cast.ada.principal
            )
            connection = ModelConnection.objects.create(provider="demo", name="demo")
            approval = Approval.objects.create(
                run_id=run.pk,
                space=cast.space,
                conversation=cast.conversation,
                asked_by=cast.engineer.principal,
                kind="command",
                title="rm -r build",
                digest="d" * 64,
            )
            rule = Rule.objects.create(action_class="git_push", decision="ask")
            repository = Repository.objects.create(name="engine", address="https://x.example/e")
            push = PushRequest.objects.create(
                number=1,
                repository=repository,
                repository_name="engine",
                run_id=run.pk,
                conversation=cast.conversation,
                space=cast.space,
                digest="e" * 64,
                state="refused",
            )
            source = SkillSource.objects.create(
                name="kit", address="https://x.example/kit", kind="git", synced_at=timezone.now()
            )
            listing = SkillListing.objects.create(source=source, path="a", name="a")
            skill = Skill.objects.create(
                slug="notes", origin="local", verdict="pass", digest="sha256:" + "0" * 64
            )
            asked = SkillRequest.objects.create(kind="local", slug="notes", state="held")
            return {
                "agent": cast.engineer.pk,
                "asked": asked.pk,
                "listing": listing.pk,
                "skill": skill.pk,
                "source": source.pk,
                "dialect": "fuxi",
                "entry": DefinitionImport.objects.create(kind="upload", by=cast.ada.principal).pk,
                "approval": approval.pk,
                "connection": connection.pk,
                "conversation": cast.conversation.pk,
                "invitation": invitation.pk,
                "member": cast.ben.pk,
                "repository": repository.pk,
                "push": push.pk,
                "request": push.pk,
                "rule": rule.pk,
                "run": run.pk,
                "space": cast.space.slug,
                "token": ApiToken.objects.create(
                    user=cast.ada.user, name="t", secret_hash=uuid4().hex
                ).pk,
            }

    def callers(self) -> Iterator[tuple[str, Callable[[str, str], Any]]]:
        """Everybody who might call, by session and by token."""
        for who, membership in self.people.items():
            if membership is None:
                yield "nobody", _caller(Client())
                continue
            with bind(membership.workspace_id):
                _row, text = tokens.issue(membership, name="t", may_write=True, days=1)
            yield f"{who} by token", _caller(Client(), text)
            yield who, _caller(self.client(who))
        with bind(self.cast.workspace):
            ada = self.cast.ada
            _row, reading = tokens.issue(ada, name="t", may_write=False, days=None)
            revoked, gone = tokens.issue(ada, name="t", may_write=True, days=None)
            tokens.revoke(revoked, by=ada)
            ended, late = tokens.issue(ada, name="t", may_write=True, days=1)
            past = timezone.now() - timedelta(seconds=1)
            ApiToken.objects.filter(pk=ended.pk).update(expires_at=past)
        yield "owner to read by token", _caller(Client(), reading)
        yield "revoked token", _caller(Client(), gone)
        yield "ended token", _caller(Client(), late)

    def client(self, who: str) -> Client:
        return self.cast.client(self.people[who])

    def address(self, name: str, *, workspace: str, rows: dict[str, Any]) -> str:
        return reverse(name, kwargs=self._arguments(name, workspace, rows))

    def _arguments(self, name: str, workspace: str, rows: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for converter, key in re.findall(r"<(?:(\w+):)?(\w+)>", ROUTES[name]):
            value = workspace if key == "workspace" else rows[key]
            if converter == "uuid" and not isinstance(value, UUID):
                value = self.cast.space.pk if rows is self.own else uuid4()
            found[key] = value
        return found


@pytest.fixture
def world(cast: Cast) -> World:
    return World(cast)


def ask(client: Client, method: str, address: str) -> Any:
    client.raise_request_exception = False
    return client.generic(method, address)


def _caller(client: Client, token: str = "") -> Callable[[str, str], Any]:
    client.raise_request_exception = False
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return lambda method, address: client.generic(method, address, headers=headers)


def roles_below(role: str) -> list[str]:
    return [str(each) for each in RANK[: RANK.index(Role(role))]]


@pytest.mark.parametrize("name", INSIDE)
def test_route(name: str, world: World) -> None:
    role, methods = MATRIX[name]
    own = world.address(name, workspace="analytical", rows=world.own)
    missing = world.address(name, workspace="never-was", rows=world.own)
    for method in methods.split():
        for who in ("stranger", "removed"):
            answer, control = (ask(world.client(who), method, each) for each in (own, missing))
            assert answer.status_code == 404, f"{who} {method}"
            assert _body(answer, "analytical") == _body(control, "never-was"), f"{who} {method}"
        answer = ask(world.client("anonymous"), method, own)
        assert (answer.status_code, "/accounts/login/" in answer.headers.get("Location", "")) == (
            302,
            True,
        ), f"anonymous {method}"
        for who in roles_below(role):
            answer = ask(world.client(who), method, own)
            assert answer.status_code in {403, 404}, f"{who} {method}: {answer.status_code}"
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - set(methods.split()):
        assert ask(world.client("owner"), method, own).status_code == 405, method
    if any(f":{key}>" in ROUTES[name] for key in world.own):
        _foreign_like_missing(name, methods, world)


def _foreign_like_missing(name: str, methods: str, world: World) -> None:
    address = world.address(name, workspace="analytical", rows=world.foreign)
    for method in methods.split():
        answer = ask(world.client("owner"), method, address)
        expected = 302 if name in LEAD_BACK else 404
        assert answer.status_code == expected, f"owner {method} on what is not there"


@pytest.mark.parametrize("name", INSIDE)
def test_the_least_role_gets_in(name: str, world: World) -> None:
    role, methods = MATRIX[name]
    who = str(role) if role != Role.GUEST else "viewer"
    own = world.address(name, workspace="analytical", rows=world.own)
    for method in methods.split():
        answer = ask(world.client(who), method, own)
        if name in STRICTER and method == "POST":
            assert answer.status_code == 403
            continue
        assert answer.status_code < 500, f"{who} {method}: {answer.status_code}"
        assert answer.status_code not in {401, 403, 405}, f"{who} {method}: {answer.status_code}"


# A POST here asks for more than the door does.
STRICTER = {
    "agents:agent-show",
    "agents:library-import",
    "guardrails:rule-revoke",
    "skills:request-cancel",
    "skills:request-install",
    "skills:rules-show",
    "workspaces:member-remove",
    "workspaces:settings-show",
}


def _body(answer: Any, slug: str) -> bytes:
    """The body without what must differ: the token of the form and the address asked for."""
    body = re.sub(rb'"X-CSRFToken": "\w+"', b"", answer.content)
    body = re.sub(rb'nonce="[^"]+"', b"", body)
    return body.replace(slug.encode(), b"").replace(b"csrfmiddlewaretoken", b"")


@pytest.mark.parametrize("name", sorted(API))
def test_route_for_programs(name: str, world: World) -> None:
    """By session and by token alike; a token that works no more is nobody's."""
    own = world.address(name, workspace="analytical", rows=world.own)
    missing = world.address(name, workspace="never-was", rows=world.own)
    for method, role in API[name].items():
        reached = False
        for who, call in world.callers():
            answer, control = (call(method, each) for each in (own, missing))
            expected = _expected(who, method, role)
            assert answer.status_code in expected, f"{who} {method}: {answer.status_code}"
            if expected in ({401}, {404}):
                assert (answer.status_code, answer.content) == (
                    control.status_code,
                    control.content,
                ), f"{who} {method}"
            if 409 in expected and not reached:
                assert answer.status_code != 404, f"{who} {method}"
                reached = True
            if answer.status_code >= 400:
                assert answer["Content-Type"] == "application/problem+json"
                assert answer.json()["detail"]
    owner = dict(world.callers())["owner by token"]
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - set(API[name]):
        refused = owner(method, own)
        assert (refused.status_code, refused.json()["code"]) == (405, "wrong-method"), method
    if any(f":{key}>" in ROUTES[name] for key in world.own):
        address = world.address(name, workspace="analytical", rows=world.foreign)
        for method in API[name]:
            assert owner(method, address).status_code == 404, f"owner {method} on what is not there"


def _expected(who: str, method: str, role: str) -> set[int]:
    """The answers that a caller may get; a program that may call is told what its body lacks."""
    if who in {"nobody", "revoked token", "ended token", "removed by token"}:
        return {401}
    if who in {"stranger", "stranger by token", "removed"}:
        return {404}
    rank = who.split()[0]
    if rank in roles_below(role) or (who == "owner to read by token" and method != "GET"):
        return {403}
    return {200, 201, 204, 404, 409, 422, 428}
