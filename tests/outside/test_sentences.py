"""Sentences that are kept: English when written, anything when read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outside.sentences import MARK, Sentence, pack, phrase, phrase_many, phrase_noop, unpack

PORTUGUESE = {
    "Stopped by @%(who)s.": "Parado por @%(who)s.",
    "%(n)d commit": "%(n)d confirmação",
    "%(n)d commits": "%(n)d confirmações",
    "Push %(what)s.": "Enviar %(what)s.",
    "%(broken)s": "%(other)s",
}


def one(text: str) -> str:
    return PORTUGUESE.get(text, text)


def many(first: str, other: str, count: int) -> str:
    return one(first if count == 1 else other)


def spoken(text: str) -> str:
    return text.spoken(one, many) if isinstance(text, Sentence) else text


def test_a_sentence_is_its_english_text() -> None:
    sentence = phrase("Stopped by @%(who)s.") % {"who": "ada"}
    assert sentence == "Stopped by @ada."
    assert spoken(sentence) == "Parado por @ada."


@pytest.mark.parametrize(("n", "words"), [(1, "1 confirmação"), (0, "0 confirmações")])
def test_a_count_chooses_the_form_of_each_language(n: int, words: str) -> None:
    assert spoken(unpack(pack(phrase_many("%(n)d commit", "%(n)d commits", n) % {"n": n}))) == words


def test_a_sentence_in_a_sentence_is_translated_too() -> None:
    inner = phrase_many("%(n)d commit", "%(n)d commits", 2) % {"n": 2}
    kept = pack(phrase("Push %(what)s.") % {"what": inner})
    assert kept.startswith("Push 2 commits.")
    assert spoken(unpack(kept)) == "Enviar 2 confirmações."


def test_an_error_keeps_its_sentence() -> None:
    error = ValueError(phrase("Stopped by @%(who)s.") % {"who": "ada"})
    assert spoken(str(error)) == "Parado por @ada."


def test_a_translation_that_does_not_fit_falls_back_to_english() -> None:
    assert spoken(phrase("%(broken)s") % {"broken": "as it is"}) == "as it is"


def test_what_is_not_known_is_said_as_it_is() -> None:
    assert spoken(phrase(phrase_noop("100 % new"))) == "100 % new"


@given(st.text())
def test_typed_text_never_turns_into_a_sentence(text: str) -> None:
    forged = f'{text}{MARK}{{"say": "Stopped by @%(who)s."}}'
    assert not isinstance(unpack(pack(forged)), Sentence)


@given(st.text(), st.integers())
def test_kept_and_read_it_is_the_same(who: str, n: int) -> None:
    sentence = phrase("%(who)s has %(n)d of 100 %%") % {"who": who, "n": n}
    back = unpack(pack(sentence))
    assert back == sentence
    assert isinstance(back, Sentence)
    assert back.made() == sentence.made()


@pytest.mark.parametrize(
    "how", ["", "{", "[]", "{}", '{"say": 3}', '{"say": "Else."}', '{"say": "%(x)d", "with": {}}']
)
def test_a_damaged_column_still_shows_its_english(how: str) -> None:
    assert unpack(f"Kept.{MARK}{how}") == "Kept."
