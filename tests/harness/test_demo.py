"""The demo: a script that plays a model's part, with real tools and a real push to decide on."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness import errors, events
from harness.events import Kind
from harness.seam import Deny, Held, Refused, Root, Wake
from tests.harness.kit import Children, Desk, Gate, World, make_root, make_spec
from tests.remote.server import Remote, run_git


def asked(world: World, text: str) -> errors.RunEnded:
    return world.run(wake=Wake("user_message", text, author="ada"))


def tools_used(world: World) -> list[str]:
    return [data["name"] for data in world.journal.of(Kind.TOOL_CALL)]


@pytest.fixture
def root(tmp_path: Path, remote: Remote) -> Root:
    return make_root(tmp_path, remote, "site", {"README.md": "# The Site\n\nHello.\n"})


@pytest.fixture
def world(tmp_path: Path, root: Root) -> World:
    return World(make_spec(tmp_path, roots=(root,)))


def without_git(tmp_path: Path) -> Root:
    folder = tmp_path / "repos/site"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("# The Site\n\nHello.\n")
    return Root("site", folder, writable=True)


TASK = "add a CHANGELOG and push it"


def test_the_whole_way_with_a_yes(world: World, root: Root) -> None:
    world.desk = Desk(Held("approval-1"))
    ended = asked(world, TASK)
    assert isinstance(ended, errors.Parked)
    assert tools_used(world) == ["glob", "read", "write", "git_commit", "git_push"]
    assert "What changed in The Site" in (root.path / "CHANGELOG.md").read_text()
    assert run_git(root.path, "log", "-1", "--format=%s") == "Add a changelog"
    by_desk = [call.tool for call in world.gate.calls if call.asked_by_desk]
    assert by_desk == ["git_push"], "the gate leaves the question to the push desk"

    world.decide("allow", decided_by="ben", outcome="main is now at abc on the remote.")
    ended = world.run()
    assert isinstance(ended, errors.Completed)
    assert "main is now at abc on the remote." in ended.summary
    assert len(world.desk.wishes) == 1, "what was forwarded is not pushed again"


def test_a_delegation_is_one_subagent_and_what_it_gave_back(world: World) -> None:
    world.spec = replace(world.spec, may_delegate=True)
    world.children = Children(known=("Explore",))
    assert isinstance(asked(world, "delegate a look at the files"), errors.Parked)
    [wish] = world.children.wishes
    assert wish.prompt == "List the files in repos/site."
    world.journal.say(
        events.child(
            {
                "phase": "ended",
                "run_id": "child-1",
                "call_id": wish.call_id,
                "agent": "Explore",
                "state": "succeeded",
                "result": "README.md",
            }
        )
    )
    ended = asked(world, "delegate a look at the files")
    assert isinstance(ended, errors.Completed)
    assert "gave this back:\n\n```\nREADME.md" in ended.summary


def test_the_whole_way_with_a_no(world: World) -> None:
    world.desk = Desk(Held("approval-1"))
    asked(world, TASK)
    world.decide("deny", decided_by="ben", note="Not before the release.")
    ended = world.run()
    assert isinstance(ended, errors.Completed)
    assert "Denied by @ben: Not before the release." in ended.summary
    assert "nothing is lost" in ended.summary


def test_it_says_what_it_is_first(world: World) -> None:
    asked(world, TASK)
    assert "no AI" in world.journal.of(Kind.TEXT)[0]["block"]["text"]


def test_without_a_wish_to_push_it_does_not(world: World) -> None:
    ended = asked(world, "please write a changelog")
    assert tools_used(world)[-1] == "git_commit"
    assert "did not push" in ended.summary


def test_an_existing_changelog_gets_an_entry(tmp_path: Path, remote: Remote) -> None:
    files = {"CHANGELOG.md": "# Changelog\n\n## 1.0\n\n- First.\n"}
    root = make_root(tmp_path, remote, "site", files)
    asked(World(make_spec(tmp_path, roots=(root,))), TASK)
    text = (root.path / "CHANGELOG.md").read_text()
    assert text.startswith("# Changelog\n\n## Unreleased\n\n- The demo")
    assert text.endswith("## 1.0\n\n- First.\n")


def test_a_repository_with_nothing_to_read(tmp_path: Path, remote: Remote) -> None:
    root = make_root(tmp_path, remote, "site", {"main.py": "pass\n"})
    asked(World(make_spec(tmp_path, roots=(root,))), TASK)
    assert "What changed in site" in (root.path / "CHANGELOG.md").read_text()


def test_several_repositories_and_the_one_that_was_named(
    tmp_path: Path, remote: Remote, root: Root
) -> None:
    other = make_root(tmp_path, remote, "engine", {"README.md": "# Engine\n"})
    asked(World(make_spec(tmp_path, roots=(root, other))), "add a CHANGELOG to engine and push it")
    assert (other.path / "CHANGELOG.md").exists()
    assert not (root.path / "CHANGELOG.md").exists()


@pytest.mark.parametrize("task", [TASK, "push it"])
def test_without_a_repository_it_says_what_to_do(tmp_path: Path, task: str) -> None:
    ended = asked(World(make_spec(tmp_path)), task)
    assert isinstance(ended, errors.Completed)
    assert "Add one under Repositories" in ended.summary


def test_what_a_rule_denies_is_told_and_ends(world: World) -> None:
    world.gate = Gate(git_commit=Deny("Commits are frozen."))
    ended = asked(world, TASK)
    assert "Commits are frozen." in ended.summary


def test_a_push_the_gateway_refuses_is_told(world: World) -> None:
    world.desk = Desk(Refused("The remote has moved on."))
    assert "The remote has moved on." in asked(world, "push").summary


def test_where_it_may_only_read_it_says_so(world: World) -> None:
    ended = world.run(wake=Wake("user_message", "run `ls`"), mode="plan")
    assert isinstance(ended, errors.Completed)
    assert "the tool bash" in ended.summary


@pytest.mark.parametrize(
    ("task", "used", "says"),
    [
        ("list the files", ["glob"], "README.md"),
        ("read the README", ["glob", "read"], "# The Site"),
        ("please read README.md", ["read"], "# The Site"),
        ("read missing.txt", ["read"], "I could not read it"),
        ("run `echo hello`", ["bash"], "hello"),
        ("run: exit 3", ["bash"], "exit code 3"),
        ("run the tests, please", [], "Tell me which command"),
        ("run ``", [], "Tell me which command"),
        ("What is the meaning of life?", [], "Try one of these"),
        ("", [], "Try one of these"),
        ("x" * 1_000_000, [], "Try one of these"),
    ],
)
def test_no_message_is_a_dead_end(tmp_path: Path, task: str, used: list[str], says: str) -> None:
    world = World(make_spec(tmp_path, roots=(without_git(tmp_path),)))
    ended = asked(world, task)
    assert isinstance(ended, errors.Completed)
    assert tools_used(world) == used
    assert says in ended.summary


def test_what_is_said_later_starts_a_new_scene(tmp_path: Path) -> None:
    world = World(make_spec(tmp_path, roots=(without_git(tmp_path),)))
    asked(world, "list the files")
    world.journal.say(events.message("run `echo again`", author="ada"))
    ended = world.run()
    assert "again" in ended.summary
    assert tools_used(world) == ["glob", "bash"]
