"""State + events = state; and nothing that is said in a run ever acts."""

from typing import Any
from uuid import UUID

import pytest
from django.template.loader import render_to_string
from lxml import html  # type: ignore[import-untyped]

from agents.models import Agent
from harness.events import Event, Kind
from runs import transcript
from runs.models import Run
from runs.transcript import LONGEST_TEXT, SHOWN_CHARACTERS, Calls
from spaces.models import Conversation, Space
from tests.runs.acting import block, tool_call, tool_result
from tests.runs.journals import HOSTILE, journal
from tests.runs.pages import Page, difference
from workspaces.models import Workspace

WORKSPACE = Workspace(id=UUID(int=1), name="Analytical", slug="analytical")
RUN = Run(
    id=UUID(int=2),
    workspace=WORKSPACE,
    agent=Agent(id=UUID(int=3), name="engineer"),
    space=Space(id=UUID(int=4), slug="engine-room"),
    conversation=Conversation(id=UUID(int=5)),
    adapter="cc-harness",
    state="running",
)


def from_scratch(events: list[Event]) -> str:
    shown = {"run": RUN, "entries": transcript.entries(events), "last_seq": len(events)}
    return render_to_string("runs/_run.html", shown)


def taken_in(page: Page, calls: Calls, event: Event) -> None:
    entry = calls.take(event)
    if text := transcript.fragment(RUN, event, entry):
        page.take(text)


