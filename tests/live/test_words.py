import pytest

from live import words
from live.words import Got, Here, Join, Leave, Ping


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ('{"join": "w/1/run/2", "after": ["seq", 7]}', Join("w/1/run/2", ("seq", 7))),
        ('{"join": "w/1/inbox", "after": null}', Join("w/1/inbox", None)),
        ('{"join": "w/1/inbox"}', Join("w/1/inbox", None)),
        ('{"leave": "w/1/inbox"}', Leave("w/1/inbox")),
        ('{"ping": 3}', Ping(3)),
        ('{"got": 32}', Got(32)),
        (
            '{"presence": {"locus": "w/1/run/2", "typing": true, "idle": false}}',
            Here("w/1/run/2", typing=True, idle=False),
        ),
    ],
)
def test_a_tab_says_one_word_at_a_time(said: str, word: words.Word) -> None:
    assert words.read(said) == word


@pytest.mark.parametrize(
    "said",
    [
        "",
        "{",
        "null",
        "[]",
        "7",
        '"join"',
        "{}",
        '{"join": 7}',
        '{"join": null}',
        '{"join": "a", "after": "seq:7"}',
        '{"join": "a", "after": ["seq"]}',
        '{"join": "a", "after": ["seq", "7"]}',
        '{"join": "a", "after": ["seq", -1]}',
        '{"join": "a", "after": ["seq", 1.5]}',
        '{"join": "a", "after": ["seq", true]}',
        '{"join": "a", "after": ["seq", 99999999999999999999]}',
        '{"join": "a", "after": ["s q", 1]}',
        '{"join": "a", "more": 1}',
        '{"join": "a", "leave": "a"}',
        '{"leave": ["a"]}',
        '{"ping": "x"}',
        '{"got": -1}',
        '{"presence": {}}',
        '{"presence": {"locus": "a", "typing": 1, "idle": false}}',
        '{"presence": {"locus": "a", "typing": true, "idle": false, "name": "Eve"}}',
        "[" * 100_000,
        '{"\\ud800": 1}',
        "\x00",
    ],
)
def test_anything_else_is_malformed(said: str) -> None:
    with pytest.raises(words.Malformed):
        words.read(said)


@pytest.mark.parametrize(
    ("topic", "is_topic"),
    [
        ("w/0198/run/5", True),
        ("user/7", True),
        ("", False),
        ("/w", False),
        ("w/*", False),
        ("w/1\nrun", False),
        ("w/é", False),
        ("w/" + "x" * 300, False),
    ],
)
def test_a_topic_has_a_plain_name(topic: str, is_topic: bool) -> None:
    assert words.is_topic(topic) is is_topic
