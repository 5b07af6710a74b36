from typing import Any

import pytest

from live.origin import is_same_origin

HOST = b"desk.example:8765"


@pytest.fixture(autouse=True)
def _hosts(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["desk.example", "localhost"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://front.example"]


@pytest.mark.parametrize(
    ("origins", "is_welcome"),
    [
        ([b"http://desk.example:8765"], True),
        ([b"https://desk.example:8765"], True),
        ([b"http://DESK.example:8765"], True),
        ([b"https://front.example"], True),
        ([], False),
        ([b"null"], False),
        ([b""], False),
        ([b"http://desk.example"], False),
        ([b"http://desk.example:3000"], False),
        ([b"http://localhost:8765"], False),
        ([b"http://desk.example.evil.example:8765"], False),
        ([b"http://evildesk.example:8765"], False),
        ([b"http://desk.example:8765@evil.example"], False),
        ([b"file://desk.example:8765"], False),
        ([b"http://front.example"], False),
        ([b"\xff\xfe"], False),
        ([b"http://[::1"], False),
        ([b"http://desk.example:8765", b"http://evil.example"], False),
    ],
)
def test_only_our_own_page_may_open_a_socket(origins: list[bytes], is_welcome: bool) -> None:
    headers = [(b"host", HOST), *((b"origin", origin) for origin in origins)]
    assert is_same_origin(headers) is is_welcome


def test_a_host_we_are_not_is_refused_even_when_the_origin_agrees() -> None:
    assert not is_same_origin([(b"host", b"evil.example"), (b"origin", b"http://evil.example")])


def test_no_host_is_refused() -> None:
    assert not is_same_origin([(b"origin", b"http://desk.example:8765")])


def test_all_hosts_allowed_is_not_all_origins_allowed(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert not is_same_origin([(b"host", HOST), (b"origin", b"http://evil.example")])
    assert not is_same_origin([(b"host", HOST), (b"origin", b"null")])
