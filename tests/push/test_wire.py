"""The gateway's wire: heads in any pieces, packs cut short, bombs, drips, worthless tokens."""

import gzip
import http.client
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from outside import git
from repositories.gateway import pktline, tokens
from repositories.gateway.judge import Origin
from repositories.gateway.pktline import CommandReader, Malformed, packet
from repositories.gateway.spool import Gone, Refused, Spool
from tests import loops
from tests.push.conftest import Story

OLD, NEW = "1" * 40, "2" * 40
CAPS = b"report-status side-band-64k object-format=sha1 agent=git/2.39"


def head(*commands: str, caps: bytes = CAPS) -> bytes:
    lines = [command.encode() for command in commands]
    lines[0] += b"\0" + caps
    return b"".join(map(packet, lines)) + b"0000"


# ---------------------------------------------------------------- the head, without a network


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 10_000])
def test_a_head_is_read_whatever_its_pieces(size: int) -> None:
    content = head(f"{OLD} {NEW} refs/heads/main", f"{git.ZERO} {NEW} refs/heads/x") + b"PACKrest"
    reader, rest = CommandReader(), b""
    for at in range(0, len(content), size):
        rest += reader.feed(content[at : at + size])
    assert rest == b"PACKrest"
    assert reader.commands.updates == [
        git.RefUpdate("refs/heads/main", OLD, NEW),
        git.RefUpdate("refs/heads/x", git.ZERO, NEW),
    ]
    assert "side-band-64k" in reader.commands.capabilities


def test_push_options_follow_the_commands() -> None:
    content = head(f"{OLD} {NEW} refs/heads/main", caps=CAPS + b" push-options")
    content += packet(b"ci.skip") + packet(b"x=y") + b"0000" + b"PACK"
    reader = CommandReader()
    assert reader.feed(content) == b"PACK"
    assert reader.commands.push_options == ["ci.skip", "x=y"]


def test_a_probe_names_nothing() -> None:
    reader = CommandReader()
    assert reader.feed(b"0000") == b""
    assert reader.is_done
    assert reader.commands.is_probe


@pytest.mark.parametrize(
    "content",
    [
        b"zzzz",
        b"0001",
        b"0004",
        packet(b"nonsense"),
        packet(f"{OLD} short refs/heads/main".encode()),
        packet(f"{OLD * 2} {NEW * 2} refs/heads/main".encode()),
        packet(f"{'3' * 64} {'4' * 64} refs/heads/main".encode()),
        packet(b"push-cert\0caps"),
        b"fffe" + b"a" * 65530 + (b"fffe" + b"a" * 65530) * 80,
    ],
)
def test_what_is_no_push_is_refused(content: bytes) -> None:
    with pytest.raises(Malformed):
        CommandReader().feed(content)


def test_sha256_is_refused_in_words() -> None:
    with pytest.raises(Malformed, match="SHA-256"):
        CommandReader().feed(packet(f"{'3' * 64} {'4' * 64} refs/heads/main".encode()))


def test_a_report_says_ok_and_why_not() -> None:
    text = pktline.report([("refs/heads/a", ""), ("refs/heads/b", "held,\nrequest 7")])
    assert packet(b"ok refs/heads/a\n") in text
    assert packet(b"ng refs/heads/b held, request 7\n") in text


# ---------------------------------------------------------------- the spool


async def pieces(*content: bytes) -> AsyncIterator[bytes]:
    for each in content:
        yield each


def spool(folder: Path, *content: bytes, is_gzip: bool = False) -> Any:
    return loops.run(Spool(folder, is_gzip=is_gzip).take(pieces(*content)))


def test_a_pack_is_spooled_with_its_size_and_digest(tmp_path: Path) -> None:
    content = head(f"{OLD} {NEW} refs/heads/main")
    taken = spool(tmp_path, content, b"PA", b"CK")
    assert (taken.size, taken.path.read_bytes(), taken.problem) == (4, b"PACK", "")


def test_a_gzip_bomb_is_cut_at_the_limit(tmp_path: Path, settings: Any) -> None:
    settings.PUSH_MAX_BYTES = 1 << 20
    bomb = gzip.compress(head(f"{OLD} {NEW} refs/heads/main") + b"\0" * (64 << 20))
    assert len(bomb) < 100_000
    with pytest.raises(Refused):
        spool(tmp_path, bomb, is_gzip=True)
    assert list(tmp_path.iterdir()) == []


