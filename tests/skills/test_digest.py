"""Two different trees never share a digest, also where the public command line's hash does."""

from hypothesis import given
from hypothesis import strategies as st

from skills.lockfile import computed_hash
from skills.scanning import File, digest

SHELL = b"#!/bin/sh\necho hi\n"
AS_NOTE = {
    "SKILL.md": File(0o100644, b"x"),
    "notes.txt": File(0o100644, b"x\nscripts-run.sh" + SHELL),
}
AS_SCRIPT = {
    "SKILL.md": File(0o100644, b"x"),
    "notes.txt": File(0o100644, b"x\n"),
    "scripts-run.sh": File(0o100644, SHELL),
}

trees = st.dictionaries(
    st.text(st.sampled_from("ab/."), min_size=1, max_size=4),
    st.builds(File, st.sampled_from([0o100644, 0o100755, 0o120000]), st.binary(max_size=6)),
    max_size=4,
)


def test_a_note_cannot_become_a_script() -> None:
    assert computed_hash(AS_NOTE) == computed_hash(AS_SCRIPT)
    assert digest(AS_NOTE) != digest(AS_SCRIPT)


@given(trees, trees)
def test_other_trees_have_other_digests(one: dict[str, File], other: dict[str, File]) -> None:
    assert (digest(one) == digest(other)) == (one == other)


@given(trees)
def test_the_order_of_files_does_not_count(tree: dict[str, File]) -> None:
    assert digest(dict(reversed(tree.items()))) == digest(tree)


def test_mode_and_link_count() -> None:
    kinds = [0o100644, 0o100755, 0o120000, 0o160000]
    assert len({digest({"a": File(mode, b"x")}) for mode in kinds}) == 4


def test_bits_that_git_does_not_keep_do_not_count() -> None:
    assert digest({"a": File(0o100664, b"x")}) == digest({"a": File(0o100644, b"x")})
