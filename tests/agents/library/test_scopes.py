"""Which file counts under a name, and why the others do not."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agents.library import session
from agents.library.choosing import ChoiceError, choose, system_prompt_file_counts
from agents.library.definition import Dialect, Posture
from agents.library.loading import Found, Loader
from agents.library.places import (
    Package,
    Place,
    Scope,
    Surroundings,
    places,
    project_root,
    refused_extra,
)
from agents.library.reading import read_text
from agents.library.scopes import TRUSTING, Library, resolve


class World:
    """A checkout, a member's home, a managed folder and packages, on disk."""

    def __init__(self, folder: Path) -> None:
        self.top = folder
        self.repo = folder / "checkout" / "repo"
        (self.repo / ".git").mkdir(parents=True)
        self.cwd = self.repo / "services" / "api"
        self.cwd.mkdir(parents=True)
        self.home = folder / "home"
        self.managed = folder / "managed"
        self.extra: list[str] = []
        self.packages: list[Package] = []
        self.added: list[Path] = []

    def write(self, path: Path, name: str | None, front: str = "", body: str = "Do it.") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"name: {name}\n" if name else ""
        path.write_text(f"---\n{head}description: {path.name}\n{front}\n---\n{body}\n")
        return path

    def surroundings(self) -> Surroundings:
        return Surroundings(
            cwd=self.cwd,
            ceiling=self.repo.parent,
            home=self.home,
            managed=[self.managed],
            added=self.added,
            extra=self.extra,
            packages=self.packages,
        )

    def library(self, *session_files: Found, **options: object) -> Library:
        found = (*Loader().load(places(self.surroundings())), *session_files)
        return resolve(found, **options)  # type: ignore[arg-type]

    def path_of(self, name: str, **options: object) -> str:
        entry = self.library(**options).find(name)
        return entry.found.definition.path.removeprefix(f"{self.top}/") if entry else ""


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def standing(library: Library, name: str) -> dict[str, str]:
    """Each file of this name: where it lies → how it stands."""
    return {
        f"{e.found.place.scope.name.lower()} {e.found.definition.dialect}": e.code
        for e in library.entries
        if name in (e.name, e.definition.name)
    }


@pytest.mark.req("JA-30", "FX-34", "QW-99", "JA-38", "FX-46")
def test_scopes_in_their_order(world: World) -> None:
    world.extra = ["~/team"]
    world.packages = [Package("tools", world.top / "pack", Dialect.FUXI)]
    order = [
        ("managed", world.managed / ".fuxi/agents/x.md"),
        ("session", None),
        ("project", world.repo / ".fuxi/agents/x.md"),
        ("extra", world.home / "team/x.md"),
        ("member", world.home / ".fuxi/agents/x.md"),
        ("plugin", world.top / "pack/agents/x.md"),
    ]
    uploaded = session.read_agent_file("---\nname: x\ndescription: d\n---\nb", file_name="x.md")
    for _, path in order:
        if path is not None:
            world.write(path, "x")
    for scope, path in order:
        files = (uploaded,) if path is None or scope == "managed" else ()
        entry = world.library(*files).find("x")
        assert entry is not None
        assert entry.found.place.scope.name.lower() == scope
        if path is not None:
            path.unlink()
    assert world.library().find("x") is None


@pytest.mark.req("FX-36", "FX-37", "JA-35", "JA-34")
def test_fuxi_climbs_to_the_root_and_the_nearest_wins(world: World) -> None:
    world.write(world.repo / ".fuxi/agents/x.md", "x")
    world.write(world.cwd / ".claude/agents/x.md", "x")
    world.write(world.repo.parent / ".fuxi/agents/above.md", "above")
    world.write(world.cwd / ".jarvis-code/agents/y.md", "y")
    world.write(world.repo / ".jarvis-code/agents/z.md", "z")
    world.added = [world.top / "added"]
    world.write(world.top / "added/.fuxi/agents/x.md", "x")
    assert world.path_of("x").endswith("services/api/.claude/agents/x.md")
    library = world.library()
    assert library.find("above") is None
    assert library.find("y") is None  # Jarvis files count at the root only
    assert library.find("z") is not None
    shadowed = [entry for entry in library.entries if entry.code == "shadowed"]
    assert len(shadowed) == 2
    assert all("nearer to the working directory" in entry.reason for entry in shadowed)


