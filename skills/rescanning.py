"""New rules judge again what is installed."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from live.publish import publish
from skills.scanning import Decision, Verdict, decide, version
from workspaces import audit
from workspaces.background import enqueue
from workspaces.models import Principal
from workspaces.tenancy import bind, writable_workspace

from . import claiming, describing, holds, install, judging, rules, topics
from .lockfile import LockUnreadable, State
from .models import Skill

log = logging.getLogger(__name__)

RESCAN = "skills.tasks.rescan"


@dataclass(frozen=True, slots=True)
class Change:
    """A skill whose standing changed: what it was and is (`Skill.Decision`, or how its files differ
    from the lock)."""

    skill: Skill
    before: str
    now: str


def ask_rescan(*, by: Principal, skills: Sequence[Skill] = ()) -> None:
    """On commit these skills, or everything installed, are scanned again in the background."""
    said = {"skills": [skill.slug for skill in skills]} if skills else {}
    audit.record("skill.rescan", actor=by, subject="skills", detail=said)
    keys = [skill.pk for skill in skills]
    enqueue(rules.RESCAN, writable_workspace(), *keys, queue="files")


def rescan(
    workspace_id: UUID, *, everything: bool = False, only: Collection[UUID] = ()
) -> Sequence[Change]:
    """Skills that were judged by other rules than today's (or all, or `only` some) are scanned
    again; one that now fails is unlinked at once. An acceptance by a person holds for the findings
    it was given for."""
    with bind(workspace_id):
        rows = Skill.objects.all() if everything else Skill.objects.filter(~Q(ruleset=version()))
        rows = Skill.objects.filter(pk__in=only) if only else rows
        ids = list(rows.values_list("pk", flat=True))
    changes = []
    for key in ids:
        try:
            change = _rescan(workspace_id, key)
        except (OSError, LockUnreadable) as error:
            log.warning("the skill %s of %s is not rescanned: %s", key, workspace_id, error)
            continue
        changes += [change] if change else []
        claiming.give_back()
    return changes


def accept(skill: Skill, *, by: Principal, note: str) -> None:
    """An admin lets an installed skill that new rules hold or refuse go on, on record.

    Raises holds.CannotDecide when nobody may.
    """
    install.turn()
    now = Skill.objects.select_for_update(of=("self",)).get(pk=skill.pk)
    if now.decision == Skill.Decision.ACCEPTED:
        raise holds.CannotDecide(_("This skill is in use; there is nothing to decide."))
    if now.ruleset != version() or not now.findings_are_acceptable:
        raise holds.CannotDecide(
            _("Nobody can accept this skill as it is: uninstall or update it.")
        )
    if denied := sorted(set(now.capabilities) & set(rules.current().denied)):
        raise holds.CannotDecide(
            _("The workspace's rules forbid skills that do this: %(what)s.")
            % {"what": ", ".join(denied)}
        )
    if not note.strip():
        raise holds.CannotDecide(_("Say why the risk is taken; it is recorded with your name."))
    now.decision, now.accepted_by, now.accepted_by_name = Skill.Decision.ACCEPTED, by, by.handle
    now.accepted_rules = sorted({f["rule"] for f in now.findings if f["severity"] != "info"})
    now.save()
    detail = {"digest": now.digest, "ruleset": now.ruleset, "note": note.strip()[: holds.MOST_NOTE]}
    audit.record("skill.accept", actor=by, subject=now.slug, detail=detail)
    _tell(now)


def _rescan(workspace_id: UUID, key: UUID) -> Change | None:
    with bind(workspace_id):
        row = Skill.objects.filter(pk=key).first()
        if row is None:
            return None
        lock = install.read_lock(workspace_id)
    folder = install.directory(workspace_id, row.slug)
    files = install.read(folder)
    state = lock.state(row.slug, files)
    if state is not State.MATCHED or files is None:
        # Nothing reads it as it is; what stands there is not what a verdict could be kept for.
        return Change(row, row.decision, state.value)
    name = row.path.rpartition("/")[2] if row.origin == Skill.Origin.SOURCE else row.slug
    verdict = judging.judge(files, name)
    with bind(workspace_id):
        return _judge_again(row, verdict)


def _judge_again(row: Skill, verdict: Verdict) -> Change | None:
    install.turn()
    now = Skill.objects.select_for_update(of=("self",)).filter(pk=row.pk).first()
    if now is None or now.digest != verdict.digest:
        return None
    before, old_ruleset = now.decision, now.ruleset
    weighty = {finding.rule for finding in verdict.findings if finding.severity != "info"}
    is_covered = bool(now.accepted_by_name) and weighty <= set(now.accepted_rules)
    answer = decide(verdict, rules.current(), first=False, risk_accepted=is_covered)
    describing.by_verdict(now, verdict, answer.decision.value)
    if any(finding.rule == "limits.failure" for finding in verdict.findings):
        # No verdict is no yes, and is asked for again soon.
        now.ruleset, now.decision = "", Skill.Decision.HELD
    now.save()
    if now.decision == Skill.Decision.ACCEPTED and now.ruleset != old_ruleset:
        lock = install.read_lock(now.workspace_id)
        install.write_lock(now.workspace_id, lock.with_pin(now.slug, install.pin_of(now)))
    if before == now.decision:
        return None
    detail = {"digest": now.digest, "ruleset": verdict.ruleset, "verdict": verdict.outcome.value}
    outcome = "allow" if answer.decision is Decision.ACCEPTED else "deny"
    audit.record(
        "skill.rescan", actor=None, subject=now.slug, outcome=outcome, detail=detail,
        rule=", ".join(answer.reasons),
    )  # fmt: skip
    _tell(now)
    return Change(now, before, now.decision)


def _tell(skill: Skill) -> None:
    install.tell_links([skill.slug])
    publish(topics.skills(skill.workspace_id), "skill", data={"skill": str(skill.pk)})
