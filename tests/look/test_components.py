"""The tags: what goes in and the HTML that comes out."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django import forms
from django.template import Context, Template

from controlcenter.templatetags import chart_layout, states, tools, ui


def render(source: str, **values: Any) -> str:
    libraries = "{% load ui diffs prose orgchart tools frame %}"
    return Template(libraries + source).render(Context(values))


def test_a_wire_word_and_a_python_word_are_one_state() -> None:
    assert states.of("neverRun") == states.of("never_run") == states.of("never-run")


def test_an_unknown_state_is_shown_as_it_is() -> None:
    assert "Some new thing" in render('{% state "some_new_thing" %}')


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.09, "90 ms"),
        (3.38, "3.4 s"),
        (12, "12 s"),
        (100, "1 min 40 s"),
        (7500, "2 h 05 min"),
        (273600, "3 d 4 h"),
        (None, "–"),
    ],
)
def test_a_span_is_said_as_people_say_it(value: float | None, said: str) -> None:
    assert ui.span(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (999, "999"), (1500, "1.5 k"), (148_000, "148 k"), (3_100_000, "3.1 M")],
)
def test_a_count_is_cut_where_it_says_no_more(value: int, said: str) -> None:
    assert ui.short(value) == said


@pytest.mark.parametrize(
    ("cents", "said"), [(1842, "$18.42"), (0, "$0.00"), (0.3, "$0.0030"), (None, "–")]
)
def test_money(cents: float | None, said: str) -> None:
    assert ui.money(cents) == said


def test_a_button_names_its_act_and_its_key() -> None:
    html = render(
        '{% button "Approve" tone="primary" key="a" hx_post="/x" disabled=no %}', no=False
    )
    assert 'hx-post="/x"' in html
    assert 'data-key="a"' in html
    assert "<kbd>A</kbd>" in html
    assert "disabled" not in html


def test_an_icon_that_acts_alone_has_a_name() -> None:
    html = render('{% button "Delete" icon="trash-2" only_icon=True %}')
    assert 'aria-label="Delete"' in html
    assert 'title="Delete"' in html


def test_attributes_are_escaped() -> None:
    html = render("{% button label title=label %}", label='"><script>')
    assert "<script>" not in html


def test_a_person_is_round_with_a_hue_and_an_agent_is_square() -> None:
    assert "hue-" in render('{% avatar "Ada Lovelace" %}')
    assert "AL" in render('{% avatar "Ada Lovelace" %}')
    assert 'class="av agent"' in render('{% avatar "engineer" kind="agent" %}')
    assert "#hammer" in render('{% avatar "engineer" kind="agent" %}')


def test_a_time_says_utc_until_the_browser_says_it_better() -> None:
    html = render("{% when moment %}", moment=datetime(2026, 3, 10, 16, 42, tzinfo=UTC))
    assert html == (
        '<time datetime="2026-03-10T16:42:00Z" data-when="ago">2026-03-10 16:42 UTC</time>'
    )


class NameForm(forms.Form):
    name = forms.SlugField(help_text="Small letters, digits, hyphens.")
    mail = forms.BooleanField(required=False)
    boss = forms.ChoiceField(choices=[("ceo", "ceo")], required=False)


def test_a_field_ties_its_hint_and_its_error_to_the_input() -> None:
    html = render("{% field form.name %}", form=NameForm({"name": "Engineer 2"}))
    assert 'aria-invalid="true"' in html
    assert 'id="id_name_helptext"' in html
    assert 'id="id_name_error"' in html
    assert "id_name_error" in html.split('aria-describedby="')[1].split('"')[0]


def test_each_kind_of_widget_gets_our_shape() -> None:
    form = NameForm()
    assert 'class="input"' in render("{% field form.name %}", form=form)
    assert '<label class="check">' in render("{% field form.mail %}", form=form)
    assert 'class="select"' in render("{% field form.boss %}", form=form)


def test_a_component_sees_nothing_of_the_page_around_it() -> None:
    html = render('{% piece "run_head" name="qa" state="idle" %}', seconds=99, url="/secret/")
    assert "secret" not in html
    assert "1 min" not in html


def test_parts_of_a_block_go_to_their_places_also_when_nested() -> None:
    html = render(
        '{% ui "card" title="Outer" %}{% part "foot" %}outer foot{% endpart %}'
        '{% ui "card" title="Inner" %}inner body{% endui %}{% endui %}'
    )
    assert html.count("outer foot") == 1
    assert html.count("card-foot") == 1
    assert html.index("inner body") < html.index("outer foot")


BROADCAST = [
    '{% piece "approval" approval=approval decide_url="/x" %}',
    '{% piece "answer" approval=approval decide_url="/x" %}',
    '{% piece "question" question=approval agent="qa" answer_url="/x" %}',
    '{% piece "tool_call" name="bash" arguments=arguments state="running" %}',
    '{% piece "steer" text="x" author="Ada" agent="qa" withdraw_url="/x" %}',
    '{% piece "composer_buttons" working=True stop_url="/x" %}',
]


@pytest.mark.parametrize("text", BROADCAST)
def test_what_is_broadcast_holds_nothing_of_one_viewer(text: str) -> None:
    approval = {"id": "a1", "state": "open", "title": "Push", "digest": "3f9c71ab", "text": "?"}
    html = render(text, approval=approval, arguments={"command": "ls"}, csrf_token="secret-token")
    assert "secret-token" not in html
    assert "nonce" not in html
    assert "<script" not in html


def test_an_answer_binds_to_the_digest_it_shows() -> None:
    approval = {"id": "a1", "state": "open", "title": "Push", "digest": "3f9c71ab0d"}
    html = render('{% piece "approval" approval=approval decide_url="/x" %}', approval=approval)
    assert html.count('name="digest" value="3f9c71ab0d"') == 2  # yes, and no with a note
    assert "3f9c·71ab" in html


def test_a_diff_that_is_not_shown_whole_says_so_and_that_the_answer_covers_it() -> None:
    text = "--- a/x\n+++ b/x\n@@ -0,0 +1,9 @@\n" + "+line\n" * 9
    html = render('{% diff text lines=3 more_url="/all" bound=True %}', text=text)
    assert "Not all shown:" in html
    assert "3 of 10 lines" in html
    assert "Your answer covers all of it." in html
    assert 'href="/all"' in html


def test_a_tool_call_says_what_on_what() -> None:
    assert tools.done_on({"command": "pytest -q\nls\nrm"}, "bash") == "pytest -q ls"
    assert tools.face("mcp__github__list_issues").word == "github: list_issues"
    assert tools.face("never_heard_of").word == "Never heard of"


def test_the_chart_puts_everyone_somewhere_of_their_own() -> None:
    leaf: dict[str, Any] = {"name": "qa", "kind": "agent", "state": "idle", "url": "#"}
    roots = [{**leaf, "name": "ceo", "children": [{**leaf}, {**leaf, "current": True}]}, {**leaf}]
    chart = chart_layout.layout(roots)
    assert len({(place.x, place.y) for place in chart.nodes}) == 4
    assert [edge.lit for edge in chart.edges] == [False, True]
    assert min(place.y for place in chart.nodes) == 0


def test_a_thousand_in_one_line_are_laid_out_without_recursion() -> None:
    node: dict[str, Any] = {"name": "last"}
    for _ in range(1000):
        node = {"name": "boss", "children": [node]}
    assert chart_layout.layout([node]).width > 260_000
