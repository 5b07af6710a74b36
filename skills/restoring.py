"""Bringing back what the lock names: on a fresh machine, or after files were lost or changed."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from live.publish import publish
from outside import git
from outside.crashpoint import crashpoint
from outside.sentences import phrase as _
from skills.scanning import Decision, Verdict, decide, digest, version
from workspaces import audit
from workspaces.background import enqueue
from workspaces.credentials import CannotUnseal
from workspaces.models import Principal
from workspaces.tenancy import bind, writable_workspace

from . import (
    bringing,
    claiming,
    describing,
    fetching,
    install,
    judging,
    previews,
    reach,
    rules,
    seeded,
    topics,
)
from .lockfile import LOCAL, Lock, Pin, computed_hash
from .models import Skill, SkillSource
from .scanning import File

log = logging.getLogger(__name__)

RESTORE = "skills.tasks.restore"


class _Failed(Exception):
    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of one entry of the lock: `kept`, `restored`, or `failed` with a sentence."""

    name: str
    outcome: str
    sentence: str = ""


def ask_restore(*, by: Principal, names: Collection[str] = ()) -> None:
    """On commit the named skills (or all that do not match) are brought back in the background."""
    audit.record("skill.restore", actor=by, subject="skills", detail={"names": sorted(names)})
    enqueue(RESTORE, writable_workspace(), *sorted(names), queue="files")


def restore(workspace_id: UUID, *, names: Collection[str] = ()) -> Sequence[Restored]:
    """Each skill of the lock stands again with exactly the locked bytes, fetched at the locked
    commit and through the same gate; what cannot be had is left out and said.

    Raises lockfile.LockUnreadable.
    """
    with bind(workspace_id):
        lock = install.read_lock(workspace_id)
    wanted = [name for name in sorted(lock.pins) if not names or name in names]
    found = [_restore(workspace_id, name, lock) for name in wanted]
    found += [
        Restored(name, "failed", _("The lock does not name it."))
        for name in sorted(set(names) - set(wanted))
    ]
    with bind(workspace_id):
        for one in found:
            if one.outcome != "kept":
                _note(one, lock)
        publish(topics.skills(workspace_id), "restored", data={})
    return found


def rebuild_lock(workspace_id: UUID) -> Sequence[str]:
    """A lock that was lost or damaged is written anew from the rows. Returns the names that are in
    it; whether their files still are those, `standing` says as ever."""
    with bind(workspace_id):
        install.turn()
        rows = list(Skill.objects.all())
        lock = Lock({row.slug: install.pin_of(row) for row in rows})
        install.write_lock(workspace_id, lock)
        audit.record(
            "skill.lock", actor=None, subject="skills", detail={"names": sorted(lock.pins)}
        )
    return sorted(lock.pins)


def _note(one: Restored, lock: Lock) -> None:
    pin = lock.pins.get(one.name)
    detail = {"digest": pin.digest if pin else "", "why": one.sentence}
    outcome = "allow" if one.outcome == "restored" else "deny"
    audit.record("skill.restore", actor=None, subject=one.name, outcome=outcome, detail=detail)


def _restore(workspace_id: UUID, name: str, lock: Lock) -> Restored:
    pin = lock.pins[name]
    try:
        with bind(workspace_id):
            row = Skill.objects.filter(slug=name).first()
            source = _source_of(pin, row)
        if row is not None and row.digest == pin.digest and _stands(workspace_id, name, pin):
            return Restored(name, "kept")
        files, folder = _bring(name, pin, source)
        crashpoint("skill-fetched")
        if digest(files) != pin.digest:
            raise _Failed(_("The repository gives other bytes for the locked commit."))
        verdict = judging.judge(files, folder)
        crashpoint("skill-judged")
        with bind(workspace_id):
            _write(name, pin, files, verdict, source)
    except _Failed as failed:
        return Restored(name, "failed", failed.sentence)
    except git.GitError as error:
        return Restored(name, "failed", error.sentence)
    except (fetching.NotOffered, claiming.Ended) as error:
        return Restored(name, "failed", error.sentence)
    except CannotUnseal as error:
        return Restored(name, "failed", str(error))
    except OSError as error:
        return Restored(name, "failed", claiming.disk_sentence(error))
    finally:
        claiming.give_back()
    return Restored(name, "restored")


