"""Patterns and constraints: what fits, what touches, what cannot be told."""

import pytest

from guardrails import constraints, patterns
from guardrails.actions import Action
from guardrails.constraints import Constraint, UnreadableConstraint


@pytest.mark.parametrize(
    ("pattern", "value", "fits"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/", "src/a/b.py", True),
        ("src/*", "src/a/b.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("*.py", "x/a.py", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("feature/[x]", "feature/x", False),
        ("a.b", "aXb", False),
        ("**", "anything/at/all", True),
        ("src/**", "SRC/a", False),
        ("src/**", "src/../etc/passwd", False),
        ("**", "two\nlines", False),
    ],
)
def test_an_allow_fits_exactly(pattern: str, value: str, *, fits: bool) -> None:
    assert patterns.covers([pattern], value) is fits


@pytest.mark.parametrize(
    ("pattern", "value", "touched"),
    [
        ("secrets/**", "secrets/key", True),
        ("secrets/**", "SECRETS/key", True),
        ("secrets/**", "secrets", True),
        ("deep/secrets/**", "deep", True),
        ("secrets/**", ".", True),
        ("secrets/**", "src", False),
        ("secrets/key", "secretsX", False),
        ("café", "cafe\u0301", True),
        ("**", "two\nlines", True),
    ],
)
def test_a_deny_is_touched_generously(pattern: str, value: str, *, touched: bool) -> None:
    assert patterns.touches([pattern], value) is touched


@pytest.mark.timeout(20)
def test_no_value_that_an_agent_gives_holds_up_the_gate() -> None:
    value = "secrets/a/" * 5_000
    assert not patterns.covers(["**/secrets/**/a/**/*a*a*a*.key"], value)
    assert not patterns.touches(["**/secrets/**/a/**/*a*a*a*.key"], value)


def test_what_is_taken_out_is_taken_out_exactly_for_a_deny_and_generously_for_an_allow() -> None:
    assert patterns.touches(["!main"], "MAIN")
    assert not patterns.touches(["!main"], "main")
    assert not patterns.covers(["!main"], "MAIN")


def test_hosts_and_paths_are_compared_in_their_normal_form() -> None:
    action = Action(classes=frozenset(), hosts=("API.Example.com.",), paths=("./src//a.py",))
    assert constraints.allows(Constraint(hosts=("*.example.com",), paths=("src/**",)), action)


def test_several_facets_must_all_hold() -> None:
    action = Action(classes=frozenset(), hosts=("a.org",), paths=("src/a",))
    both = Constraint(hosts=("a.org",), paths=("docs/**",))
    assert not constraints.allows(both, action)
    assert constraints.touches(both, action) is False
    unknown = Constraint(hosts=("a.org",), refs=("main",))
    assert constraints.touches(unknown, action) is None


def test_a_constraint_survives_its_stored_form() -> None:
    full = Constraint(
        paths=("a/**",), refs=("!main",), hosts=("x.org",), commands=("git push",),
        repositories=("r",), agents=("a",), max_count=0, max_cents=5, rewrites=True,
    )  # fmt: skip
    assert constraints.parse(full.to_json()) == full
    assert constraints.parse({}) == Constraint()
    assert not Constraint()


@pytest.mark.parametrize(
    "stored",
    [[], None, "x", {"paths": "src"}, {"paths": [1]}, {"paths": [""]}, {"max_count": "3"},
     {"max_count": -1}, {"max_cents": True}, {"rewrites": 1}, {"moon": ["full"]}],
)  # fmt: skip
def test_a_constraint_that_nobody_understands_is_refused(stored: object) -> None:
    with pytest.raises(UnreadableConstraint):
        constraints.parse(stored)
