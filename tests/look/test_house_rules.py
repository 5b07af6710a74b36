"""What the look promises about every template, style and icon, read from the files themselves."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from controlcenter.templatetags import frame, states, tools, ui
from harness.tools.surface import ALL

ROOT = Path(__file__).resolve().parents[2]
STATIC, TEMPLATES = ROOT / "static", ROOT / "templates"
SPRITE = set(re.findall(r'symbol id="([^"]+)"', (STATIC / "icons/sprite.svg").read_text()))
PAGES = sorted(TEMPLATES.rglob("*.html"))
STYLES = sorted((STATIC / "css/components").glob("*.css"))


def text_of(page: Path) -> str:
    return re.sub(r"{% comment %}.*?{% endcomment %}", "", page.read_text(), flags=re.S)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_template_has_no_inline_style_or_script(page: Path) -> None:
    text = text_of(page)
    html = re.sub(r"{%.*?%}", "", text, flags=re.S)
    assert not re.search(r"\sstyle=", html), "a style attribute is blocked by the CSP"
    assert not re.search(r"\son[a-z]+=", html), "an inline handler is blocked by the CSP"
    assert "<style" not in text
    for tag in re.findall(r"<script\b[^>]*>", text):
        assert "src=" in tag or "application/json" in tag, tag


def test_every_tool_of_the_harness_has_a_word_and_an_icon_of_its_own() -> None:
    assert {tool.name for tool in ALL} - set(tools.FACES) == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_icon_of_a_template_is_in_the_sprite(page: Path) -> None:
    used = set(re.findall(r'(?:{% icon |icon=)"([a-z0-9-]+)"', text_of(page)))
    assert used <= SPRITE


def test_every_icon_that_python_names_is_in_the_sprite() -> None:
    named = {known.icon for known in states.WORDS.values() if known.icon} - {"thinking"}
    named |= {face.icon for face in tools.FACES.values()}
    named |= {*ui.AGENT_ICONS, *ui.SEEDED_ICONS.values()}
    assert named <= SPRITE


def test_a_state_has_a_word_and_a_mark_beside_its_colour() -> None:
    tones = {"running", "blocked", "failed", "succeeded", "idle", "never"}
    for name, known in states.WORDS.items():
        assert str(known.word), name
        assert known.tone in tones, name
        assert known.icon or known.dot, name


@pytest.mark.parametrize("style", STYLES, ids=name_of)
def test_a_style_invents_no_colour(style: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", style.read_text(), flags=re.S)
    if style.name != "avatars.css":  # where the hue of a person is computed
        assert not re.search(r"oklch\(|rgba?\(|hsla?\(|#[0-9a-fA-F]{3,8}\b(?![^{]*{)", text)


def test_every_style_is_loaded_once_and_in_order() -> None:
    page = (TEMPLATES / "ui/styles.html").read_text()
    loaded = re.findall(r'static "css/components/([a-z-]+\.css)"', page)
    assert sorted(loaded) == [style.name for style in STYLES]
    assert page.index("tokens.css") < page.index("base.css") < page.index(loaded[0])
    assert loaded[-1] == "pages.css"


def test_what_others_wrote_is_what_the_manifest_says() -> None:
    manifest = json.loads((STATIC / "vendor/manifest.json").read_text())
    for package in manifest["packages"]:
        assert (STATIC / package["licence_file"]).is_file()
        for file in package["files"]:
            digest = hashlib.sha256((STATIC / file["path"]).read_bytes()).hexdigest()
            assert digest == file["sha256"], file["path"]


def test_every_component_says_what_it_takes() -> None:
    for page in sorted((TEMPLATES / "ui").glob("*.html")):
        if page.name not in {"delta.html"}:
            assert page.read_text().startswith("{% comment %}"), page.name


def test_every_word_that_a_script_says_is_in_the_page() -> None:
    for script in sorted((STATIC / "js").rglob("*.js")):
        said = set[str]()
        for call in re.findall(r"\bword\(([^)]*)\)", script.read_text()):
            said |= set(re.findall(r'"([a-z_]+)"', call.split("{")[0]))
        assert said <= set(frame.WORDS), script.name


def test_every_table_folds_on_a_phone() -> None:
    """All but those whose cells are compared with each other (.tight, they scroll)."""
    tables = [
        (path.name, classes)
        for path in PAGES
        for classes in re.findall(r'<table class="(table[^"]*)"', path.read_text())
    ]
    assert len(tables) > 10
    assert [each for each in tables if not {"folds", "tight"} & set(each[1].split())] == []
