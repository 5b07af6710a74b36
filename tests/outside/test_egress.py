"""Which addresses may be reached: tables, and a real client against a real server."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from outside.egress import Guard, Refused, fetch, is_public

PUBLIC = ["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34"]
HIDDEN = [
    "127.0.0.1",
    "127.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "198.18.0.1",
    "192.0.2.1",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1",
    "2002:7f00:1::",
    "2001:0:0:0:0:0:80ff:fffe",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fec0::1",
    "ff02::1",
    "fd00:ec2::254",
    "2001:db8::1",
    "",
    "localhost",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", HIDDEN)
def test_not_public(address: str) -> None:
    assert not is_public(address)


def answering(*addresses: str) -> Callable[[str, int], list[str]]:
    return lambda host, port: list(addresses)


def guard(*addresses: str, hosts: tuple[str, ...] = ()) -> Guard:
    return Guard(hosts=hosts, resolver=answering(*addresses))


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("https://github.com/o/r", "https://github.com/o/r"),
        ("https://GITHUB.com./o/r", "https://github.com/o/r"),
        ("https://github.com:443/o/r", "https://github.com/o/r"),
        ("http://example.com", "http://example.com/"),
        ("https://example.com:8443/a?b=c", "https://example.com:8443/a?b=c"),
        ("https://[2606:4700::1111]/x", "https://[2606:4700::1111]/x"),
    ],
)
def test_an_address_has_one_plain_spelling(written: str, plain: str) -> None:
    assert guard("93.184.216.34").endpoint(written).url == plain


@pytest.mark.parametrize(
    "written",
    [
        "https://github.com@evil.example/o/r",
        "https://user:secret@github.com/o/r",
        "https://github.com\\@evil.example/",
        "https://github.com\t.evil.example/",
        "https://github.com/\0",
        "https://gith ub.com/",
        "https://github.com%2eevil.example/",
        "https://gıthub.com/o/r",
        "https://127。0。0。1/",
        "https://①②⑦.0.0.1/",
        "https://-github.com/",
        "https://[::1%25eth0]/",
        "https://[::1/",
        "https://example.com:99999/",
        "https:///o/r",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "//example.com/",
        "example.com",
        "",
    ],
)
def test_addresses_that_are_refused_whatever_they_resolve_to(written: str) -> None:
    with pytest.raises(Refused) as caught:
        guard("93.184.216.34").endpoint(written)
    assert caught.value.sentence.endswith(".")


@pytest.mark.parametrize("name", ["2130706433", "0x7f.1", "017700000001", "127.1", "localhost"])
def test_odd_spellings_of_loopback_are_seen_through_by_resolving_them(name: str) -> None:
    with pytest.raises(Refused):
        Guard().endpoint(f"http://{name}/")


def test_one_hidden_address_among_public_ones_is_enough_to_refuse() -> None:
    with pytest.raises(Refused):
        guard("93.184.216.34", "10.0.0.1").endpoint("https://example.com/")


@pytest.mark.parametrize(
    ("listed", "written", "passes"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/x", True),
        ("127.0.0.1:*", "http://127.0.0.1:9/x", True),
        ("127.0.0.1:8080", "http://127.0.0.1:8081/x", False),
        ("*.corp.example:443", "https://git.corp.example/x", True),
        ("*.corp.example:443", "https://corp.example/x", False),
        ("*.corp.example:443", "https://git.corp.example.evil.example/x", False),
        ("GIT.corp.example:443", "https://git.CORP.example/x", True),
        ("[::1]:8080", "http://[::1]:8080/x", True),
    ],
)
def test_the_operators_list(listed: str, written: str, passes: bool) -> None:
    checked = Guard(hosts=Guard.of(hosts=[listed]).hosts, resolver=answering("127.0.0.1"))
    if passes:
        assert checked.endpoint(written).addresses == ("127.0.0.1",)
    else:
        with pytest.raises(Refused):
            checked.endpoint(written)


def test_local_paths_are_followed_to_where_they_really_lie(tmp_path: Path) -> None:
    (tmp_path / "allowed/apple").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "allowed/link").symlink_to(tmp_path / "secret")
    checked = Guard.of(paths=[tmp_path / "allowed"])
    assert checked.local_path(f"{tmp_path}/allowed/apple") == tmp_path / "allowed/apple"
    for path in ("allowed/link", "allowed/../secret", "allowedx", "secret"):
        with pytest.raises(Refused):
            checked.local_path(f"{tmp_path}/{path}")
    with pytest.raises(Refused):
        checked.local_path("allowed/apple")


class Site(BaseHTTPRequestHandler):
    """Redirects /to?<address>, answers anything else with its Host header."""

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        path, _, target = self.path.partition("?")
        self.send_response(302 if path == "/to" else 200)
        if path == "/to":
            self.send_header("Location", target)
        self.end_headers()
        self.wfile.write(str(self.headers["Host"]).encode())


@pytest.fixture
def site() -> Any:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()


def test_the_connection_goes_to_the_checked_address_under_the_written_name(site: int) -> None:
    named = Guard(hosts=(f"name.example:{site}",), resolver=answering("127.0.0.1"))
    answer = fetch(named, f"http://name.example:{site}/", max_bytes=100)
    assert answer.text == f"name.example:{site}"


def test_a_redirect_is_checked_like_the_first_address(site: int) -> None:
    listed = Guard.of(hosts=[f"127.0.0.1:{site}"])
    fine = f"http://127.0.0.1:{site}/to?http://127.0.0.1:{site}/x"
    assert fetch(listed, fine, max_bytes=100).status_code == 200
    for target in (f"http://localhost:{site}/x", "http://169.254.169.254/latest", "file:///etc"):
        with pytest.raises((Refused, httpx.UnsupportedProtocol)):
            fetch(listed, f"http://127.0.0.1:{site}/to?{target}", max_bytes=100)


def test_a_name_server_that_changes_its_answer_changes_nothing(site: int) -> None:
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])
    rebinding = Guard(resolver=lambda host, port: next(answers))
    assert rebinding.endpoint("http://rebind.example/").addresses == ("93.184.216.34",)
    with pytest.raises(Refused):
        fetch(rebinding, f"http://rebind.example:{site}/", max_bytes=100)


def test_a_body_is_read_up_to_its_limit(site: int) -> None:
    with pytest.raises(Refused):
        fetch(Guard.of(hosts=["127.0.0.1:*"]), f"http://127.0.0.1:{site}/", max_bytes=3)
