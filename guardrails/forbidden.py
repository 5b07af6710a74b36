"""What the rules deny to everybody everywhere: the gate lets no skill in that would do it."""

from guardrails import rules
from guardrails.classes import ActionClass
from guardrails.decisions import Decision, Level, Scope

CLASS_OF = {
    "shell": ActionClass.PROCESS_SPAWN,
    "writes": ActionClass.FILE_WRITE_OUTSIDE_WORKTREE,
    "deletes": ActionClass.FILE_DELETE,
    "network": ActionClass.NETWORK_EGRESS,
    "secrets": ActionClass.SECRET_ACCESS,
    "installs": ActionClass.PACKAGE_INSTALL,
}


def capabilities() -> frozenset[str]:
    """The names of what a skill can do that a rule of the whole workspace, or the operator, denies
    without a limit. A deny for one agent, space, host or path leaves skills alone."""
    denied = {
        rule.action_class
        for rule in rules.in_force()
        if rule.decision is Decision.DENY
        and rule.scope is Scope.WORKSPACE
        and rule.level is not Level.ADVISORY
        and not rule.constraint
    }
    return frozenset(name for name, kind in CLASS_OF.items() if kind in denied)