def test_dialects_at_one_place_and_a_linked_worktree(world: World) -> None:
    (world.repo / ".git").rmdir()
    (world.repo / ".git").write_text("gitdir: elsewhere\n")
    assert project_root(world.cwd) == world.repo
    world.write(world.repo / ".qwen/agents/x.md", "x")
    world.write(world.repo / ".jarvis-code/agents/x.md", "x")
    world.write(world.repo / ".agents/agents/x.md", "x")
    assert ".jarvis-code" in world.path_of("x")
    assert ".qwen" in world.path_of("x", main_dialect=Dialect.QWEN)
    (world.repo / ".jarvis-code/agents/x.md").unlink()
    assert ".agents/agents" in world.path_of("x")


@pytest.mark.req("JA-40", "JA-41", "JA-44", "JA-45", "FX-13", "QW-111")
def test_who_may_replace_a_built_in_agent(world: World) -> None:
    plain = world.write(world.home / ".jarvis-code/agents/coder.md", "coder")
    assert standing(world.library(), "coder")["member jarvis"] == "needs-override"
    world.write(plain, "coder", "override: true")
    assert standing(world.library(), "coder")["member jarvis"] == "effective"
    assert standing(world.library(), "coder")["builtin jarvis"] == "shadowed"
    world.write(world.home / ".fuxi/agents/explore.md", "Explore", "model: haiku")
    entry = world.library().find("Explore")
    assert entry is not None
    assert entry.definition.model == "haiku"
    uploaded = session.read_agent_file("---\ndescription: d\n---\nb", file_name="coder.md")
    assert standing(world.library(uploaded), "coder")["session jarvis"] == "effective"


def test_a_repository_replaces_a_built_in_agent_only_when_it_is_trusted(world: World) -> None:
    world.write(world.repo / ".jarvis-code/agents/agent.md", "agent", "override: true")
    world.write(world.repo / ".qwen/agents/e.md", "Explore")
    for name in ("agent", "Explore"):
        scopes = standing(world.library(), name)
        assert "not-trusted" in scopes.values()
        assert "effective" in {code for key, code in scopes.items() if "builtin" in key}
        trusted = standing(world.library(caution=TRUSTING), name)
        assert [key for key, code in trusted.items() if code == "effective"][0].startswith("proj")
    assert (
        "safe-mode"
        in standing(world.library(caution=replace(TRUSTING, safe_mode=True)), "agent").values()
    )


def test_an_untrusted_repository_brings_nothing_that_runs(world: World) -> None:
    front = (
        "permissionMode: bypassPermissions\nhooks: {Stop: [{hooks: []}]}\n"
        "mcpServers: {near: {command: x}, far: {type: http, url: 'https://example.org'}}"
    )
    world.write(world.repo / ".fuxi/agents/x.md", "x", front)
    entry = world.library().find("x")
    assert entry is not None
    assert (entry.definition.posture, dict(entry.definition.hooks)) == (Posture.ASK, {})
    assert list(entry.definition.mcp) == ["far"]
    notes = [w.sentence for w in entry.definition.warnings if w.code == "field-stripped"]
    assert len(notes) == 3
    trusted = world.library(caution=TRUSTING).find("x")
    assert trusted is not None
    assert trusted.definition.posture is Posture.BYPASS
    assert list(trusted.definition.hooks) == ["Stop"]


@pytest.mark.req("FX-43", "FX-48", "FX-160", "JA-37", "QW-100", "QW-102")
def test_packages_have_scoped_names_and_no_hooks(world: World) -> None:
    world.packages = [
        Package("one", world.top / "one", Dialect.FUXI),
        Package("two", world.top / "two", Dialect.FUXI, ("defs", "../outside")),
    ]
    world.write(world.top / "one/agents/review/sec.md", "security", "permissionMode: plan")
    world.write(world.top / "one/agents/alone.md", "alone")
    world.write(world.top / "outside/x.md", "outsider")
    library = world.library()
    assert library.find("outsider") is None
    entry = library.find("security")
    assert entry is not None
    assert entry.name == "one:review:security"
    assert entry.definition.posture is None
    world.write(world.top / "two/defs/sec.md", "security")
    library = world.library()
    assert library.find("security") is None
    assert library.candidates("security") == ()
    with pytest.raises(ChoiceError) as caught:
        choose(library, agent="security")
    assert caught.value.available == ("one:review:security", "two:security")
    assert choose(library, agent="two:security") is not None
    assert choose(library, agent="alone") is not None


