"""Reading a repository elsewhere into memory: real git over real HTTP, and from a path."""

import random
import time
import zlib
from hashlib import sha1
from pathlib import Path

import pytest

from outside import git
from outside.egress import Guard
from outside.git import packfile
from outside.git.memory import CommitGone, Limits, reading
from tests.remote.server import Remote

FILES = {
    "README.md": "hello\n",
    "skills/tables/SKILL.md": "# Tables\n",
    "skills/tables/scripts/run.sh": "#!/bin/sh\n",
    "skills/charts/SKILL.md": "# Charts\n",
}


def read_all(address: str, guard: Guard, commit: str, **limits: object) -> dict[str, bytes]:
    """Path → bytes of every plain file of the commit."""
    with reading(git.Remote(address), guard=guard, limits=Limits(**limits)) as session:  # type: ignore[arg-type]
        _, entries = session.files(commit)
        blobs = session.blobs([entry.oid for entry in entries if entry.mode != 0o160000])
        return {entry.path: blobs[entry.oid] for entry in entries if entry.oid in blobs}


@pytest.mark.req("CC-35")
@pytest.mark.parametrize("filters", [True, False])
@pytest.mark.parametrize("over", ["http", "path"])
def test_the_files_of_one_commit_come_into_memory(
    remote: Remote, guard: Guard, tmp_path: Path, filters: bool, over: str
) -> None:
    address = remote.create("apple", FILES)
    remote.git("apple", "config", "uploadpack.allowFilter", str(filters).lower())
    commit = remote.tip("apple")
    remote.commit("apple", {"skills/tables/SKILL.md": "# Other\n", "new": "1"})
    if over == "path":
        address, guard = str(remote.root / "apple"), Guard.of(paths=[remote.root])
    found = read_all(address, guard, commit)
    assert {path: data.decode() for path, data in found.items()} == FILES


def test_only_the_wanted_files_come_over_when_the_host_has_filters(
    remote: Remote, guard: Guard
) -> None:
    noise = random.Random(7).randbytes(400_000).hex()
    address = remote.create("apple", {"a/SKILL.md": "small", "large.bin": noise})
    remote.git("apple", "config", "uploadpack.allowFilter", "true")
    got: list[int] = []
    with reading(git.Remote(address), guard=guard, on_bytes=got.append) as session:
        _, entries = session.files(remote.tip("apple"))
        oid = next(entry.oid for entry in entries if entry.path == "a/SKILL.md")
        assert session.blobs([oid]) == {oid: b"small"}
    assert max(got) < 10_000


def test_deltas_are_put_together(remote: Remote, guard: Guard) -> None:
    base = "".join(f"line {number} {number * 7919}\n" for number in range(4000))
    versions = {f"v{n}.txt": base.replace(f"line {n * 50} ", f"changed {n} ") for n in range(12)}
    address = remote.create("apple", versions)
    remote.git("apple", "repack", "-adf", "--depth=10")
    assert remote.git("apple", "verify-pack", "-v", *_packs(remote)).count("chain length")
    found = read_all(address, guard, remote.tip("apple"))
    assert {path: data.decode() for path, data in found.items()} == versions


def _packs(remote: Remote) -> list[str]:
    return [str(path) for path in (remote.root / "apple/objects/pack").glob("*.idx")]


def test_a_tag_leads_to_its_commit(remote: Remote, guard: Guard) -> None:
    address = remote.create("apple", FILES)
    remote.git("apple", "tag", "-a", "v1", "-m", "First", "main")
    tag = remote.git("apple", "rev-parse", "refs/tags/v1")
    with reading(git.Remote(address), guard=guard) as session:
        commit, entries = session.files(tag)
    assert commit == remote.tip("apple") != tag
    assert len(entries) == len(FILES)


