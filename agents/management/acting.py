"""What the agents' commands share: whose act it is, which agent, and refusals in words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from agents import editing
from agents.management.workspaces import workspace_called
from agents.models import Agent
from runs.models import Run
from workspaces.models import Membership, Principal, Role
from workspaces.tenancy import bind


def add_arguments(parser: CommandParser, *, agent: bool = True) -> None:
    """The workspace, the member in whose name it is done, and the agent."""
    parser.add_argument("--workspace", help="the slug of its workspace, as in /w/<slug>/")
    parser.add_argument(
        "--as", dest="member", default="", help="a member's handle; default: the owner's"
    )
    if agent:
        parser.add_argument("--name", required=True, help="the agent's name")


@contextmanager
def acting(options: dict[str, Any]) -> Iterator[Principal]:
    """Within: the workspace is bound, and refusals become CommandErrors; nothing of a refused act
    stays. Gives the principal of the member whose act it is."""
    if not options["workspace"]:
        raise CommandError("An agent belongs to a workspace: give one with --workspace.")
    try:
        with bind(workspace_called(options["workspace"])):
            yield _member(options["member"])
    except editing.HandEdited as edit:
        raise CommandError(
            f"{edit} Take it with take_agent_file or on its page, or add --over-file."
        ) from edit
    except (editing.Busy, editing.Conflict) as error:
        raise CommandError(str(error)) from error
    except ValidationError as error:
        raise CommandError(" ".join(error.messages)) from error
    except OSError as error:
        raise CommandError(f"Nothing was changed: {error.strerror or error}.") from error


def agent_called(name: str) -> Agent:
    """The agent of the bound workspace. Raises CommandError."""
    wanted = name.lstrip("@")
    rows = Agent.objects.select_related("principal", "reports_to")
    found = rows.filter(name__iexact=wanted).exclude(name="").first()
    if found is None:
        raise CommandError(f"No agent in this workspace is called @{wanted}.")
    return found


def principal_called(handle: str) -> Principal:
    """The member or agent with this handle. Raises CommandError."""
    name = handle.lstrip("@")
    found = Principal.objects.filter(handle__iexact=name, removed_at=None).first()
    if found is None:
        raise CommandError(f"Nobody in this workspace is called @{name}.")
    return found


def is_busy(agent: Agent) -> bool:
    return Run.objects.filter(agent=agent, state__in=Run.OPEN).exists()


def _member(handle: str) -> Principal:
    members = Membership.objects.select_related("principal").filter(is_active=True)
    name = handle.lstrip("@")
    found = members.filter(principal__handle__iexact=name) if name else members.filter(
        role=Role.OWNER
    )  # fmt: skip
    membership = found.first()
    if membership is None:
        raise CommandError(f"No member of this workspace is called @{name}.")
    if not membership.may(Role.ADMIN):
        raise CommandError(f"@{name} is no admin of this workspace.")
    principal: Principal = membership.principal
    return principal
