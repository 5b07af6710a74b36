"""The fail-closed scan of an agent file that comes from a repository, before it is used.

It is the skills' own gate over the file's bytes: what a skill would be refused for, an agent file
is refused for too. A scan that does not come to its end is a refusal.
"""

from functools import lru_cache

from django.utils.translation import gettext as _

from skills.scanning import File, Finding, Outcome, Severity, Source
from skills.scanning.child import Scanner

from .library.definition import AgentDefinition

# What is wrong with a skill's own head is no fault of an agent file.
_OF_SKILLS_ONLY = ("frontmatter.", "structure.")


def refusal_of(definition: AgentDefinition) -> str:
    """Why the file must not be used, in words; empty when nothing speaks against it."""
    found = _findings(definition.digest, definition.raw)
    if found is None:
        return _("The file could not be scanned, so it is not used.")
    if not found:
        return ""
    words = ", ".join(f"{each} ({line})" if line else each for each, line in found[:3])
    return _("The scan refuses the file: %(rules)s.") % {"rules": words}


@lru_cache(maxsize=2_000)
def _findings(digest: str, text: str) -> tuple[tuple[str, int], ...] | None:
    """The rules that refuse these bytes, with their lines; None when no scan came to its end."""
    with Scanner() as scanner:
        data = text.encode("utf-8", "replace")
        verdict = scanner.scan({"SKILL.md": File(0o100644, data)}, Source())
    grave = [each for each in verdict.findings if _is_grave(each)]
    if verdict.outcome is Outcome.QUARANTINE and any(
        each.rule.startswith("limits.") for each in grave
    ):
        return None
    return tuple((each.rule, each.line) for each in grave)


def _is_grave(finding: Finding) -> bool:
    return finding.severity is Severity.QUARANTINE and not finding.rule.startswith(_OF_SKILLS_ONLY)
