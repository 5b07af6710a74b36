"""Why something was allowed, asked or denied: in words, for people and for the agent."""

from collections.abc import Mapping
from typing import Any

from guardrails import classes
from guardrails.decisions import Decision, Provenance, Scope
from guardrails.policy import Resolution, RuleFacts, Stage, Step
from outside.sentences import Sentence
from outside.sentences import phrase as _
from workspaces.sentences import in_english


def class_label(name: str) -> str:
    """`git_push` → `Push to a remote`; a name outside the closed set stays as it is."""
    known = classes.parse(name)
    return str(known.label) if known else name


def _class_words(name: str) -> str:
    known = classes.parse(name)
    return in_english(known.label) if known else name


def sentence(resolution: Resolution) -> Sentence:
    """One sentence: what decided. It can be kept; `translated` shows it."""
    return step_sentence(resolution.step)


def step_sentence(step: Step) -> Sentence:
    """One line of a trail in words."""
    if step.rule is not None:
        template = _rule_sentences().get(step.stage) or Sentence("%(rule)s.")
        return template % {"rule": rule_words(step.rule)}
    if step.decision is None:
        return _("No rule of the scope “%(scope)s” matches.") % {
            "scope": in_english(Scope(step.stage.value).label)
        }
    if step.stage is Stage.AUTONOMY and step.decision is Decision.ALLOW:
        return _("The agent acts freely in this space, so what would ask is allowed.")
    return _plain_sentences()[step.stage] % {
        "what": _class_words(step.action_class),
        "decision": in_english(Decision(step.decision).label),
    }


def _rule_sentences() -> dict[Stage, Sentence]:
    return {
        Stage.UNSTATED: _("%(rule)s, and it cannot be ruled out that this is meant."),
        Stage.ADVISORY: _("%(rule)s, but it only advises."),
    }


def _plain_sentences() -> dict[Stage, Sentence]:
    return {
        Stage.MODE: _("Outside chat, “%(what)s” is denied."),
        Stage.DEFAULT: _("No rule says anything; the default for “%(what)s” is: %(decision)s."),
        Stage.OPAQUE: _("The command cannot be read whole, so a person looks at it."),
        Stage.UNKNOWN_CLASS: _("“%(what)s” is no action class that we know."),
        Stage.DELEGATION: _("The settings ask before a subagent is started."),
        Stage.UNGATED: _("The call has no action class, so no rule is about it."),
        Stage.AUTONOMY: _(
            "The agent only proposes in this space: say what you would do instead of doing it."
        ),
    }


def rule_words(rule: RuleFacts) -> Sentence:
    """`The workspace says: Ask first · Push to a remote`."""
    words = {
        "decision": in_english(rule.decision.label),
        "what": _class_words(rule.action_class)
        if rule.action_class
        else f"`{rule.command_prefix} …`",
        "scope": in_english(rule.scope.label),
    }
    if rule.provenance is Provenance.MANAGED:
        return _("The operator says: %(decision)s · %(what)s") % words
    return _("The %(scope)s says: %(decision)s · %(what)s") % words


def why(resolution: Resolution) -> dict[str, Any]:
    """What an approval keeps of the resolution, to say later why it was asked."""
    step = resolution.step
    rule = step.rule
    return {
        "stage": step.stage.value,
        "action_class": str(step.action_class),
        "decision": resolution.decision.value,
        "rule_id": rule.id if rule else "",
        "rule": {
            "scope": rule.scope.value,
            "decision": rule.decision.value,
            "action_class": str(rule.action_class or ""),
            "command_prefix": rule.command_prefix,
            "provenance": rule.provenance.value,
        }
        if rule
        else None,
    }


def why_sentence(stored: Mapping[str, Any]) -> str:
    """The sentence of what `why` kept; empty when nothing was kept."""
    if not stored:
        return ""
    return step_sentence(
        Step(
            stage=Stage(stored["stage"]),
            action_class=stored["action_class"],
            decision=Decision.parse(stored["decision"]),
            rule=_stored_rule(stored["rule_id"], stored["rule"]) if stored["rule"] else None,
        )
    )


def _stored_rule(key: str, stored: Mapping[str, str]) -> RuleFacts:
    name = stored["action_class"]
    return RuleFacts(
        id=key,
        scope=Scope(stored["scope"]),
        decision=Decision.parse(stored["decision"]),
        action_class=classes.parse(name) if name else None,
        command_prefix=stored["command_prefix"],
        provenance=Provenance(stored["provenance"]),
    )
