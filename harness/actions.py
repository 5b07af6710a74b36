"""The thirteen action classes: the closed vocabulary in which tools say what they do."""

from enum import StrEnum


class ActionClass(StrEnum):
    FILE_DELETE = "file_delete"
    FILE_WRITE_OUTSIDE_WORKTREE = "file_write_outside_worktree"
    GIT_COMMIT = "git_commit"
    GIT_PUSH = "git_push"
    PR_CREATE = "pr_create"
    PR_PUBLISH = "pr_publish"
    TRACKER_WRITE = "tracker_write"
    NETWORK_EGRESS = "network_egress"
    SECRET_ACCESS = "secret_access"
    PACKAGE_INSTALL = "package_install"
    PROCESS_SPAWN = "process_spawn"
    WORKSPACE_MUTATION = "workspace_mutation"
    ENCLOSURE_CONTROL = "enclosure_control"
