"""Packages that an admin installed: folders with a manifest and agent files, nothing that runs."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from agents.library.definition import Dialect
from agents.library.names import slugify
from agents.library.places import Package

MOST_BYTES = 256 * 1024
# Where a package says what it is, and which dialect its agents speak.
MANIFESTS: Mapping[str, Dialect] = {
    ".fuxi-plugin/plugin.json": Dialect.FUXI,
    ".claude-plugin/plugin.json": Dialect.FUXI,
    ".jarvis-plugin/plugin.json": Dialect.JARVIS,
    "jarvis-plugin.json": Dialect.JARVIS,
    "qwen-extension.json": Dialect.QWEN,
}


def installed(root: Path, *, disabled: Iterable[str] = ()) -> tuple[Package, ...]:
    """The enabled packages below `root`, by name. A folder without a manifest is none."""
    off = set(disabled)
    folders = sorted(root.iterdir()) if root.is_dir() else []
    return tuple(
        package
        for folder in folders
        if folder.name not in off and not folder.is_symlink() and folder.is_dir()
        if (package := _package(folder)) is not None
    )


def manifest_of(paths: Iterable[str]) -> str:
    """The path of the manifest among the paths of a tree: the one nearest to its root, or ""."""
    found = [
        path
        for path in paths
        if any(path == name or path.endswith(f"/{name}") for name in MANIFESTS)
    ]
    return min(found, key=lambda path: (path.count("/"), path), default="")


def read_manifest(path: str, data: bytes) -> tuple[str, Dialect, tuple[str, ...]] | None:
    """Name, dialect and declared agent folders; None when the bytes are no manifest."""
    dialect = next((d for name, d in MANIFESTS.items() if path.endswith(name)), None)
    try:
        values = json.loads(data[:MOST_BYTES])
    except (ValueError, RecursionError):
        return None
    if dialect is None or not isinstance(values, dict):
        return None
    name = values.get("name")
    if not isinstance(name, str) or not name.strip():
        return None
    declared = values.get("agents")
    folders = [declared] if isinstance(declared, str) else declared
    if not isinstance(folders, list):
        folders = []
    tidy = [text.removeprefix("./").strip("/") for text in folders if isinstance(text, str)]
    return slugify(name.strip()), dialect, tuple(text for text in tidy if text)


def _package(folder: Path) -> Package | None:
    for name in MANIFESTS:
        file = folder / name
        if file.is_file() and not file.is_symlink():
            with file.open("rb") as opened:
                read = read_manifest(name, opened.read(MOST_BYTES))
            if read is not None:
                return Package(folder.name, folder, read[1], read[2])
    return None
