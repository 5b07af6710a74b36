"""The thirteen action classes: the closed set of what a rule can be about."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from guardrails.decisions import Decision


class ActionClass(models.TextChoices):
    FILE_DELETE = "file_delete", _("Delete a file")
    GIT_PUSH = "git_push", _("Push to a remote")
    PR_CREATE = "pr_create", _("Open a pull request")
    PR_PUBLISH = "pr_publish", _("Publish a review, a merge or a package")
    TRACKER_WRITE = "tracker_write", _("Write to an external tracker")
    FILE_WRITE_OUTSIDE_WORKTREE = (
        "file_write_outside_worktree",
        _("Write outside the worktree"),
    )
    GIT_COMMIT = "git_commit", _("Create a commit")
    NETWORK_EGRESS = "network_egress", _("Access the network")
    SECRET_ACCESS = "secret_access", _("Read a secret")
    PACKAGE_INSTALL = "package_install", _("Install a package")
    PROCESS_SPAWN = "process_spawn", _("Run a process")
    WORKSPACE_MUTATION = "workspace_mutation", _("Change the workspace's structure")
    ENCLOSURE_CONTROL = "enclosure_control", _("Drive an enclosure (reserved)")


ASKED_BY_DEFAULT = frozenset(
    {
        ActionClass.FILE_DELETE,
        ActionClass.GIT_PUSH,
        ActionClass.PR_CREATE,
        ActionClass.PR_PUBLISH,
        ActionClass.TRACKER_WRITE,
    }
)

# Outside chat a mode only reads; reading the network and a secret is still reading.
LEFT_TO_RULES_IN_EVERY_MODE = frozenset({ActionClass.NETWORK_EGRESS, ActionClass.SECRET_ACCESS})


def default_for(action_class: ActionClass) -> Decision:
    """What holds where no rule says anything."""
    return Decision.ASK if action_class in ASKED_BY_DEFAULT else Decision.ALLOW


def parse(value: str) -> ActionClass | None:
    """The class of that name; None for a name outside the closed set."""
    return ActionClass(value) if value in ActionClass.values else None