def test_links_and_submodules_are_told_as_such(remote: Remote, guard: Guard) -> None:
    address = remote.create("apple", {"a": "1"})
    link = remote.git("apple", "hash-object", "-w", "--stdin", text="../../etc/passwd")
    listing = (
        f"120000 blob {link}\tlink\n160000 commit {'1' * 40}\tmodule\n100755 blob {link}\trun\n"
    )
    tree = remote.git("apple", "mktree", "--missing", text=listing)
    commit = remote.git("apple", "commit-tree", tree, "-m", "odd")
    remote.git("apple", "update-ref", "refs/heads/odd", commit)
    with reading(git.Remote(address), guard=guard) as session:
        _, entries = session.files(commit)
    assert {one.path: one.mode for one in entries} == {
        "link": 0o120000, "module": 0o160000, "run": 0o100755,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        ("unknown commit", CommitGone),
        ("a file's id", CommitGone),
        ("missing", git.NotFound),
        ("private", git.NeedsCredential),
        ("wrong credential", git.WrongCredential),
        ("down", git.Unreachable),
        ("failing", git.Unreachable),
        ("not allowed", git.BadAddress),
    ],
)
def test_each_trouble_has_its_own_sentence(
    remote: Remote, guard: Guard, trouble: str, error: type[git.GitError]
) -> None:
    address, credential = remote.create("apple", FILES), None
    commit = remote.tip("apple")
    if trouble == "unknown commit":
        commit = "1" * 40
    if trouble == "a file's id":
        commit = remote.git("apple", "rev-parse", "main:README.md")
    if trouble == "missing":
        address = remote.address("pear")
    if trouble in {"private", "wrong credential"}:
        remote.credential, remote.private_reads = ("ada", "right"), True
        credential = git.Credential("wrong", "ada") if trouble != "private" else None
    if trouble == "down":
        address, guard = "http://127.0.0.1:1/apple", Guard.of(hosts=["127.0.0.1:1"])
    if trouble == "failing":
        remote.fail_with = 503
    if trouble == "not allowed":
        guard = Guard.of()
    with (
        pytest.raises(error) as caught,
        reading(git.Remote(address, credential), guard=guard) as session,
    ):
        session.files(commit)
    assert str(caught.value)


@pytest.mark.parametrize(
    ("limits", "error"),
    [
        (Limits(entries=3), git.TooLarge),
        (Limits(objects=3), git.TooLarge),
        (Limits(inflated_bytes=100), git.TooLarge),
        (Limits(wire_bytes=100), git.TooLarge),
        (Limits(depth=1), git.TooLarge),
        (Limits(seconds=-1), git.TimedOut),
    ],
)
def test_ceilings_hold(
    remote: Remote, guard: Guard, limits: Limits, error: type[git.GitError]
) -> None:
    address = remote.create("apple", FILES)
    with (
        pytest.raises(error),
        reading(git.Remote(address), guard=guard, limits=limits) as session,
    ):
        session.files(remote.tip("apple"))


@pytest.mark.req("CC-35")
def test_a_private_repository_is_read_with_its_credential(remote: Remote, guard: Guard) -> None:
    address = remote.create("apple", FILES)
    remote.credential, remote.private_reads = ("ada", "right"), True
    with reading(git.Remote(address, git.Credential("right", "ada")), guard=guard) as session:
        assert len(session.files(remote.tip("apple"))[1]) == len(FILES)


def test_a_watch_can_stop_the_reading(remote: Remote, guard: Guard) -> None:
    address = remote.create("apple", FILES)

    def watch() -> None:
        raise git.TimedOut("Stopped.")

    with (
        pytest.raises(git.TimedOut, match="Stopped"),
        reading(git.Remote(address), guard=guard, watch=watch),
    ):
        pass


# -- packs that lie ----------------------------------------------------------------------------


def pack(*objects: bytes, count: int | None = None) -> bytes:
    head = b"PACK\0\0\0\2" + (len(objects) if count is None else count).to_bytes(4, "big")
    body = head + b"".join(objects)
    return body + sha1(body, usedforsecurity=False).digest()


