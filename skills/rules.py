"""What a workspace decided beforehand about skills."""

from collections.abc import Collection
from dataclasses import replace

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from skills.scanning import CAPABILITIES, Rules
from skills.scanning.ruleset import CATALOGUE
from workspaces import audit
from workspaces.background import enqueue
from workspaces.models import Principal
from workspaces.tenancy import writable_workspace
from workspaces.turns import take_turn

from .models import SkillRules

RESCAN = "skills.tasks.rescan_all"


def current() -> Rules:
    """The rules of the bound workspace, and what its guardrails deny to everybody; without a row
    nothing is accepted beforehand."""
    forbidden: frozenset[str] = import_string(settings.CC_SKILL_DENIED)()
    own = stored()
    return replace(own, denied=frozenset(own.denied) | forbidden)


def stored() -> Rules:
    """What the admins decided about skills alone."""
    row = SkillRules.objects.first()
    if row is None:
        return Rules()
    return Rules(
        accepts_first_prose=row.accepts_first_prose,
        accepts_warnings=row.accepts_warnings,
        tolerated=frozenset(row.tolerated),
        denied=frozenset(row.denied),
    )


def change(
    *,
    by: Principal,
    accepts_first_prose: bool,
    accepts_warnings: bool,
    tolerated: Collection[str] = (),
    denied: Collection[str] = (),
) -> None:
    """The rules from now on, on record; what is installed is judged by them in the background.

    Raises ValueError for a rule id or a capability that does not exist.
    """
    unknown = sorted((set(tolerated) - set(CATALOGUE)) | (set(denied) - set(CAPABILITIES)))
    if unknown:
        raise ValueError(
            _("There is no rule or capability %(name)s.") % {"name": ", ".join(unknown)[:200]}
        )
    take_turn("skill rules")
    row = SkillRules.objects.first() or SkillRules()
    row.accepts_first_prose, row.accepts_warnings = accepts_first_prose, accepts_warnings
    row.tolerated, row.denied = sorted(set(tolerated)), sorted(set(denied))
    row.changed_by = by
    row.save()
    said = {
        "accepts_first_prose": accepts_first_prose,
        "accepts_warnings": accepts_warnings,
        "tolerated": row.tolerated,
        "denied": row.denied,
    }
    audit.record("skill.rules", actor=by, subject="skills", detail=said)
    enqueue(RESCAN, writable_workspace(), queue="files")
