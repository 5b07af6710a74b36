"""Archives and parsers that were made to break a scanner: refused within tight limits."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator

import pytest

from skills.scanning import Decision, File, Source
from skills.scanning.child import Ceilings, Scanner
from skills.scanning.gate import scan
from tests.gate.cases import FRONT, skill, tarred, zipped

MIB = 1 << 20
TIGHT = Ceilings(cpu_seconds=2, memory=640 * MIB)


def a_zip_of_zeros() -> dict[str, File]:
    return {"a.zip": File(0o100644, zipped({"a": "\0" * (40 * MIB)}))}


def a_gzip_of_zeros() -> dict[str, File]:
    return {"a.gz": File(0o100644, gzip.compress(bytes(80 * MIB), mtime=0))}


def a_zip_of_many() -> dict[str, File]:
    return {"a.zip": File(0o100644, zipped({f"{n:05}": "" for n in range(20_000)}))}


def zips_in_zips() -> dict[str, File]:
    data = b"x"
    for _ in range(20):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a.zip", data)
        data = out.getvalue()
    return {"a.zip": File(0o100644, data)}


def a_tar_that_climbs() -> dict[str, File]:
    return {"a.tar": File(0o100644, tarred({"../../.bashrc": "x"}))}


def a_tar_with_a_link() -> dict[str, File]:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("a")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    return {"a.tar": File(0o100644, out.getvalue())}


def a_zip_that_climbs() -> dict[str, File]:
    return {"a.zip": File(0o100644, zipped({"../../x.sh": "x"}))}


def a_zip_cut_off() -> dict[str, File]:
    return {"a.zip": File(0o100644, zipped({"a": "text " * 999})[:-40])}


def front(block: str) -> dict[str, File]:
    return {"SKILL.md": File(0o100644, f"---\n{block}\n---\nText.\n".encode())}


def aliases() -> dict[str, File]:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    return front("name: tables\ndescription: x\n" + "\n".join(lines))


def an_object() -> dict[str, File]:
    return front("name: tables\ndescription: !!python/object/apply:os.getcwd []")


def ten_thousand_deep() -> dict[str, File]:
    return front("name: tables\ndescription: " + "[" * 10_000 + "]" * 10_000)


def a_megabyte_of_description() -> dict[str, File]:
    return front("name: tables\ndescription: " + "x" * MIB)


def a_long_name() -> dict[str, File]:
    return {"a" * 300: File(0o100644, b"x")}


def a_twin() -> dict[str, File]:
    return {"skill.md": File(0o100644, b"x")}


def a_unicode_twin() -> dict[str, File]:
    return {"caf\u00e9.md": File(0o100644, b"x"), "cafe\u0301.md": File(0o100644, b"x")}


def a_path_that_climbs() -> dict[str, File]:
    return {"../x": File(0o100644, b"x")}


def an_absolute_path() -> dict[str, File]:
    return {"/etc/x": File(0o100644, b"x")}


def a_link_out() -> dict[str, File]:
    return {"x": File(0o120000, b"../../x")}


def too_many_files() -> dict[str, File]:
    return {f"f/{n}": File(0o100644, b"") for n in range(10_000)}


BOMBS = [
    (a_zip_of_zeros, "limits.unpacked"),
    (a_gzip_of_zeros, "limits.unpacked"),
    (a_zip_of_many, "limits.unpacked"),
    (zips_in_zips, "limits.nesting"),
    (a_tar_that_climbs, "container.path"),
    (a_tar_with_a_link, "container.path"),
    (a_zip_that_climbs, "container.path"),
    (a_zip_cut_off, "container.unreadable"),
    (aliases, "frontmatter.bomb"),
    (an_object, "frontmatter.tag"),
    (ten_thousand_deep, "frontmatter.bomb"),
    (a_megabyte_of_description, "frontmatter.too-long"),
    (a_long_name, "structure.path"),
    (a_twin, "structure.case-twins"),
    (a_unicode_twin, "structure.case-twins"),
    (a_path_that_climbs, "structure.path"),
    (an_absolute_path, "structure.path"),
    (a_link_out, "structure.link-out"),
    (too_many_files, "limits.files"),
]


@pytest.fixture(scope="module")
def scanner() -> Iterator[Scanner]:
    with Scanner(TIGHT) as made:
        yield made


@pytest.mark.req("CC-32")
@pytest.mark.parametrize(("build", "rule"), BOMBS, ids=[build.__name__ for build, _ in BOMBS])
def test_a_bomb_is_refused_for_what_it_is(
    build: Callable[[], dict[str, File]], rule: str, scanner: Scanner
) -> None:
    verdict = scanner.scan({**skill("See it."), **build()}, Source("tables"))
    assert verdict.decision is Decision.REFUSED
    assert rule in {one.rule for one in verdict.findings}


@pytest.mark.parametrize(
    "build",
    [aliases, an_object, ten_thousand_deep, a_megabyte_of_description, a_long_name, a_twin,
     a_unicode_twin, a_path_that_climbs, an_absolute_path, a_link_out, too_many_files,
     a_zip_of_zeros, zips_in_zips],
)  # fmt: skip
def test_nobody_can_accept_a_structural_fault(build: Callable[[], dict[str, File]]) -> None:
    assert not scan({**skill("See it."), **build()}, Source("tables")).is_acceptable


@pytest.mark.parametrize(
    "text",
    [
        "a" * MIB,
        "[" * 200_000,
        "`" * 300_000,
        "curl " * 200_000,
        "| sh " * 200_000,
        "/*" * 300_000,
        "<!--" * 200_000,
        '"""' * 200_000,
        "A1" * 400_000,
        "%41" * 300_000,
        "ignore the user " * 60_000,
        "send the key to https://x.invalid " * 30_000,
        "\u200b" * 300_000,
        "\u0430a" * 300_000,
        "(" * 100_000,
        "x=1;" * 200_000,
        "- " * 400_000,
        "\n" * MIB,
        "0x41, " * 150_000,
        "=\t \t" * 200_000,
    ],
    ids=lambda text: repr(text[:8]),
)
@pytest.mark.parametrize("name", ["SKILL.md", "a.py", "a.js", "a.sh", "a.json"])
@pytest.mark.soak
def test_no_text_outlasts_the_limits(text: str, name: str) -> None:
    files = {**skill("See it."), name: File(0o100644, (FRONT.format(name="x") + text).encode())}
    with Scanner(Ceilings(cpu_seconds=15, seconds=120)) as scanner:
        verdict = scanner.scan(files, Source("tables"))
    assert verdict.digest
