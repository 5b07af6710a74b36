"""What a rule is limited to. An allow must be proven to fit, an ask or deny only to touch."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from guardrails import patterns
from guardrails.actions import Action, might_start_with, starts_with

_TAGS = "refs/tags/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """Facets: several in one constraint must all hold, one of several values is enough.

    `rewrites` on an allow says that it also holds for force and delete; on an ask or deny, that
    it holds only for them. A ceiling is what an allow holds up to, and what an ask or deny
    begins above.
    """

    paths: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    max_count: int | None = None
    max_cents: int | None = None
    rewrites: bool = False

    def __bool__(self) -> bool:
        return self != Constraint()

    def to_json(self) -> dict[str, Any]:
        """Only the facets that are set."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
            if value != () and value is not None and value is not False
        }


class UnreadableConstraint(ValueError):
    """A stored constraint that this version does not understand."""


def parse(stored: object) -> Constraint:
    """The constraint of its JSON form. Raises UnreadableConstraint for anything unknown."""
    if not isinstance(stored, dict):
        raise UnreadableConstraint("A constraint is an object.")
    if unknown := set(stored) - {field.name for field in fields(Constraint)}:
        raise UnreadableConstraint(f"Unknown facet: {', '.join(sorted(map(str, unknown)))}.")
    facets: dict[str, Any] = {key: _parse_facet(key, value) for key, value in stored.items()}
    return Constraint(**facets)


def _parse_facet(key: str, value: object) -> object:
    if key == "rewrites":
        is_fine = isinstance(value, bool)
    elif key.startswith("max_"):
        is_fine = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    else:
        is_fine = isinstance(value, list) and all(isinstance(v, str) and v for v in value)
    if not is_fine:
        raise UnreadableConstraint(f"{key} cannot be {value!r}.")
    return tuple(value) if isinstance(value, list) else value


def allows(constraint: Constraint, action: Action) -> bool:
    """Whether an allow with this constraint is proven to hold for the whole action."""
    if action.rewrites is not False and not constraint.rewrites:
        return False
    if any(_is_tag(ref) for ref in action.refs or ()) and not _names_tags(constraint):
        return False
    for wanted, values in _facets(constraint, action):
        if not values or not all(patterns.covers(wanted, value) for value in values):
            return False
    if constraint.commands and not any(
        starts_with(action.command, prefix.split()) for prefix in constraint.commands
    ):
        return False
    if constraint.agents and action.agent_id not in constraint.agents:
        return False
    return all(value is not None and value <= top for top, value in _ceilings(constraint, action))


def touches(constraint: Constraint, action: Action) -> bool | None:
    """Whether an ask or deny with this constraint is meant: True, False, None for "unknown"."""
    answers: list[bool | None] = [
        None if values is None else any(patterns.touches(wanted, value) for value in values)
        for wanted, values in _facets(constraint, action)
    ]
    if constraint.commands:
        answers.append(_any(might_start_with(action.spellings, prefix.split())
                            for prefix in constraint.commands))  # fmt: skip
    if constraint.agents:
        answers.append(action.agent_id in constraint.agents)
    if constraint.rewrites:
        answers.append(action.rewrites)
    answers += [
        None if value is None else value > top for top, value in _ceilings(constraint, action)
    ]
    if False in answers:
        return False
    return None if None in answers else True


def _facets(constraint: Constraint, action: Action) -> Iterator[tuple[list[str], list[str] | None]]:
    """The named facets as (patterns, values), both in their normal form."""
    named = (
        (constraint.paths, action.paths, patterns.normal_path),
        (constraint.refs, action.refs, patterns.normal_ref),
        (constraint.hosts, action.hosts, patterns.normal_host),
        (constraint.repositories, action.repositories, str),
    )
    for wanted, values, normal in named:
        if wanted:
            yield (
                [_normal_pattern(pattern, normal) for pattern in wanted],
                None if values is None else [normal(value) for value in values],
            )


def _normal_pattern(pattern: str, normal: Callable[[str], str]) -> str:
    sign, rest = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    slash = "/" if rest.endswith("/") and rest != "/" else ""
    return sign + normal(rest).rstrip("/" if slash else "") + slash


def _ceilings(constraint: Constraint, action: Action) -> Iterator[tuple[int, int | None]]:
    if constraint.max_count is not None:
        yield constraint.max_count, action.count
    if constraint.max_cents is not None:
        yield constraint.max_cents, action.cents


def _is_tag(ref: str) -> bool:
    return ref.startswith("refs/") and not ref.startswith("refs/heads/")


def _names_tags(constraint: Constraint) -> bool:
    return any(pattern.startswith("refs/") for pattern in constraint.refs)


def _any(answers: Iterator[bool | None]) -> bool | None:
    found = list(answers)
    if True in found:
        return True
    return None if None in found else False
