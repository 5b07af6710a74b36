"""Looking at remotes, fetching them into a mirror, forwarding to them: real git over real HTTP."""

from pathlib import Path

import pytest

from outside import git
from outside.egress import Guard
from tests.remote.server import Remote, run_git


def mirror_of(tmp_path: Path) -> Path:
    return tmp_path / "mirror.git"


def test_probe_tells_the_default_branch_and_all_refs(remote: Remote, guard: Guard) -> None:
    address = remote.create("apple", {"README.md": "hello\n"})
    remote.git("apple", "tag", "v1", "main")
    seen = git.probe(git.Remote(address), guard=guard)
    assert (seen.default_branch, seen.is_empty, list(seen.heads)) == ("main", False, ["main"])
    assert seen.refs() == {
        "refs/heads/main": remote.tip("apple"),
        "refs/tags/v1": remote.tip("apple"),
    }


def test_an_empty_repository_is_seen_as_empty(remote: Remote, guard: Guard) -> None:
    assert git.probe(git.Remote(remote.create("empty")), guard=guard).is_empty


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        ("missing", git.NotFound),
        ("private", git.NeedsCredential),
        ("wrong credential", git.WrongCredential),
        ("down", git.Unreachable),
        ("failing", git.Unreachable),
        ("not git", git.NotARepository),
        ("not allowed", git.BadAddress),
        ("sha256", git.UnknownFormat),
    ],
)
def test_each_trouble_has_its_own_sentence(
    remote: Remote, guard: Guard, trouble: str, error: type[git.GitError], tmp_path: Path
) -> None:
    address, credential = remote.create("apple", {"a": "1"}), None
    if trouble == "missing":
        address = remote.address("pear")
    if trouble in {"private", "wrong credential"}:
        remote.credential, remote.private_reads = ("ada", "right"), True
        credential = git.Credential("wrong", "ada") if trouble != "private" else None
    if trouble == "down":
        address = "http://127.0.0.1:1/apple"
        guard = Guard.of(hosts=["127.0.0.1:1"])
    if trouble == "failing":
        remote.fail_with = 503
    if trouble == "not git":
        (tmp_path / "plain").mkdir()
        address, guard = str(tmp_path / "plain"), Guard.of(paths=[tmp_path])
    if trouble == "not allowed":
        guard = Guard()
    if trouble == "sha256":
        run_git(remote.root, "init", "-q", "--bare", "--object-format=sha256", "odd")
        remote.commit("odd", {"a": "1"})
        address = remote.address("odd")
    with pytest.raises(error) as caught:
        git.fetch_mirror(mirror_of(tmp_path), git.Remote(address, credential), guard=guard)
    assert caught.value.sentence.endswith(".")


def test_a_moved_repository_is_followed_and_its_new_address_told(
    remote: Remote, guard: Guard
) -> None:
    remote.create("new-name", {"a": "1"})
    remote.moved["old-name"] = "new-name"
    seen = git.probe(git.Remote(remote.address("old-name")), guard=guard)
    assert seen.address == remote.address("new-name")


