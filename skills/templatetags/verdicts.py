"""Tags that show a verdict: findings, capabilities, files with what cannot be seen made visible."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from skills import wording
from skills.comparing import CapabilityChange
from skills.models import SkillRequest
from skills.scanning import Finding, Severity, Verdict

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

register = template.Library()

MARK = re.compile(r"‹U\+([0-9A-F]{4,6})›")
FAMILIES: "dict[str, _StrPromise]" = {
    "structure": _("Structure"),
    "limits": _("Limits"),
    "frontmatter": _("Front matter"),
    "unicode": _("Characters"),
    "encoding": _("Encoding"),
    "container": _("Archives and documents"),
    "code": _("Code"),
    "agent": _("Agent settings"),
    "secret": _("Secrets"),
    "prose": _("Text"),
}
SEVERITIES: "dict[Severity, tuple[_StrPromise, str, str]]" = {
    Severity.QUARANTINE: (_("quarantines"), "failed", "shield-x"),
    Severity.WARN: (_("holds"), "blocked", "shield-alert"),
    Severity.INFO: (_("told"), "idle", "info"),
}
CAPABILITIES: "dict[str, tuple[_StrPromise, str]]" = {
    "shell": (_("Shell commands"), "square-terminal"),
    "writes": (_("File writes"), "file-pen"),
    "deletes": (_("File deletes"), "file-x"),
    "network": (_("Network"), "globe"),
    "secrets": (_("Secrets"), "key-round"),
    "installs": (_("Package installs"), "package"),
}


REASONS: "dict[str, _StrPromise]" = {
    "quarantine": _("A finding quarantines it."),
    "warn": _("A finding needs a person's judgement."),
    "first-prose": _(
        "Its text tells an agent what to do, and nobody here has said yes to it before. Read it: "
        "no rule finds every harmful order that is put politely."
    ),
    "risk-accepted": _("An admin took the risk."),
    "capability": _("No skill of this workspace may do this"),
    "guardrail": _("The workspace's permissions deny this"),
}
MARKS = {
    SkillRequest.State.QUEUED: "queued",
    SkillRequest.State.FETCHING: "running",
    SkillRequest.State.SCANNING: "running",
    SkillRequest.State.PREVIEWED: "open",
    SkillRequest.State.HELD: "held",
    SkillRequest.State.INSTALLING: "running",
    SkillRequest.State.INSTALLED: "succeeded",
    SkillRequest.State.REFUSED: "denied",
    SkillRequest.State.FAILED: "failed",
    SkillRequest.State.CANCELLED: "cancelled",
}


@dataclass
class Group:
    """The findings of one rule, which is explained once."""

    rule: str
    severity: Severity
    family: "_StrPromise | str"
    title: str
    why: str
    harmless: str
    is_final: bool
    mark: "_StrPromise | str" = ""
    places: list[Finding] = field(default_factory=list)

    @property
    def word(self) -> "_StrPromise":
        return SEVERITIES[self.severity][0]

    @property
    def tone(self) -> str:
        return SEVERITIES[self.severity][1]

    @property
    def icon(self) -> str:
        return SEVERITIES[self.severity][2]


def grouped(findings: Iterable[Finding], mark: "_StrPromise | str" = "") -> list[Group]:
    """Findings by rule and severity, the heaviest first."""
    found: dict[tuple[str, Severity], Group] = {}
    for one in findings:
        key = one.rule, one.severity
        if key not in found:
            found[key] = Group(
                rule=one.rule,
                severity=one.severity,
                family=FAMILIES.get(one.family, one.family),
                title=wording.title(one.rule),
                why=wording.why(one),
                harmless=wording.harmless(one),
                is_final=not one.acceptable,
                mark=mark,
            )
        found[key].places.append(one)
    order = list(SEVERITIES)
    return sorted(found.values(), key=lambda one: (order.index(one.severity), not one.is_final))


@register.inclusion_tag("skills/_findings.html")
def findings(
    found: Iterable[Finding], files_url: str = "", mark: "_StrPromise | str" = ""
) -> dict[str, Any]:
    """{% findings verdict.findings files_url=… %}: what was found, by rule. files_url shows a file
    (?path=…). mark: a word beside each title, such as New."""
    return {"groups": grouped(found, mark), "files_url": files_url}


@register.inclusion_tag("skills/_manifest.html")
def manifest(
    rows: Iterable[CapabilityChange],
    guardrails: Mapping[str, Any] | None = None,
    compared: bool = False,
    files_url: str = "",
) -> dict[str, Any]:
    """{% manifest rows guardrails=… %}: what it can do, and what the workspace's rules say to it.

    compared: against another version, so that what is new stands out.
    """
    shown = [
        {
            "row": row,
            "word": CAPABILITIES[row.name][0],
            "icon": CAPABILITIES[row.name][1],
            "rule": (guardrails or {}).get(row.name),
        }
        for row in rows
    ]
    return {"rows": shown, "compared": compared, "files_url": files_url}


@register.filter
def capability(name: str) -> "_StrPromise | str":
    """What people call a capability."""
    return CAPABILITIES[name][0] if name in CAPABILITIES else name


@register.filter
def mark_of(asked: SkillRequest) -> str:
    """The name under which the look knows the state of a request."""
    return MARKS[SkillRequest.State(asked.state)]


@register.filter
def reason(code: str) -> "_StrPromise | str":
    """Why the gate does not simply let a skill in, in words. `code` is of a closed set; what is not
    known is shown as it is."""
    kind, _colon, name = code.partition(":")
    if kind in {"capability", "guardrail"}:
        return format_lazy("{}: {}", REASONS[kind], capability(name))
    return REASONS.get(code, code)


@register.filter
def excerpt(text: str) -> SafeString:
    """An excerpt of the scanner, which spells what cannot be seen as ‹U+200B›, with marks."""
    return mark_safe(MARK.sub(_marked, str(escape(text))))


@register.filter
def weights(verdict: Verdict) -> list[tuple[int, "_StrPromise", str, str]]:
    """How many findings of each severity: count, word, tone, icon; none of those that are not."""
    counted = [
        (sum(one.severity is severity for one in verdict.findings), *face)
        for severity, face in SEVERITIES.items()
    ]
    return [one for one in counted if one[0]]


def _marked(found: re.Match[str]) -> str:
    name = (
        unicodedata.name(chr(int(found[1], 16)), "control") if int(found[1], 16) < 0x110000 else ""
    )
    return f'<span class="unseen" title="U+{found[1]} {escape(name)}">U+{found[1]}</span>'