def header(kind: int, size: int) -> bytes:
    out, first = bytearray(), kind << 4 | size & 15
    size >>= 4
    while size:
        out.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    out.append(first)
    return bytes(out)


def blob(data: bytes, said: int | None = None) -> bytes:
    return header(3, len(data) if said is None else said) + zlib.compress(data)


CEILINGS = packfile.Ceilings(objects=100, inflated=10_000)


def test_a_pack_is_read_by_what_its_objects_are() -> None:
    assert packfile.read(pack(blob(b"hello\n")), CEILINGS) == {
        "ce013625030ba8dba906f756967f9e9ca394464a": packfile.Found("blob", b"hello\n")
    }


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"PACK",
        b"NOPE" * 20,
        pack(blob(b"x"))[:-1] + b"!",
        pack(blob(b"x"), count=2),
        pack(blob(b"x" * 50, said=49)),
        pack(blob(b"x" * 50, said=51)),
        pack(header(0, 1) + zlib.compress(b"x")),
        pack(header(5, 1) + zlib.compress(b"x")),
        pack(header(3, 5) + b"not zlib"),
        pack(header(6, 1) + b"\x05" + zlib.compress(b"x")),
        pack(header(7, 1) + b"\1" * 20 + zlib.compress(b"x")),
        pack(blob(b"base"), header(6, 3) + bytes([len(blob(b"base"))]) + zlib.compress(b"\4\4\0")),
        pack(blob(b"base"), header(6, 2) + bytes([len(blob(b"base"))]) + zlib.compress(b"\4\x84")),
    ],
)
def test_a_pack_that_lies_is_damaged(bad: bytes) -> None:
    with pytest.raises(git.Damaged):
        packfile.read(bad, CEILINGS)


@pytest.mark.parametrize(
    "bomb",
    [
        pack(blob(b"\0" * 20_000)),
        pack(header(3, 2**40) + zlib.compress(b"\0" * 1000)),
        pack(blob(b"x"), count=2**31),
        pack(*[blob(b"%08d" % n * 500) for n in range(50)]),
        # A delta that says it makes a terabyte of its base.
        pack(blob(b"base"), header(6, 7) + bytes([len(blob(b"base"))])
             + zlib.compress(b"\4\x80\x80\x80\x80\x80\x20")),
    ],
)  # fmt: skip
def test_a_bomb_is_refused_before_it_is_inflated(bomb: bytes) -> None:
    began = time.monotonic()
    with pytest.raises(git.TooLarge):
        packfile.read(bomb, CEILINGS)
    assert time.monotonic() - began < 5


def test_every_cut_of_a_pack_is_damaged() -> None:
    whole = pack(blob(b"one\n" * 40), blob(b"two\n" * 40))
    body = whole[:-20]
    for end in range(12, len(body), 3):
        cut = body[:end] + sha1(body[:end], usedforsecurity=False).digest()
        with pytest.raises(git.Damaged):
            packfile.read(cut, CEILINGS)


def test_trees_that_lie_are_damaged() -> None:
    good = b"100644 a\0" + b"\1" * 20
    assert [(one.name, one.mode) for one in packfile.tree_entries(good)] == [(b"a", 0o100644)]
    for bad in (b"100644 a", b"100644 a\0short", b"x a\0" + b"\1" * 20, b"100644 \0" + b"\1" * 20,
                b"100644 a/b\0" + b"\1" * 20, 2 * good,
                good + b"40000 a\0" + b"\1" * 20):  # fmt: skip
        with pytest.raises(git.Damaged):
            list(packfile.tree_entries(bad))


def test_nothing_stays_behind(remote: Remote, guard: Guard, tmp_path: Path) -> None:
    address = remote.create("apple", FILES)
    before = sorted(tmp_path.rglob("*"))
    read_all(address, guard, remote.tip("apple"))
    assert sorted(tmp_path.rglob("*")) == before
