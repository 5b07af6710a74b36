"""Trees that no git would make: whoever hosts a repository sends what he likes."""

import subprocess
from pathlib import Path

import pytest

from skills import catalogue, install, requests
from tests.remote.server import ENV
from tests.skills.life.conftest import Stage, skill_text

FOLDER, FILE = b"40000", b"100644"


class Forge:
    """Writes objects into the host's repository as they are, without git's own checks."""

    def __init__(self, stage: Stage) -> None:
        self.place = stage.host.root / "skills"
        self.host = stage.host

    def put(self, kind: str, data: bytes) -> str:
        done = subprocess.run(
            ["git", "hash-object", "-t", kind, "-w", "--literally", "--stdin"],
            cwd=self.place, env=ENV, input=data, capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout.decode().strip()

    def tree(self, *lines: tuple[bytes, bytes, str]) -> str:
        return self.put(
            "tree",
            b"".join(mode + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in lines),
        )

    def publish(self, tree: str) -> None:
        commit = self.host.git("skills", "commit-tree", tree, "-m", "forged")
        self.host.git("skills", "update-ref", "refs/heads/main", commit)


@pytest.fixture
def forge(stage: Stage) -> Forge:
    return Forge(stage)


def outside(stage: Stage) -> set[Path]:
    """Everything in the data directory but the workspace's skills."""
    root = install.root(stage.cast.workspace.pk)
    everything = root.parents[2]
    return {path for path in everything.rglob("*") if root not in path.parents}


@pytest.mark.req("CC-32")
@pytest.mark.parametrize("name", [b"..", b".", b".git", b"a\\b", b"C:", b"\xff\xfe", b"a\nb", b"~"])
def test_a_path_that_leads_elsewhere_is_never_written(
    stage: Stage, forge: Forge, name: bytes
) -> None:
    text = forge.put("blob", skill_text("kit").encode())
    inner = forge.tree((FILE, b"AGENTS.md", text))
    deeper = forge.tree((FOLDER, name, inner))
    kit = forge.tree((FOLDER, name, deeper), (FILE, b"SKILL.md", text))
    forge.publish(forge.tree((FOLDER, b"skills", forge.tree((FOLDER, b"kit", kit)))))
    before = outside(stage)
    asked = stage.look(stage.source(), "skills/kit")
    assert (asked.state, asked.is_acceptable) == ("refused", False), asked.error
    assert outside(stage) == before
    assert not stage.folder("kit").exists()


@pytest.mark.req("CC-32")
@pytest.mark.parametrize("name", [b"..", b".", b".git", b"con", b"\xff", b"a b", b"-x", b"KIT"])
def test_a_folder_with_an_odd_name_becomes_no_directory(
    stage: Stage, forge: Forge, name: bytes
) -> None:
    text = forge.put("blob", skill_text("kit").encode())
    kit = forge.tree((FILE, b"SKILL.md", text))
    forge.publish(forge.tree((FOLDER, b"skills", forge.tree((FOLDER, name, kit)))))
    before = outside(stage)
    source = stage.source()
    with stage.cast.bound():
        found = [entry.listing for entry in catalogue.search(source=source)]
        passed = [entry.listing for entry in catalogue.search(source=source, skipped=True)]
    assert len(found) + len(passed) == 1, "what is not offered is named"
    for listing in found:
        try:
            asked = stage.look(source, listing.path)
        except requests.CannotRequest:
            continue
        assert asked.slug in {"a-b", "x", "kit", "git"}
        assert asked.state in {"previewed", "refused"}
    assert outside(stage) == before
    assert not any(install.root(stage.cast.workspace.pk).glob("*"))


@pytest.mark.parametrize("case", ["loop", "twins", "a file and a folder", "no such file", "deep"])
def test_trees_that_lie_end_in_a_sentence(stage: Stage, forge: Forge, case: str) -> None:
    text = forge.put("blob", skill_text("kit").encode())
    if case == "twins":
        kit = forge.tree((FILE, b"SKILL.md", text), (FILE, b"SKILL.md", text))
    elif case == "a file and a folder":
        inner = forge.tree((FILE, b"x", text))
        kit = forge.tree((FILE, b"SKILL.md", text), (FILE, b"a", text), (FOLDER, b"a", inner))
    elif case == "no such file":
        kit = forge.tree((FILE, b"SKILL.md", "1" * 40))
    else:
        kit = forge.tree((FILE, b"SKILL.md", text))
        for _ in range(100 if case == "deep" else 30):
            kit = forge.tree((FOLDER, b"d", kit), (FOLDER, b"e", kit))
    forge.publish(forge.tree((FOLDER, b"skills", forge.tree((FOLDER, b"kit", kit)))))
    source = stage.source()
    with stage.cast.bound():
        offered = [entry.listing.path for entry in catalogue.search(source=source)]
    if source.state == "failed":
        assert source.error
        return
    for path in offered:
        asked = stage.look(source, path)
        assert asked.state in {"failed", "refused"}, case
    assert not stage.folder("kit").exists()
