"""The pages of the test site: a transcript that is stored in Valkey and shown as a higher room
would show it, with our own scripts."""

import json
from html import escape
from pathlib import Path
from urllib.parse import parse_qs

import django_htmx

from live import valkey, wire

ROOT = Path(__file__).resolve().parents[2]
HTMX = Path(django_htmx.__file__).parent / "static/django_htmx/htmx-2.min.js"
TYPES = {".js": b"text/javascript", ".css": b"text/css", ".html": b"text/html; charset=utf-8"}

WORDS = {
    "expired": "Your session has ended.",
    "no_access": "You no longer have access.",
    "too_many": "Too many.",
    "online": "Online",
    "away": "Away",
    "here": "Here",
    "typing": "Typing",
    "is_typing": "{names} is typing",
    "are_typing": "{names} are typing",
    "thinking": "Thinking",
    "waiting": "Waiting for approval",
}

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Live</title>
<link rel="icon" href="data:,">
<meta name="htmx-config" content='{{"allowEval":false,"includeIndicatorStyles":false}}'>
<body data-you="{you}">
<div data-live-bar hidden><span data-live-text>Not live.</span><time data-live-since></time></div>
<div data-live-topic="w/{scope}/presence"></div>
<ul>{people}</ul><div data-typing></div>
<textarea data-composer-text></textarea>
{transcript}
<div id="roster" data-live-topic="w/{scope}/roster" data-live-after="{roster}"
  hx-get="/roster/{scope}" hx-trigger="live-roster from:body" hx-swap="innerHTML">0</div>
<script type="application/json" id="words">{words}</script>
<script src="/htmx.js"></script><script type="module" src="/static/js/live.js"></script>
"""


def answer(path: str, query: str, user: str | None) -> tuple[int, bytes, bytes]:
    """Status, content type, body."""
    head, _, rest = path.lstrip("/").partition("/")
    if path == "/":
        return 200, b"text/plain", b"here"
    if path == "/htmx.js":
        return 200, TYPES[".js"], HTMX.read_bytes()
    if head == "static":
        file = ROOT / "static" / rest
        return 200, TYPES[file.suffix], file.read_bytes()
    if user is None:
        return 302, TYPES[".html"], b""
    pages = {"page": page, "transcript": transcript, "roster": roster}
    return 200, TYPES[".html"], pages[head](rest, user).encode()


def store(scope: str, text: str) -> int:
    """An event of the story is stored, as the journal would; gives its number."""
    return int(valkey.client().rpush(f"site:events:{scope}", text))


def event(n: int, text: str) -> str:
    return f'<p id="event-{n}" data-n="{n}">{escape(text)}</p>'


def fragment(n: int, text: str) -> str:
    return f'<div hx-swap-oob="beforeend:#events">{event(n, text)}</div>'


def page(scope: str, user: str) -> str:
    people = "".join(
        f'<li data-principal="{scope}-{who}"><span class="av"><i class="dot"></i></span>'
        f'<span class="cut">{who}</span><span data-presence-word></span></li>'
        for who in ("ada", "ben", "ceo")
    )
    n, epoch = wire.place(f"w/{scope}/roster")
    return PAGE.format(
        scope=scope,
        you=user,
        people=people,
        transcript=transcript(scope, user),
        roster=f"{epoch}:{n}",
        words=json.dumps(WORDS),
    )


def transcript(scope: str, user: str) -> str:
    stored: list[bytes] = valkey.client().lrange(f"site:events:{scope}", 0, -1)  # type: ignore[assignment]
    events = "".join(event(n, text.decode()) for n, text in enumerate(stored, 1))
    topic = f"w/{scope}/run/1"
    return (
        f'<article id="run" data-live-topic="{topic}" data-live-after="seq:{len(stored)}"'
        f' data-live-backfill="/transcript/{scope}"><div id="events">{events}</div>'
        f'<div data-stream-place="{topic}"></div></article>'
    )


def roster(scope: str, user: str) -> str:
    return str(valkey.client().incr(f"site:roster:{scope}"))


def user_of(headers: list[tuple[bytes, bytes]]) -> str | None:
    cookies = dict(headers).get(b"cookie", b"").decode()
    session = parse_qs(cookies.replace("; ", "&")).get("sessionid", [""])[0]
    user: bytes | None = valkey.client().get(f"site:session:{session}")  # type: ignore[assignment]
    return user.decode() if user else None
