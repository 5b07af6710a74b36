"""Which skills a commit carries, with real git: places, links, twins, and what goes in circles."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from outside import git
from repositories import skill_trees
from skills.scanning import digest
from tests.remote.server import ENV

Make = Callable[..., git.Place]
TEXT = "---\nname: {0}\ndescription: About {0}.\n---\nDo it.\n"
LINK = "120000"


@pytest.fixture
def commit(tmp_path: Path) -> Callable[..., tuple[git.Place, str]]:
    """A bare repository with one commit of these files; `links` are path → target."""

    def make(files: dict[str, str], links: dict[str, str] | None = None) -> tuple[git.Place, str]:
        place = tmp_path / "bare.git"

        def run(*arguments: str, given: str = "") -> str:
            done = subprocess.run(
                ["git", f"--git-dir={place}", *arguments],
                env={**ENV, "GIT_INDEX_FILE": str(tmp_path / "index")},
                input=os.fsencode(given), capture_output=True, check=True,
            )  # fmt: skip
            return done.stdout.decode().strip()

        subprocess.run(["git", "init", "-q", "--bare", str(place)], env=ENV, check=True)
        both = [("100644", *one) for one in files.items()]
        both += [(LINK, *one) for one in (links or {}).items()]
        lines = [
            f"{mode} {run('hash-object', '-w', '--stdin', given=text)}\t{path}\n"
            for mode, path, text in both
        ]
        run("update-index", "--add", "--index-info", given="".join(lines))
        return git.Place(git_dir=place), run("commit-tree", run("write-tree"), "-m", "x")

    return make


def names(place: git.Place, oid: str) -> list[str]:
    return [offer.path for offer in skill_trees.carried(place, oid).offers]


def reasons(place: git.Place, oid: str) -> dict[str, str]:
    return {one.path: one.reason for one in skill_trees.carried(place, oid).passed_over}


def text(name: str) -> str:
    return TEXT.format(name)


Commit = Callable[..., tuple[git.Place, str]]


@pytest.mark.req("CC-39")
def test_the_three_places_in_their_order_and_nothing_else(commit: Commit) -> None:
    made = commit(
        {
            ".opencode/skills/c/SKILL.md": text("c"),
            ".claude/skills/b/SKILL.md": text("b"),
            ".agents/skills/a/SKILL.md": text("a"),
            ".agents/skills/a/scripts/run.sh": "echo\n",
            "skills/d/SKILL.md": text("d"),
            ".claude/commands/e.md": "no skill\n",
            ".agents/skills/a/inner/SKILL.md": text("inner"),
        }
    )
    assert names(*made) == [".agents/skills/a", ".claude/skills/b", ".opencode/skills/c"]


@pytest.mark.req("CC-39")
def test_of_one_name_the_first_place_wins_and_the_other_is_named(commit: Commit) -> None:
    made = commit(
        {
            ".claude/skills/deploy/SKILL.md": text("deploy"),
            ".agents/skills/Deploy/SKILL.md": text("Deploy"),
            ".agents/skills/twin/SKILL.md": text("twin"),
            ".agents/skills/twin/skill.md": text("twin"),
        }
    )
    assert names(*made) == [".agents/skills/Deploy"]
    told = reasons(*made)
    assert "has the same name and comes first" in told[".claude/skills/deploy"]
    assert "stand side by side" in told[".agents/skills/twin"]


@pytest.mark.parametrize("name", ["build", "target", "deps", "docs", "templates", "external"])
def test_a_skill_may_be_called_like_a_folder_that_is_passed_over(commit: Commit, name: str) -> None:
    made = commit({f".agents/skills/{name}/SKILL.md": text(name)})
    assert names(*made) == [f".agents/skills/{name}"]
    assert not reasons(*made)


def test_links_inside_the_repository_are_followed(commit: Commit) -> None:
    """As real repositories are laid out: one folder of skills, and links to it for each tool."""
    made = commit(
        {"skills/deploy/SKILL.md": text("deploy"), "tools/kit/style/SKILL.md": text("style")},
        {
            ".agents/skills": "../skills",
            ".claude/skills/style": "../../tools/kit/style",
            ".opencode": ".claude",
        },
    )
    assert names(*made) == [".agents/skills/deploy", ".claude/skills/style"]


def test_a_chain_of_links_is_read_from_where_each_link_lies(commit: Commit) -> None:
    made = commit(
        {"deep/down/real/SKILL.md": text("deploy")},
        {".claude/skills": "../deep/skills", "deep/skills/deploy": "../down/real"},
    )
    assert names(*made) == [".claude/skills/deploy"]


@pytest.mark.parametrize(
    "target", ["itself", "other", "..", "../..", "../../..", "/", "/etc", "../../../../etc", "gone"]
)
def test_links_that_lead_out_or_in_circles_end(commit: Commit, target: str) -> None:
    started = time.monotonic()
    made = commit(
        {".claude/skills/good/SKILL.md": text("good")},
        {".claude/skills/itself": target, ".claude/skills/other": "itself"},
    )
    assert names(*made) == [".claude/skills/good"]
    assert reasons(*made)[".claude/skills/other"] == "a link, which is not followed"
    assert time.monotonic() - started < 60


def test_one_folder_under_many_names_is_one_skill(commit: Commit) -> None:
    many = {f".claude/skills/link-{n:02}": "../../skills/deploy" for n in range(40)}
    made = commit({"skills/deploy/SKILL.md": text("deploy")}, many)
    assert names(*made) == [".claude/skills/link-00"]
    assert reasons(*made)[".claude/skills/link-39"] == "the same files as .claude/skills/link-00"


def test_a_link_inside_a_skill_stays_a_link(commit: Commit) -> None:
    place, oid = commit(
        {".claude/skills/a/SKILL.md": text("a")}, {".claude/skills/a/ref.md": "/etc/passwd"}
    )
    [group] = skill_trees.read(place, skill_trees.carried(place, oid).offers)
    [(_offer, files)] = group
    assert files["ref.md"].is_link
    assert files["ref.md"].data == b"/etc/passwd"


def test_four_hundred_skills_are_all_there(commit: Commit) -> None:
    files = {f".agents/skills/s{n:03}/SKILL.md": text(f"s{n:03}") for n in range(400)}
    place, oid = commit(files)
    offers = skill_trees.carried(place, oid).offers
    assert len(offers) == 400
    read = [one for group in skill_trees.read(place, offers) for one in group]
    assert len({digest(files) for _offer, files in read}) == 400


def test_more_than_anybody_carries_is_left_out_and_named(
    commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_trees, "MOST_SKILLS", 2)
    made = commit({f".agents/skills/s{n}/SKILL.md": text(f"s{n}") for n in range(4)})
    assert len(names(*made)) == 2
    assert reasons(*made)[".agents/skills/s3"] == "more than 2 skills"


def test_a_name_that_is_no_text_does_not_break_the_rest(commit: Commit) -> None:
    odd = os.fsdecode(b".agents/skills/\xff/SKILL.md")
    made = commit({".agents/skills/a/SKILL.md": text("a"), odd: text("odd")})
    assert ".agents/skills/a" in names(*made)


def test_a_missing_object_is_an_error_and_no_empty_answer(commit: Commit, tmp_path: Path) -> None:
    place, oid = commit({".agents/skills/a/SKILL.md": text("a")})
    assert place.git_dir is not None
    offers = skill_trees.carried(place, oid).offers
    [entry] = offers[0].files
    (place.git_dir / "objects" / entry.oid[:2] / entry.oid[2:]).unlink()
    with pytest.raises(git.GitError):
        list(skill_trees.read(place, offers))