def test_broken_gzip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        spool(tmp_path, b"not gzip at all", is_gzip=True)
    assert list(tmp_path.iterdir()) == []


def test_too_large_is_read_to_its_end_and_kept_nowhere(tmp_path: Path, settings: Any) -> None:
    settings.PUSH_MAX_BYTES = 1000
    taken = spool(tmp_path, head(f"{OLD} {NEW} refs/heads/main"), b"x" * 900, b"x" * 900)
    assert "larger than" in taken.problem
    assert taken.path.read_bytes() == b""


def test_a_full_disk_is_said(tmp_path: Path, settings: Any) -> None:
    settings.DISK_RESERVE_BYTES = 1 << 62
    taken = spool(tmp_path, head(f"{OLD} {NEW} refs/heads/main"), b"x" * 900)
    assert "disk is full" in taken.problem


def test_a_client_that_leaves_leaves_nothing_behind(tmp_path: Path) -> None:
    async def leaving() -> AsyncIterator[bytes]:
        yield head(f"{OLD} {NEW} refs/heads/main")
        yield b"x" * 100
        raise Gone

    with pytest.raises(Gone):
        loops.run(Spool(tmp_path).take(leaving()))
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- tokens


def somebody() -> Origin:
    return Origin(uuid4(), uuid4(), uuid4(), uuid4(), uuid4(), fence=7)


@pytest.fixture
def origin() -> Origin:
    return somebody()


def test_a_token_says_who_pushes_where(origin: Origin) -> None:
    token = tokens.issue(origin, "apple")
    grant = tokens.read(token)
    assert (grant.origin, grant.repository) == (origin, "apple")
    assert token.startswith(origin.workspace_id.hex)