@pytest.mark.req("FX-40", "FX-41", "FX-42")
def test_duplicates_in_one_tree_are_named(world: World) -> None:
    world.write(world.home / ".fuxi/agents/b/x.md", "same")
    world.write(world.home / ".fuxi/agents/a/y.md", "same")
    library = world.library()
    entry = library.find("same")
    assert entry is not None
    assert entry.found.relative == "a/y.md"
    (warning,) = library.warnings
    assert warning.code == "duplicate-name"
    assert "`a/y.md`" in warning.sentence
    assert "`b/x.md`" in warning.sentence


def test_names_are_exact_or_the_only_one_that_differs_by_case(world: World) -> None:
    world.write(world.home / ".fuxi/agents/a.md", "Tester")
    library = world.library()
    assert library.find("tester") is library.find("Tester") is not None
    explore, builtin = library.find("explore"), library.find("Explore")
    assert explore is not None
    assert builtin is not None
    assert explore is not builtin
    assert library.find("EXPLORE") is None  # two could be meant


@pytest.mark.req("JA-36")
def test_extra_folders_stay_inside_checkout_and_home(world: World) -> None:
    world.extra = ["team", "~/mine", "../outside", "/etc", "~/../x"]
    world.write(world.repo / "team/t.md", "t")
    world.write(world.home / "mine/m.md", "m")
    world.write(world.repo.parent / "outside/o.md", "o")
    library = world.library()
    assert library.find("t") is not None
    assert library.find("m") is not None
    assert library.find("o") is None
    assert refused_extra(world.surroundings()) == ("../outside", "/etc", "~/../x")


@pytest.mark.req("JA-80", "JA-81", "JA-82", "JA-73", "FX-159")
def test_choosing_the_agent_of_a_conversation(world: World) -> None:
    world.write(world.home / ".fuxi/agents/r.md", "reviewer")
    library = world.library()
    good = read_text("---\nname: x\ndescription: d\n---\nb", path="x.md", dialect=Dialect.JARVIS)
    bad = read_text("---\nname: X Y\n---\nb", path="x.md", dialect=Dialect.JARVIS)
    assert choose(library) is None
    chosen = choose(library, agent="reviewer")
    assert chosen is not None
    assert chosen.definition.name == "reviewer"
    given = choose(library, agent_file=good)
    assert given is not None
    assert given.definition is good
    default = choose(library, default="reviewer")
    assert default is not None
    with pytest.raises(ChoiceError, match="not valid.*kebab.*description"):
        choose(library, agent_file=bad)
    with pytest.raises(ChoiceError, match="not both"):
        choose(library, agent="reviewer", agent_file=good)
    with pytest.raises(ChoiceError, match="bound when it is created"):
        choose(library, agent="reviewer", is_new=False)
    with pytest.raises(ChoiceError, match="No agent is called `nobody`") as caught:
        choose(library, agent="nobody")
    assert {"reviewer", "coder", "general-purpose"} <= set(caught.value.available)


@pytest.mark.req("JA-95", "JA-96")
def test_what_system_md_gives_way_to(world: World) -> None:
    member = world.home / ".jarvis-code/agents/agent.md"
    project = world.repo / ".jarvis-code/agents/agent.md"
    assert system_prompt_file_counts(world.library(), chosen=None)
    world.write(member, "agent", "override: true")
    assert system_prompt_file_counts(world.library(), chosen=None)
    world.write(project, "agent", "override: true")
    assert system_prompt_file_counts(world.library(), chosen=None)  # untrusted
    library = world.library(caution=TRUSTING)
    assert not system_prompt_file_counts(library, chosen=None)
    project.unlink()
    library = world.library()
    assert not system_prompt_file_counts(library, chosen=choose(library, agent="coder"))


def test_the_built_in_agents_all_load(world: World) -> None:
    library = world.library()
    names = {entry.name for entry in library.entries}
    assert names == {
        *("agent", "coder", "explore", "plan", "general-purpose", "Explore", "Plan"),
        *("fuxi-code-guide", "claude-code", "codex"),
    }
    assert all(entry.is_effective for entry in library.entries)


