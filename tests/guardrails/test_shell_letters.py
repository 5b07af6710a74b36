"""Letters of all alphabets in a shell line: read as they are, and no danger to the process."""

import subprocess
import sys
from pathlib import Path

import pytest

from guardrails.shell import UnreadableLine, read

ROOT = Path(__file__).parents[2]
# In a process of its own: before, lines like these took the process down.
HARD = """
import random, sys
sys.path.insert(0, sys.argv[1])
from guardrails.shell import UnreadableLine, read
for seed in range(150):
    chance = random.Random(seed)
    line = "".join(
        chr(chance.choice([chance.randrange(0x20, 0x7F), chance.randrange(0xE000, 0x10FFFF)]))
        for _ in range(chance.randrange(1, 800))
    )
    for one in (line, "echo '" + line.replace("'", "") + "'", line[:40] * 50, "$(" * seed * 9):
        try:
            read(one)
        except UnreadableLine:
            pass
"""


def test_no_letter_takes_the_process_down() -> None:
    done = subprocess.run([sys.executable, "-c", HARD, str(ROOT)], check=False, timeout=300)
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('git commit -m "olá 漢字 😀"', ("git", "commit", "-m", "olá 漢字 😀")),
        ("rm -- é漢.txt", ("rm", "--", "é漢.txt")),
        ("echo 'Привет'", ("echo", "Привет")),
        ("\U000f0000 x", ("\U000f0000", "x")),
        ("漢=1 ls", ("漢=1", "ls")),
    ],
)
def test_words_keep_their_letters(line: str, words: tuple[str, ...]) -> None:
    assert read(line).commands[0].words == words


def test_our_own_marks_are_not_taken_for_letters() -> None:
    with pytest.raises(UnreadableLine):
        read(",x0072,m -rf /")
