"""Which model a run uses, dialect by dialect."""

import pytest

from agents.library.definition import AgentDefinition, Dialect
from agents.library.modelchoice import ModelOffer, resolve

KNOWN = frozenset({"main", "small", "big", "openai/gpt-4o", "deepseek/flash", "id-sonnet"})
OFFER: dict[str, object] = {
    "main": "main",
    "aliases": {"sonnet": "id-sonnet", "haiku": "small"},
    "known": KNOWN.__contains__,
    "grades": {"low": "fast", "high": "big", "wide": "openai:gpt-4o"},
}


def chosen(
    dialect: str, model: str | None, *, call: str = "", name: str = "a", **more: object
) -> tuple[str, bool]:
    definition = AgentDefinition(Dialect(dialect), name=name, model=model)
    offer = ModelOffer(**{**OFFER, **more})  # type: ignore[arg-type]
    choice = resolve(definition, offer, call=call, is_builtin=name == "Explore")
    assert choice.reason
    return choice.model, bool(choice.error)


@pytest.mark.req("JA-71")
def test_jarvis_ignores_models() -> None:
    assert chosen("jarvis", "big", call="small") == ("main", False)


@pytest.mark.req("FX-77", "FX-79", "FX-80", "FX-81")
@pytest.mark.parametrize(
    ("model", "more", "expected"),
    [
        (None, {}, "main"),
        ("inherit", {}, "main"),
        ("sonnet", {}, "id-sonnet"),
        ("big", {}, "big"),
        ("big", {"call": "haiku"}, "small"),
        ("big", {"call": "inherit"}, "main"),
        ("big", {"call": "haiku", "override": "sonnet"}, "id-sonnet"),
        ("big", {"override": "inherit"}, "big"),
        ("big", {"allowed": ["small"]}, "main"),
        ("haiku", {"allowed": ["small"]}, "small"),
        ("haiku", {"allowed": ["small"], "call": "big"}, "main"),
    ],
)
def test_fuxi_asks_override_call_file_main(
    model: str | None, more: dict[str, object], expected: str
) -> None:
    assert chosen("fuxi", model, **more) == (expected, False)  # type: ignore[arg-type]


def test_the_override_is_for_fuxi_files_only() -> None:
    assert chosen("opencode", "big", override="small") == ("big", False)


@pytest.mark.req("QW-104", "QW-105", "QW-106", "QW-107", "QW-108", "QW-110", "QW-112", "QW-113")
@pytest.mark.parametrize(
    ("model", "more", "expected"),
    [
        (None, {}, ("main", False)),
        ("inherit", {}, ("main", False)),
        ("fast", {}, ("main", False)),
        ("fast", {"fast": "small"}, ("small", False)),
        ("fast", {"fast": "deepseek:flash"}, ("deepseek/flash", False)),
        ("fast", {"fast": "gone"}, ("main", False)),
        ("openai:gpt-4o", {}, ("openai/gpt-4o", False)),
        ("sonnet", {}, ("id-sonnet", False)),
        ("unheard", {}, ("main", True)),
        ("big", {"call": "low"}, ("big", False)),
        (None, {"call": "high"}, ("big", False)),
        (None, {"call": "low", "fast": "small"}, ("small", False)),
        (None, {"call": "wide"}, ("openai/gpt-4o", False)),
        (None, {"call": "big"}, ("main", True)),
        (None, {"call": "high", "allowed_grades": ["low"]}, ("main", True)),
        ("big", {"allowed": ["small"]}, ("main", False)),
        (None, {"name": "Explore", "explore": "small"}, ("small", False)),
        ("big", {"name": "other", "explore": "small"}, ("big", False)),
    ],
)
def test_qwen_asks_file_then_grade_then_main(
    model: str | None, more: dict[str, object], expected: tuple[str, bool]
) -> None:
    assert chosen("qwen", model, **more) == expected  # type: ignore[arg-type]


@pytest.mark.req("QW-114")
def test_the_file_beats_the_call_in_qwen_and_not_in_fuxi() -> None:
    assert chosen("qwen", "small", call="high") == ("small", False)
    assert chosen("fuxi", "small", call="big") == ("big", False)