def test_a_token_opens_nothing_when_it_is_changed_or_old(
    origin: Origin, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tokens.issue(origin, "apple")
    other = tokens.issue(somebody(), "apple")
    forged = [token[:-1] + ("A" if token[-1] != "A" else "B"), "", "~", "a~b", token + "x"]
    forged.append(token.partition(".")[0] + "." + other.partition(".")[2])
    for each in forged:
        with pytest.raises(tokens.BadToken):
            tokens.read(each)
    later = time.time() + settings.GATEWAY_TOKEN_HOURS * 3600 + 10
    monkeypatch.setattr("repositories.gateway.tokens.time.time", lambda: later)
    with pytest.raises(tokens.BadToken, match="expired"):
        tokens.read(token)


# ---------------------------------------------------------------- over real HTTP

live = pytest.mark.django_db(transaction=True)


def post(story: Story, body: Any, *, path: str = "", **headers: str) -> tuple[int, bytes]:
    """A hand-made push to the gateway."""
    address = urlsplit(story.gateway)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=60)
    token = tokens.issue(story.origin, "apple")
    path = path or f"/git/{token}/apple/git-receive-pack"
    try:
        connection.request("POST", path, body=body, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@live
def test_the_probe_is_answered_without_asking_anybody(story: Story) -> None:
    assert post(story, b"0000") == (200, b"")
    assert story.requests() == []


@live
def test_a_push_without_bands_gets_a_plain_report(story: Story) -> None:
    tip = story.commit("one\n")
    pack = thin_pack(story, tip)
    content = head(f"{story.prepared.base} {tip} refs/heads/main", caps=b"report-status") + pack
    status, answer = post(story, gzip.compress(content), **{"Content-Encoding": "gzip"})
    assert status == 200
    assert packet(b"ng refs/heads/main held, request 1\n") in answer


def thin_pack(story: Story, tip: str) -> bytes:
    path = story.path / ".pack"
    with path.open("wb") as file:
        git.write_pack(story.prepared.checkout, [tip], without=[story.prepared.base], into=file)
    content = path.read_bytes()
    path.unlink()
    return content


@live
def test_a_pack_cut_at_each_tenth_is_refused_in_words(story: Story) -> None:
    story.bench.answer = "allow"
    tip = story.commit("one\n" * 200)
    pack = thin_pack(story, tip)
    content = head(f"{story.prepared.base} {tip} refs/heads/main")
    for tenth in range(10):
        status, answer = post(story, content + pack[: len(pack) * tenth // 10])
        assert status == 200
        assert b"ng refs/heads/main The pushed objects are incomplete or damaged." in answer, tenth
    assert story.remote.writes == []


@live
def test_a_new_id_without_its_objects_is_refused(story: Story) -> None:
    story.bench.answer = "allow"
    empty = b"PACK\0\0\0\2\0\0\0\0" + bytes.fromhex("029d08823bd8a8eab510ad6ac75c823cfd3ed31e")
    _, answer = post(story, head(f"{story.prepared.base} {NEW} refs/heads/main") + empty)
    assert b"ng refs/heads/main The pushed objects are incomplete" in answer
    assert story.remote.writes == []


@live
def test_ten_thousand_refs_are_refused_at_once(story: Story) -> None:
    story.bench.answer = "allow"
    base = story.prepared.base
    commands = [f"{git.ZERO} {base} refs/heads/b{number}" for number in range(10_000)]
    _, answer = post(story, head(*commands))
    assert b"more than 50 refs" in answer
    assert story.remote.writes == []


@live
def test_deceiving_names_are_refused(story: Story) -> None:
    story.bench.answer = "allow"
    base = story.prepared.base
    heads = ("x/../main", "\u202emain", "-x", "a b", "ma\u200bin", ".x", "x.lock", "x//y")
    for name in (*(f"refs/heads/{each}" for each in heads), "HEAD", "main"):
        _, answer = post(story, head(f"{git.ZERO} {base} {name}"))
        assert b"ng " in answer, name
    assert story.remote.writes == []


@live
def test_a_drip_is_cut_off(story: Story, settings: Any) -> None:
    settings.GATEWAY_IDLE_SECONDS = 0.3

    def drip() -> Any:
        for byte in head(f"{story.prepared.base} {NEW} refs/heads/main"):
            time.sleep(0.01)  # the client's own slowness is what is tested
            yield bytes([byte])

    try:
        status, _ = post(story, drip())
    except OSError:
        status = 408
    assert status == 408
    assert story.requests() == []


@live
@pytest.mark.parametrize("trouble", ["ended run", "other repository", "no token", "forged"])
def test_nothing_is_served_without_a_good_token(story: Story, trouble: str) -> None:
    token = tokens.issue(story.origin, "apple")
    path = f"/git/{token}/apple/git-receive-pack"
    if trouble == "ended run":
        story.bench.running = False
    if trouble == "other repository":
        path = f"/git/{tokens.issue(story.origin, 'pear')}/apple/git-receive-pack"
    if trouble == "no token":
        path = "/git/apple/git-receive-pack"
    if trouble == "forged":
        path = path.replace(token, token[:-2] + "zz")
    status, answer = post(story, b"0000", path=path)
    assert status in {403, 404}
    assert answer.endswith(b".\n")
    assert story.remote.writes == []


@live
def test_a_run_that_ended_is_told_so_by_its_git(story: Story) -> None:
    story.commit("one\n")
    story.bench.running = False
    said = story.git("push", "origin", "main")
    assert said.code != 0
    assert "The run that this git token belongs to has ended." in said.text


@live
def test_a_foreign_workspace_is_as_good_as_none(story: Story) -> None:
    foreign = Origin(
        story.cast.elsewhere.pk,
        story.origin.run_id,
        story.origin.conversation_id,
        story.origin.space_id,
        story.origin.agent_principal_id,
        story.origin.fence,
    )
    token = tokens.issue(foreign, "apple")
    status, answer = post(story, b"0000", path=f"/git/{token}/apple/info/refs")
    assert status == 404
    content = head(f"{story.prepared.base} {NEW} refs/heads/main")
    _, answer = post(story, content, path=f"/git/{token}/apple/git-receive-pack")
    assert b"ng refs/heads/main This conversation has no repository apple." in answer
    assert story.requests() == []


@live
def test_two_pushes_at_once_are_one_request(story: Story) -> None:
    from concurrent.futures import ThreadPoolExecutor

    story.commit("one\n")
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda _: story.git("push", "origin", "main"), range(2)))
    assert all("held, request 1" in each.text for each in said)
    assert len(story.requests()) == 1