@pytest.mark.req("FX-31", "FX-52", "JA-31", "JA-32", "JA-33")
def test_a_changed_file_and_a_new_folder_are_seen_at_once(world: World) -> None:
    loader = Loader()
    where = places(world.surroundings())
    path = world.home / ".agents/agents/deep/x.md"
    assert not [f for f in loader.load(where) if f.relative == "deep/x.md"]
    world.write(path, None)
    for text in ("first", "again", "third"):
        world.write(path, "x", body=text)
        (found,) = [f for f in loader.load(where) if f.relative == "deep/x.md"]
        assert found.definition.body == text
    os.utime(path, ns=(1, 1))
    path.unlink()
    assert not [f for f in loader.load(where) if f.relative == "deep/x.md"]


def test_an_unchanged_file_is_the_same_object(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.library.loading._SETTLED_NS", -1)  # the clock of the file system
    world.write(world.home / ".fuxi/agents/x.md", "x")
    loader = Loader()
    where = places(world.surroundings())
    first, second = loader.load(where), loader.load(where)
    assert all(a.definition is b.definition for a, b in zip(first, second, strict=True))


def test_links_are_followed_inside_their_root_once_and_never_out(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    agents = root / ".claude/agents"
    agents.mkdir(parents=True)
    text = "---\nname: {}\ndescription: d\n---\nb"
    (agents / "real.md").write_text(text.format("real"))
    (root / "shared").mkdir()
    (root / "shared/linked.md").write_text(text.format("linked"))
    (tmp_path / "secret.md").write_text(text.format("secret"))
    (agents / "self").symlink_to(agents)
    (agents / "up").symlink_to(root)
    (agents / "slash").symlink_to("/")
    (agents / "shared").symlink_to("../../shared")
    (agents / "out.md").symlink_to(tmp_path / "secret.md")
    (agents / "gone.md").symlink_to("nowhere.md")
    (agents / "circle.md").symlink_to("circle.md")
    (agents / "circle").symlink_to("circle")
    os.mkfifo(agents / "pipe.md")
    place = Place(Scope.PROJECT, agents, root, Dialect.FUXI)
    found = {f.relative: f.definition for f in Loader().load([place])}
    assert found["real.md"].is_usable
    names = [definition.name for definition in found.values() if definition.is_usable]
    assert sorted(names) == ["linked", "real"]
    for broken in ("out.md", "gone.md", "pipe.md"):
        assert [w.code for w in found[broken].warnings] == ["unreadable"]


@pytest.mark.req("FX-44", "FX-45")
def test_agents_json_defines_several_for_one_conversation(world: World) -> None:
    text = """{"one": {"description": "d", "prompt": "p\\r\\nq", "tools": ["Read", "Grep"],
      "model": "sonnet", "maxTurns": 3}, "two": {"description": "d"}, "three": 3, "": {}}"""
    one, two, three, nameless = session.read_agents_json(text)
    assert (one.outcome, one.name, one.body, one.tools) == ("ok", "one", "p\nq", ("Read", "Grep"))
    assert (one.model, one.max_turns, one.dialect) == ("sonnet", 3, Dialect.FUXI)
    assert [d.is_usable for d in (two, three, nameless)] == [False, False, False]
    assert "missing-prompt" in [w.code for w in two.warnings]
    entry = world.library(session.found(one)).find("one")
    assert entry is not None
    assert entry.found.place.scope is Scope.SESSION
    for broken in ("[]", "{", "7", "[" * 100_000, '{"a":' * 99 + "1" + "}" * 99):
        with pytest.raises(session.AgentsJsonError):
            session.read_agents_json(broken)


def test_a_file_whose_name_is_no_utf8_is_read_under_a_name_that_can_be_shown(
    tmp_path: Path,
) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text(
        "---\nname: a-b\ndescription: d\n---\nBody"
    )
    [found] = Loader().load([Place(Scope.PROJECT, tmp_path, tmp_path, Dialect.FUXI)])
    assert (found.relative, found.definition.name) == ("caf\ufffd.md", "a-b")
    assert found.definition.path.encode().endswith("/caf\ufffd.md".encode())


def test_an_extra_folder_that_is_a_link_in_circles_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "team").symlink_to("team")
    where = Surroundings(home=tmp_path, extra=("~/team",))
    found = Loader().load(places(where))
    assert [each for each in found if each.place.scope is Scope.EXTRA] == []