@pytest.mark.parametrize("seed", range(40))
def test_a_page_that_takes_events_in_is_the_page_from_scratch(seed: int) -> None:
    events = journal(seed)
    for known in {0, 1, seed % len(events), len(events) // 2}:
        page, calls = Page(from_scratch(events[:known])), Calls(events[:known])
        for event in events[known:]:
            taken_in(page, calls, event)
        assert not difference(page.canonical, Page(from_scratch(events)).canonical)


def test_taking_an_event_in_twice_changes_nothing_of_a_call() -> None:
    events = journal(1)
    page, calls = Page(from_scratch(events)), Calls(events)
    spine = {entry.seq for entry in transcript.entries(events)}
    for event in events:
        if event.kind in transcript.OF_A_CALL and event.seq not in spine:
            taken_in(page, calls, event)
    assert not difference(page.canonical, Page(from_scratch(events)).canonical)


# ---------------------------------------------------------------- what is said never acts

ACTING = {
    "script",
    "style",
    "iframe",
    "object",
    "embed",
    "base",
    "form",
    "meta",
    "link",
    "img",
    "svg",
}
OURS = {"svg", "form"}  # icons
IN_PROSE = {"hx-disable", "class", "id", "data-seq", "href", "rel", "tabindex", "start", "title"}


@pytest.mark.parametrize("seed", range(20))
def test_hostile_words_are_shown_and_never_act(seed: int) -> None:
    page = html.fragment_fromstring(from_scratch(journal(seed, words=HOSTILE)))
    for element in page.iter():
        if not isinstance(element.tag, str):
            continue
        assert element.tag not in ACTING - OURS
        for name, value in element.attrib.items():
            assert not name.startswith("on"), (element.tag, name)
            assert not name.startswith("hx-on"), (element.tag, name)
            assert name != "style"
            assert "javascript:" not in value.lower() or name not in {"href", "src"}
            if name.startswith("hx-") and name != "hx-disable":
                assert is_ours(element), html.tostring(element)


def is_ours(element: Any) -> bool:
    """An acting attribute outside of prose, in an address of the product's own."""
    inside_prose = element.xpath("ancestor-or-self::*[contains(@class, 'prose')]")
    addresses = [v for k, v in element.attrib.items() if k in {"hx-get", "hx-post"}]
    return not inside_prose and all(each.startswith("/w/analytical/") for each in addresses)


@pytest.mark.parametrize("words", HOSTILE)
@pytest.mark.parametrize(
    "kind",
    ["text", "thinking", "result", "argument", "name", "notice", "steer", "done", "question"],
)
def test_each_place_is_safe_by_itself(kind: str, words: str) -> None:
    """The skeleton of the page does not depend on the words, prose aside."""
    assert shape(kind, words) == shape(kind, "plain words")


def shape(kind: str, words: str) -> Any:
    page = html.fragment_fromstring(from_scratch(saying(kind, words)))
    return bare(page)


def bare(element: Any) -> Any:
    """Tags and attribute names; of prose and of named characters only that nothing there acts."""
    if "prose" in classes(element):
        for each in element.iter():
            assert set(each.attrib) <= IN_PROSE, html.tostring(each)
        return "prose"
    kept = [bare(child) for child in element if isinstance(child.tag, str) and not_named(child)]
    return element.tag, sorted(element.attrib), kept


def classes(element: Any) -> list[str]:
    return (element.get("class") or "").split()


def not_named(element: Any) -> bool:
    """A character that would not be seen stands in an element of its own, with its name."""
    return "unseen" not in classes(element)


def saying(kind: str, words: str) -> list[Event]:
    from harness import events

    call = tool_call(1, 0, "c1", "bash", {"command": "ls"})
    said: dict[str, list[Event]] = {
        "text": [block(Kind.TEXT, 1, {"type": "text", "text": words})],
        "thinking": [block(Kind.THINKING, 1, {"thinking": words})],
        "result": [call, tool_result("c1", words)],
        "argument": [tool_call(1, 0, "c1", "bash", {"command": words, "more": words})],
        "name": [tool_call(1, 0, "c1", words, {"command": "ls"})],
        "notice": [events.notice(words)],
        "steer": [events.steer(words, author=words[:100])],
        "done": [events.done("failed", "error", words)],
        "question": [
            events.event(
                Kind.MESSAGE,
                {"role": "agent", "text": words, "call_id": "c1", "options": [words]},
            )
        ],
    }
    return [event.at(seq) for seq, event in enumerate(said[kind], 1)]


@pytest.mark.parametrize(
    "kind", ["text", "thinking", "result", "argument", "notice", "steer", "done"]
)
def test_ten_megabytes_in_one_line_are_bounded(kind: str) -> None:
    page = from_scratch(saying(kind, "x" * 10_000_000))
    assert len(page) < 2 * LONGEST_TEXT + 40_000
    assert "characters more" in page or "Not all shown" in page


def test_what_is_not_shown_of_a_result_is_said() -> None:
    page = from_scratch(saying("result", "y" * (SHOWN_CHARACTERS + 1)))
    assert f"{SHOWN_CHARACTERS} of {SHOWN_CHARACTERS + 1} characters" in page


def test_control_characters_are_named() -> None:
    text = from_scratch(saying("result", "\x1b[31mred\x1b[0m \x07 \u202e"))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([], "waiting"),
        (["start"], "running"),
        (["start", "done"], "done"),
        (["start", "error"], "failed"),
        (["asked"], "asked"),
        (["asked", "allow"], "waiting"),
        (["asked", "allow", "start"], "running"),
        (["asked", "allow", "start", "done"], "done"),
        (["asked", "deny"], "denied"),
        (["asked", "deny", "error"], "denied"),
        (["refused"], "denied"),
    ],
)
def test_how_a_call_stands(events: list[str], state: str) -> None:
    from harness import events as make

    known = {
        "start": Event(Kind.TOOL_START, {"call_id": "c1", "name": "bash"}),
        "done": tool_result("c1", "ok"),
        "error": tool_result("c1", "no", is_error=True),
        "refused": tool_result("c1", "no", is_error=True, detail={"denied": True}),
        "asked": make.asked("a1", call_id="c1"),
        "allow": make.decided("a1", call_id="c1", decision="allow"),
        "deny": make.decided("a1", call_id="c1", decision="deny"),
    }
    [entry] = transcript.entries([tool_call(1, 0, "c1", "bash", {}), *(known[e] for e in events)])
    assert entry.outcome is not None
    assert entry.outcome.state == state
