"""The audit log: a row in the act's own transaction, sealed into a chain behind it."""

import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from outside.sentences import Sentence

from .models import ApiToken, AuditEntry, AuditSeal, Principal, Workspace
from .tenancy import across_workspaces, bind

BATCH = 5000
GENESIS = "0" * 64


_token: ContextVar[ApiToken | None] = ContextVar("audit_token", default=None)


@contextmanager
def through(token: ApiToken | None) -> Iterator[None]:
    """Within: entries say which personal token acted, by its id, name and prefix."""
    before = _token.set(token)
    try:
        yield
    finally:
        _token.reset(before)


def record(
    action: str,
    *,
    actor: Principal | None,
    on_behalf_of: Principal | None = None,
    subject: str = "",
    outcome: str = "allow",
    rule: str = "",
    detail: dict[str, Any] | None = None,
) -> AuditEntry:
    """One row about one act, in the bound workspace and the current transaction. A subject that is
    a Sentence is kept in English, and in the detail how it was made, under the same seal."""
    words = {"words": subject.made()} if isinstance(subject, Sentence) else {}
    return AuditEntry.objects.create(
        action=action,
        outcome=outcome,
        actor=actor,
        actor_name=str(actor or "")[:160],
        on_behalf_of=on_behalf_of,
        subject=subject[:300],
        rule=rule[:300],
        detail={**(detail or {}), **words, **_through()},
    )


def _through() -> dict[str, Any]:
    token = _token.get()
    if token is None:
        return {}
    return {"through": {"token": str(token.pk), "name": token.name, "prefix": token.prefix}}


def seal_all() -> int:
    """Seals the open tail of every workspace. Returns how many entries were sealed."""
    with across_workspaces():
        ids = list(
            AuditEntry.objects.extra(
                where=[
                    "NOT EXISTS (SELECT 1 FROM workspaces_auditseal s"
                    " WHERE s.audit_id = workspaces_auditentry.id"
                    " AND s.workspace_id = workspaces_auditentry.workspace_id)"
                ]
            )
            .order_by()
            .values_list("workspace_id", flat=True)
            .distinct()
        )
    return sum(seal(workspace_id) for workspace_id in ids)


def seal(workspace_id: UUID) -> int:
    """Appends a seal for each entry that has none, one sealer at a time per workspace."""
    with bind(workspace_id):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_try_advisory_xact_lock(hashtext(%s))", [f"seal {workspace_id}"]
            )
            if not cursor.fetchone()[0]:
                return 0
        last = AuditSeal.objects.order_by("-seq").first()
        seq, previous = (last.seq, last.hmac) if last else (0, GENESIS)
        sealed = AuditSeal.objects.values("audit_id")
        seals = []
        for entry in AuditEntry.objects.exclude(id__in=sealed).order_by("at", "id")[:BATCH]:
            seq, previous = seq + 1, _link(previous, entry)
            seals.append(
                AuditSeal(workspace_id=workspace_id, seq=seq, audit_id=entry.id, hmac=previous)
            )
        AuditSeal.objects.bulk_create(seals)
        return len(seals)


def verify(workspace: Workspace) -> tuple[AuditSeal | None, int]:
    """Walks the chain. Returns the first seal that does not hold, and how many entries are open."""
    with bind(workspace):
        entries = {entry.id: entry for entry in AuditEntry.objects.iterator()}
        previous, expected = GENESIS, 1
        for seal_row in AuditSeal.objects.order_by("seq").iterator():
            entry = entries.pop(seal_row.audit_id, None)
            if seal_row.seq != expected or entry is None:
                return seal_row, len(entries)
            previous = _link(previous, entry)
            if not hmac.compare_digest(previous, seal_row.hmac):
                return seal_row, len(entries)
            expected += 1
        return None, len(entries)


def _link(previous: str, entry: AuditEntry) -> str:
    fields = [
        previous,
        str(entry.workspace_id),
        str(entry.id),
        entry.at.isoformat(),
        entry.action,
        entry.outcome,
        str(entry.actor_id or ""),
        entry.actor_name,
        str(entry.on_behalf_of_id or ""),
        entry.subject,
        entry.rule,
        json.dumps(entry.detail, sort_keys=True),
    ]
    canonical = b"".join(len(raw).to_bytes(8, "big") + raw for raw in map(str.encode, fields))
    return hmac.new(settings.SECRETS.audit_key.encode(), canonical, sha256).hexdigest()
