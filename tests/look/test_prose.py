"""Markdown of agents and skills is hostile HTML until it has been read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html  # type: ignore[import-untyped]

from controlcenter.reading.prose import render

HARMLESS = [
    ("<script>alert(1)</script>", "<script"),
    ("<img src=x onerror=alert(1)>", "<img"),
    ('<b hx-get="/w/x/">', "<b"),
    ("[x](javascript:alert(1))", "href"),
    ("[x](data:text/html,x)", "href"),
    ("![pixel](https://tracker.example/p.png)", "<img"),
    ("<style>*{display:none}</style>", "<style"),
    ('[x](https://a.example "a>b")', "title"),
    ("<iframe src=//x>", "<iframe"),
    ("<form action=/x>", "<form"),
]


@pytest.mark.parametrize(("text", "never"), HARMLESS)
def test_hostile_markup_is_only_text(text: str, never: str) -> None:
    assert never not in render(text)


def test_links_tell_nothing_and_open_nothing() -> None:
    assert 'rel="noopener noreferrer nofollow"' in render("[a](https://a.example)")


def test_mentions_are_shown_but_not_inside_code_or_links() -> None:
    shown = render("@engineer `@engineer` a@engineer @nobody", frozenset({"engineer"}))
    assert shown.count('class="at"') == 1


def test_code_is_highlighted_and_names_what_is_not_seen() -> None:
    shown = render('```python\ndef f(): return "a\u200bb"\n```')
    assert '<span class="k">def</span>' in shown
    assert ">U+200B</span>" in shown


def test_a_line_end_stays_a_line_end() -> None:
    assert "<br>" in render("one\ntwo")


ALLOWED = {"href", "rel", "class", "start", "tabindex", "title", "data-handle"}


@given(st.text(alphabet="<>\"'`=@[]() \n!*_#-|abhx:/&\u202e", max_size=200))
def test_no_text_brings_in_an_attribute(text: str) -> None:
    tree = lxml_html.fragment_fromstring(render(text, frozenset({"a", "ab"})), create_parent="div")
    for element in tree.iter():
        assert set(element.attrib) <= ALLOWED
        assert element.tag not in {"script", "img", "style", "iframe", "form", "svg"}
        assert str(element.get("href", "http:")).startswith(("http:", "https:", "mailto:", "/", ""))


def test_the_lines_of_a_file_flow_together_those_of_a_message_do_not() -> None:
    text = "A line that was\nlong enough.  \nAnd one that ends."
    assert render(text, is_file=True).count("<br") == 1
    assert render(text).count("<br") == 2
