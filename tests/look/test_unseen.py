"""Characters that a reader would not see are named; ordinary text is left alone."""

import pytest

from controlcenter.reading import unseen

NAMED = [
    ("pass\u202eword", "U+202E"),  # turns the reading direction
    ("a\u2066b\u2069", "U+2066"),
    ("zero\u200bwidth", "U+200B"),
    ("\ufeffbom", "BOM"),
    ("esc\x1b[31m", "ESC"),
    ("nul\x00", "NUL"),
    ("tag\U000e0041", "U+E0041"),  # text hidden from people
    ("soft\u00adhyphen", "U+00AD"),
    ("filler\u3164", "U+3164"),
    ("line\u2028break", "U+2028"),
    ("space\u00a0that is none", "U+00A0"),
    ("a lone\u200djoiner", "U+200D"),
    ("back\rto the start", "CR"),
]
ORDINARY = [
    "plain text",
    "tab\tand newline\n",
    "Ação, coração, naïve",
    "\U0001f469\u200d\U0001f4bb",  # one emoji of two, joined
    "❤\ufe0f",
    "日本語",
]


@pytest.mark.parametrize(("text", "name"), NAMED)
def test_what_cannot_be_seen_is_named(text: str, name: str) -> None:
    assert f">{name}</span>" in unseen.show(text)
    assert unseen.count(text)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert unseen.show(text) == text
    assert not unseen.count(text)


def test_the_text_is_escaped() -> None:
    assert unseen.show('<b title="x">') == "&lt;b title=&quot;x&quot;&gt;"
