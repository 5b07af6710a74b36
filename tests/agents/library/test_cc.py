"""The agent's own file: what is written is read back, whatever people type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.library import cc, frontmatter, yamlread, yamlwrite

SPICY = [": ", "#", " #x", "- a", "> x", "|", "'", '"', "\n", "\t", "é", "新聞", "\U0001f600", "\0"]
SPICY += [
    "\r\n",
    "\r",
    "---",
    "no",
    "null",
    "123",
    "1e3",
    "{a}",
    "[b]",
    "&x",
    "*x",
    "!!str",
    "%",
    "@",
]
SPICY += ["  ", "\x85", "\u2028", "\ufeff", "\x7f", "`", "a: b", "\\", "${x}", " \n", "\n  deep\n"]
words = st.one_of(st.sampled_from(SPICY), st.text(max_size=8))
texts = st.lists(words, max_size=8).map("".join)
scalars = st.one_of(
    texts, st.integers(-(10**15), 10**15), st.booleans(), st.floats(allow_nan=False, width=16)
).filter(lambda value: value not in (float("inf"), float("-inf")))
values = st.recursive(
    st.one_of(scalars, st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)


@pytest.mark.req("CC-07", "CC-09")
def test_keys_stand_in_their_order_and_nulls_are_left_out() -> None:
    fields = {"reportsTo": "ceo", "modelId": None, "name": "qa", "color": "red", "title": "Q: 1"}
    assert cc.render({**fields, "systemPrompt": "Be kind.\nBe brief.\n"}, "\r\nI test.\r\n\n") == (
        '---\nname: qa\ntitle: "Q: 1"\nsystemPrompt: |\n  Be kind.\n  Be brief.\n'
        "reportsTo: ceo\ncolor: red\n---\n\nI test.\n"
    )


@given(
    known=st.dictionaries(st.sampled_from(cc.KEYS), texts),
    unknown=st.dictionaries(texts.filter(lambda key: key not in cc.KEYS), values, max_size=3),
    body=texts,
)
def test_what_is_written_is_read_back(
    known: dict[str, str], unknown: dict[str, yamlread.Value], body: str
) -> None:
    fields = {**unknown, **known}
    text = cc.render(fields, body)
    read = cc.parse(text)
    expected = {
        frontmatter.normalise(k): yamlwrite.as_kept(v)
        for k, v in fields.items()
        if v is not None and v != []
    }
    assert read.fields == expected
    assert read.body == frontmatter.tidy_body(body)
    assert read.warnings == ()
    assert text.endswith("\n")
    assert "\r" not in text
    assert cc.render(read.fields, read.body) == text


@given(st.dictionaries(texts, values, max_size=4))
def test_any_plain_values_survive_yaml(pairs: dict[str, yamlread.Value]) -> None:
    pairs = {frontmatter.normalise(k): yamlwrite.as_kept(v) for k, v in pairs.items()}
    assert yamlread.load(yamlwrite.emit(pairs.items())).values == pairs


@pytest.mark.parametrize("spice", SPICY)
def test_each_awkward_text_survives_in_every_place(spice: str) -> None:
    fields: dict[str, yamlread.Value] = {"name": "qa", "title": f"a{spice}b", "skills": [spice]}
    fields["systemPrompt"] = f"first{spice}\n{spice}second\n"
    read = cc.parse(cc.render(fields, f"{spice}x{spice}"))
    assert read.fields == yamlwrite.as_kept(fields)
    assert read.body == frontmatter.tidy_body(f"{spice}x{spice}")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no fences", "no-front-matter"),
        ("---\nname: qa\n", "unterminated-front-matter"),
        ("---\nname: [\n---\nbody", "invalid-yaml"),
        ("---\n- a\n---\nbody", "not-a-mapping"),
    ],
)
def test_a_broken_file_is_a_warning_and_keeps_its_body(text: str, code: str) -> None:
    read = cc.parse(text)
    assert [warning.code for warning in read.warnings] == [code]
    assert read.body.endswith(("fences", "qa", "body"))