def _stands(workspace_id: UUID, name: str, pin: Pin) -> bool:
    files = install.read(install.directory(workspace_id, name))
    return files is not None and digest(files) == pin.digest


def _source_of(pin: Pin, row: Skill | None) -> SkillSource | None:
    """The registered source of a pin, under the address that it has now; None for what was written
    here or came with the program.

    Raises _Failed when it is not registered: a lock is no reason to trust a new place.
    """
    if pin.source_type == LOCAL:
        return None
    address = pin.source_url or f"{reach.GITHUB}{pin.source}"
    sources = SkillSource.objects.filter(address__iexact=address).select_related("credential")
    found = sources.filter(ref=pin.ref).first() or sources.first()
    if found is None and row and row.source_id and row.source_address == address:
        found = SkillSource.objects.select_related("credential").filter(pk=row.source_id).first()
    if found is None or found.state == SkillSource.State.REMOVING:
        raise _Failed(
            _("Its source %(address)s is not registered. Register it, then restore again.")
            % {"address": address}
        )
    return found


def _bring(name: str, pin: Pin, source: SkillSource | None) -> tuple[dict[str, File], str]:
    if source is None:
        shipped = seeded.shipped(name)
        if shipped is None:
            raise _Failed(
                _(
                    "It was written here, so only a backup or an export has it. Uninstall it, or "
                    "put its files back."
                )
            )
        return shipped, name
    path = pin.skill_path.rpartition("/")[0]
    fetched = fetching.fetch(source, path, pin.commit)
    return dict(fetched.files), fetched.folder


def _write(
    name: str, pin: Pin, files: dict[str, File], verdict: Verdict, source: SkillSource | None
) -> None:
    bringing.require_verdict(verdict, files)
    install.turn()
    row = Skill.objects.filter(slug=name).first()
    yes = row if row is not None and row.digest == pin.digest else None
    weighty = {finding.rule for finding in verdict.findings if finding.severity != "info"}
    is_covered = (
        yes is not None and bool(yes.accepted_by_name) and weighty <= set(yes.accepted_rules)
    )
    # The lock says that somebody let exactly these bytes in; a risk is taken here or not at all.
    answer = decide(verdict, rules.current(), first=False, risk_accepted=is_covered)
    if answer.decision is not Decision.ACCEPTED or verdict.ruleset != version():
        raise _Failed(
            _("The gate does not let it in by today's rules (%(why)s). Look at it in its source.")
            % {"why": ", ".join(answer.reasons)}
        )
    skill = row or Skill(slug=name)
    _describe(skill, pin, files, source)
    describing.by_verdict(skill, verdict, Skill.Decision.ACCEPTED)
    install.put(skill, files)


def _describe(skill: Skill, pin: Pin, files: dict[str, File], source: SkillSource | None) -> None:
    path, _slash, skill_file = pin.skill_path.rpartition("/")
    skill.description = previews.spelled(previews.front(files, skill_file)[0])[:1024]
    skill.digest, skill.computed_hash = pin.digest, computed_hash(files)
    skill.previous_digest = pin.previous_digest
    skill.commit, skill.tree_sha, skill.ref = pin.commit, pin.tree_sha, pin.ref
    skill.path, skill.skill_file, skill.installed_at = path, skill_file, timezone.now()
    if source is None:
        skill.origin = Skill.Origin.SEEDED
        return
    skill.origin, skill.source = Skill.Origin.SOURCE, source
    skill.source_name, skill.source_address = source.name, source.address
    skill.source_type = pin.source_type