def test_the_credential_is_neither_in_argv_nor_in_the_environment_nor_on_disk(
    remote: Remote, guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote.credential, remote.private_reads = ("ada", "s3cret-token"), True
    seen: list[bytes] = []

    def look_at_processes() -> None:
        for process in Path("/proc").glob("[0-9]*"):
            for part in ("cmdline", "environ"):
                try:
                    seen.append((process / part).read_bytes())
                except OSError:
                    continue

    remote.before_write = look_at_processes
    address = remote.create("apple", {"a": "1"})
    there = git.Remote(address, git.Credential("s3cret-token", "ada"))
    mirror = mirror_of(tmp_path)
    git.fetch_mirror(mirror, there, guard=guard)
    tip = remote.tip("apple")
    git.forward(mirror, there, [git.RefUpdate("refs/heads/copy", git.ZERO, tip)], guard=guard)
    assert remote.tip("apple", "copy") == tip
    assert any(b"git-remote-http" in text for text in seen)
    assert not any(b"s3cret-token" in text for text in seen)
    assert "s3cret-token" not in repr(there)
    written = [file.read_bytes() for file in mirror.rglob("*") if file.is_file()]
    assert not any(b"s3cret-token" in text for text in written)


def test_a_mirror_follows_the_remote_and_shows_progress(
    remote: Remote, guard: Guard, tmp_path: Path
) -> None:
    files = {f"file-{number}": f"{number}\n" * 50 for number in range(300)}
    there = git.Remote(remote.create("apple", files))
    steps: list[git.Progress] = []
    mirror = mirror_of(tmp_path)
    git.fetch_mirror(mirror, there, guard=guard, on_progress=steps.append)
    assert any(step.stage == "Receiving objects" and step.fraction == 1 for step in steps)
    remote.commit("apple", {"new": "1"}, branch="topic")
    git.fetch_mirror(mirror, there, guard=guard)
    assert git.mirrored(mirror) == remote.refs("apple")
    remote.git("apple", "update-ref", "-d", "refs/heads/topic")
    git.fetch_mirror(mirror, there, guard=guard)
    assert git.mirrored(mirror) == remote.refs("apple")


def test_a_local_path_is_a_remote_when_the_operator_allowed_it(
    remote: Remote, tmp_path: Path
) -> None:
    remote.create("apple", {"a": "1"})
    there = git.Remote(str(remote.root / "apple"))
    guard = Guard.of(paths=[remote.root])
    git.fetch_mirror(mirror_of(tmp_path), there, guard=guard)
    assert git.mirrored(mirror_of(tmp_path)) == remote.refs("apple")
    with pytest.raises(git.BadAddress):
        git.probe(there, guard=Guard.of(paths=[remote.root / "pear"]))


def test_a_folder_with_files_is_a_remote_and_keeps_the_branch_that_stands_there(
    tmp_path: Path,
) -> None:
    folder, mirror = tmp_path / "my code ü", mirror_of(tmp_path)
    run_git(tmp_path, "init", "-q", "-b", "main", str(folder))
    (folder / "a.txt").write_text("1\n")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-q", "-m", "First")
    guard, there = Guard.of(paths=[tmp_path]), git.Remote(git.normal(f"file://{folder}/"))
    assert git.fetch_mirror(mirror, there, guard=guard).default_branch == "main"
    tip = run_git(folder, "rev-parse", "HEAD").strip()
    made = run_git(mirror, "commit-tree", "-p", tip, "-m", "Next", f"{tip}^{{tree}}").strip()
    onto_main = git.RefUpdate("refs/heads/main", tip, made)
    with pytest.raises(git.RemoteRefused, match="checked out there"):
        git.forward(mirror, there, [onto_main], guard=guard)
    aside = git.RefUpdate("refs/heads/next", git.ZERO, made)
    assert git.forward(mirror, there, [aside], guard=guard).refs == ("refs/heads/next",)
    assert run_git(folder, "rev-parse", "main", "next").split() == [tip, made]


def test_a_repository_that_is_too_large_is_refused_and_leaves_nothing(
    remote: Remote, guard: Guard, tmp_path: Path
) -> None:
    there = git.Remote(remote.create("apple", {"a": "1"}))
    with pytest.raises(git.TooLarge):
        git.fetch_mirror(mirror_of(tmp_path), there, guard=guard, max_bytes=10)
    assert git.mirrored(mirror_of(tmp_path)) == {}


def test_a_fetch_that_is_stopped_when_it_is_through_leaves_the_mirror_as_it_was(
    remote: Remote, guard: Guard, tmp_path: Path
) -> None:
    mirror, there = mirror_of(tmp_path), git.Remote(remote.create("apple", {"a": "1"}))

    def stop_once_it_is_there() -> None:
        if git.mirrored(mirror):
            raise git.TooLarge()

    with pytest.raises(git.TooLarge):
        git.fetch_mirror(mirror, there, guard=guard, tick=stop_once_it_is_there)
    assert git.mirrored(mirror) == {}
    git.fetch_mirror(mirror, there, guard=guard)
    assert set(git.mirrored(mirror)) == {"refs/heads/main"}


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [("tip", "next", True), ("tip", "tip", True), ("elsewhere", "next", False)],
)
def test_forward_moves_a_ref_from_exactly_old_to_exactly_new(
    remote: Remote, guard: Guard, tmp_path: Path, old: str, new: str, moved: bool
) -> None:
    there = git.Remote(remote.create("apple", {"a": "1"}))
    ids = {"tip": remote.tip("apple"), "elsewhere": remote.commit("apple", {"b": "1"}, branch="b")}
    ids["next"] = remote.commit("apple", {"c": "1"}, branch="c")
    remote.git("apple", "update-ref", "refs/heads/c", ids["tip"])
    mirror = mirror_of(tmp_path)
    remote.git("apple", "update-ref", "refs/heads/keep", ids["next"])
    git.fetch_mirror(mirror, there, guard=guard)
    update = git.RefUpdate("refs/heads/main", ids[old], ids[new])
    if moved:
        git.forward(mirror, there, [update], guard=guard)
        assert remote.tip("apple") == ids[new]
    else:
        with pytest.raises(git.RemoteMoved):
            git.forward(mirror, there, [update], guard=guard)
        assert remote.tip("apple") == ids["tip"]


def test_the_remotes_own_words_reach_us_when_it_refuses(
    remote: Remote, guard: Guard, tmp_path: Path
) -> None:
    there = git.Remote(remote.create("apple", {"a": "1"}))
    hook = remote.root / "apple/hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho the branch is protected >&2\nexit 1\n")
    hook.chmod(0o755)
    mirror = mirror_of(tmp_path)
    git.fetch_mirror(mirror, there, guard=guard)
    update = git.RefUpdate("refs/heads/x", git.ZERO, remote.tip("apple"))
    with pytest.raises(git.RemoteRefused, match="the branch is protected"):
        git.forward(mirror, there, [update], guard=guard)


def test_a_branch_can_be_created_forced_and_deleted(
    remote: Remote, guard: Guard, tmp_path: Path
) -> None:
    there = git.Remote(remote.create("apple", {"a": "1"}))
    first, second = remote.tip("apple"), remote.commit("apple", {"b": "1"})
    mirror = mirror_of(tmp_path)
    git.fetch_mirror(mirror, there, guard=guard)
    for old, new in ((git.ZERO, second), (second, first), (first, git.ZERO)):
        git.forward(mirror, there, [git.RefUpdate("refs/heads/x", old, new)], guard=guard)
        assert remote.tip("apple", "x") == ("" if new == git.ZERO else new)
