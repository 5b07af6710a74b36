"""Which skills a repository offers, on listings of real repositories and on made ones."""

import json
import os
from pathlib import Path

import pytest

from skills.discovery import Catalogue, Entry, Place, discover, in_repository, read_ls_tree

CORPUS = Path(os.environ.get("CC_CORPUS") or Path(__file__).parents[2] / "../shared/corpus")
LAYOUTS = sorted((CORPUS / "layouts").glob("*.tsv"))


def listing(path: Path) -> list[Entry]:
    rows = (line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#"))
    return [
        Entry(name, int(mode, 8), None if size == "-" else int(size)) for mode, size, name in rows
    ]


def found(*paths: str, repository: str = "ada/tables") -> Catalogue:
    return discover([Entry(path) for path in paths], repository=repository)


def paths(catalogue: Catalogue) -> list[str]:
    return [offer.path for offer in catalogue.offers]


def reasons(catalogue: Catalogue) -> dict[str, str]:
    return {one.path: one.reason for one in catalogue.passed_over}


@pytest.mark.skipif(not LAYOUTS, reason="this machine has no corpus")
@pytest.mark.req("CC-35")
@pytest.mark.parametrize("path", LAYOUTS, ids=lambda path: path.stem)
def test_every_skill_of_a_real_repository_is_offered_or_passed_over(path: Path) -> None:
    facts = json.loads((CORPUS / "layouts/facts.json").read_text())[path.stem.replace("__", "/")]
    catalogue = discover(listing(path), repository=path.stem)
    told = set(paths(catalogue)) | set(reasons(catalogue))
    here = {
        entry.path.rpartition("/")[0]
        for entry in listing(path)
        if entry.path.rpartition("/")[2].lower() == "skill.md"
    }
    assert here <= told
    assert len(here) == facts["skill_dirs"]
    for outer, inner in facts["skills_inside_a_skill"].items():
        assert set(inner).isdisjoint(paths(catalogue)), outer


@pytest.mark.skipif(not LAYOUTS, reason="this machine has no corpus")
@pytest.mark.parametrize(
    ("name", "offers"),
    [
        ("anthropics__skills", 17),
        ("github__awesome-copilot", 404),
        ("multica-ai__multica", 1),
        ("netbox-community__netbox", 7),
        ("nextlevelbuilder__ui-ux-pro-max-skill", 4),
        ("obra__superpowers", 14),
        ("vercel-labs__agent-skills", 7),
        ("vercel-labs__skills", 1),
    ],
)
def test_real_repositories_offer(name: str, offers: int) -> None:
    catalogue = discover(listing(CORPUS / f"layouts/{name}.tsv"))
    assert len(catalogue.offers) == offers


@pytest.mark.skipif(not LAYOUTS, reason="this machine has no corpus")
def test_mirrors_of_one_skill_are_a_clash() -> None:
    catalogue = discover(listing(CORPUS / "layouts/nextlevelbuilder__ui-ux-pro-max-skill.tsv"))
    assert len(catalogue.clashes["ui-ux-pro-max"]) == 3
    assert reasons(catalogue)["cli/assets/.claude/skills/ui-ux-pro-max"].startswith("in assets")
    assert reasons(catalogue)[".claude/skills/law-firm-homepage-structure"] == "no SKILL.md"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("skills/pdf/SKILL.md", Place.SKILLS),
        ("plugins/office/skills/pdf/SKILL.md", Place.PLUGIN),
        (".claude/skills/pdf/SKILL.md", Place.TOOL),
        (".agents/skills/pdf/SKILL.md", Place.TOOL),
        (".github/skills/pdf/SKILL.md", Place.TOOL),
        ("packages/a/skills/pdf/SKILL.md", Place.SKILLS),
        ("pdf/SKILL.md", Place.ELSEWHERE),
        ("skills/docs/SKILL.md", Place.SKILLS),
    ],
)
def test_conventions(path: str, place: Place) -> None:
    (offer,) = found(path).offers
    assert offer.place is place
    assert offer.skill_file == "SKILL.md"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("node_modules/x/SKILL.md", "in node_modules"),
        ("a/vendor/skills/x/SKILL.md", "in vendor"),
        ("examples/skills/x/SKILL.md", "in examples"),
        ("template/SKILL.md", "in template"),
        ("tests/fixtures/x/SKILL.md", "in tests"),
        ("a/b/c/d/SKILL.md", "deeper than 3"),
        ("a/b/c/d/e/skills/x/SKILL.md", "deeper than 6"),
    ],
)
def test_what_is_passed_over_has_a_reason(path: str, reason: str) -> None:
    catalogue = found(path)
    assert catalogue.offers == ()
    assert reasons(catalogue)[path.rpartition("/")[0]].startswith(reason)


def test_a_skill_is_a_leaf() -> None:
    catalogue = found("skills/a/SKILL.md", "skills/a/b/SKILL.md", "skills/a/b/c.md")
    assert paths(catalogue) == ["skills/a"]
    assert catalogue.offers[0].nested == ("b",)
    assert len(catalogue.offers[0].files) == 3
    assert reasons(catalogue) == {"skills/a/b": "inside the skill skills/a"}


def test_a_root_skill_brings_its_files_and_nothing_else() -> None:
    catalogue = found(
        "SKILL.md", "scripts/run.sh", "references/a.md", ".github/x.yml", "skills/b/SKILL.md"
    )
    assert paths(catalogue) == ["", "skills/b"]
    root = catalogue.offers[0]
    assert root.name == "tables"
    assert root.place is Place.ROOT
    assert [entry.path for entry in root.files] == ["SKILL.md", "references/a.md", "scripts/run.sh"]


def test_case_twins_are_refused_by_name() -> None:
    catalogue = found("skills/a/SKILL.md", "skills/a/skill.md")
    assert catalogue.offers == ()
    assert reasons(catalogue)["skills/a"] == "SKILL.md and skill.md stand side by side"


def test_a_lower_case_skill_is_offered_with_a_remark() -> None:
    (offer,) = found("skills/a/skill.md").offers
    assert offer.skill_file == "skill.md"
    assert "called skill.md" in offer.remarks[0]


def test_one_name_in_two_spellings_is_a_clash() -> None:
    catalogue = found("skills/Tables/SKILL.md", ".claude/skills/tables/SKILL.md")
    assert catalogue.clashes == {"tables": (".claude/skills/tables", "skills/Tables")}


def test_links_are_not_followed() -> None:
    catalogue = discover(
        [
            Entry("skills/a", 0o120000),
            Entry("skills/b/SKILL.md", 0o120000),
            Entry("skills/c", 0o160000),
            Entry("skills/d/SKILL.md"),
            Entry("skills/d/x", 0o120000),
        ]
    )
    assert paths(catalogue) == ["skills/d"]
    assert catalogue.offers[0].remarks == ("holds links: x",)
    assert reasons(catalogue) == {
        "skills/a": "a link, which is not followed",
        "skills/b": "its SKILL.md is a link",
        "skills/c": "a link, which is not followed",
    }


def test_too_many_files_are_told_before_anything_is_fetched() -> None:
    entries = [Entry("SKILL.md"), *(Entry(f"src/{number}.py") for number in range(10_000))]
    catalogue = discover(entries, repository="ada/tables")
    assert catalogue.offers == ()
    assert reasons(catalogue)[""].startswith("10001 files")


def test_names_of_folders_are_only_shown() -> None:
    (offer,) = found("skills/Rm -rf $HOME/SKILL.md").offers
    assert offer.remarks == ("'Rm -rf $HOME' is no name by agentskills.io",)


@pytest.mark.req("CC-39")
def test_a_checkout_carries_skills_in_three_places_in_this_order() -> None:
    offers = in_repository(
        [
            Entry(".opencode/skills/a/SKILL.md"),
            Entry(".claude/skills/A/SKILL.md"),
            Entry(".claude/skills/b/SKILL.md"),
            Entry(".agents/skills/c/SKILL.md"),
            Entry("skills/d/SKILL.md"),
            Entry(".claude/skills/deep/er/SKILL.md"),
        ]
    )
    assert [offer.path for offer in offers] == [
        ".agents/skills/c", ".claude/skills/A", ".claude/skills/b",
    ]  # fmt: skip


def test_gits_own_listing_is_read() -> None:
    raw = b"100755 blob aaaa      12\ta b.sh\x00160000 commit bbbb       -\tsub\x00"
    assert read_ls_tree(raw) == [
        Entry("a b.sh", 0o100755, 12, "aaaa"),
        Entry("sub", 0o160000, None, "bbbb"),
    ]
    with pytest.raises(ValueError, match="no line of ls-tree"):
        read_ls_tree(b"something else\x00")
