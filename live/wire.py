"""The words between publishers, hubs and tabs. Nothing here waits for a commit or forgives."""

import json
import secrets
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from live import scripts, valkey
from live.limits import limits

SEQUENCE = "seq"
# JSON may make six bytes of one.
PIECE_BYTES = 8 * 1024

# What a hub is told, and for whom; "presence" is only a note of a publisher to itself.
Control = tuple[Literal["resync", "recheck", "presence"], str]


def encode(message: object) -> str:
    """JSON as it goes to a tab; a lone surrogate, which no tab could read, becomes a `?`."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


def head(
    topic: str, kind: str, *, html: str | None = None, data: dict[str, Any] | None = None
) -> str:
    """The message of an event but for its number and its closing brace, which Valkey adds."""
    message: dict[str, Any] = {"topic": topic, "kind": kind}
    if html is not None:
        message["html"] = html
    if data is not None:
        message["data"] = data
    return encode(message)[:-1]


def send(topic: str, head: str, n: int | None) -> None:
    """Every tab on `topic` gets `head` with its place `(epoch, n)`, or is told to fetch it when it
    is too large to be told. Raises what `DOWN` names."""
    if _is_large(head):
        claim(topic, n)
        send_controls([("resync", topic)])
        return
    publish = valkey.client().register_script(scripts.PUBLISH)
    publish(
        keys=[valkey.counter(topic), valkey.BOOT],
        args=[*_place(n), head, *valkey.channels(topic)],
    )


def place(topic: str) -> tuple[int, str]:
    """How far a topic is that the room counts: `(n, epoch)` of its last message."""
    script = valkey.client().register_script(scripts.PLACE)
    n, epoch = script(
        keys=[valkey.counter(topic), valkey.BOOT],
        args=[secrets.token_hex(6), valkey.COUNTER_SECONDS],
    )
    return int(n), epoch.decode()


def claim(topic: str, n: int | None) -> tuple[int, str, list[str]]:
    """The place `(n, epoch)` of the next message, and the locales that are being read now.

    The number is taken first: who subscribes after this line reads a counter that is already
    higher than its page, and back-fills."""
    script = valkey.client().register_script(scripts.CLAIM)
    number, epoch, *readers = script(
        keys=[valkey.counter(topic), valkey.BOOT], args=[*_place(n), *valkey.channels(topic)]
    )
    read = [locale for locale, count in zip(valkey.locales(), readers, strict=True) if count]
    return int(number), epoch.decode(), read


def send_rendered(topic: str, messages: Sequence[tuple[int, dict[str, str]]], epoch: str) -> None:
    """`messages`: numbers, each with locale → message. One round trip, and one more when a message
    is too large to be told."""
    heads = [(n, locale, head) for n, each in messages for locale, head in each.items()]
    with valkey.client().pipeline(transaction=False) as pipeline:
        for n, locale, head in heads:
            if not _is_large(head):
                text = f'{head},"n":{n},"epoch":"{epoch}"}}'
                pipeline.publish(valkey.channel(topic, locale), text)
        pipeline.execute()
    if any(_is_large(head) for _, _, head in heads):
        send_controls([("resync", topic)])


def send_delta(topic: str, block: str, at: int, text: bytes) -> bool:
    """The tabs append `text` to the open block at byte `at`, and Valkey keeps it for who joins
    later. False, and nothing was sent, when the text kept there does not end at `at`."""
    script = valkey.client().register_script(scripts.DELTA)
    message = delta(topic, block, at, text)
    rest: list[str | int] = [valkey.TEXT_SECONDS, message, *valkey.channels(topic)]
    return bool(script(keys=_block_keys(topic, block), args=[block, at, text, *rest]))


def delta(topic: str, block: str, at: int, text: bytes) -> str:
    data = {"block": block, "at": at, "text": text.decode()}
    return encode({"topic": topic, "kind": "delta", "data": data})


def pieces(at: int, text: bytes) -> Iterator[tuple[int, bytes]]:
    """A text in pieces that a message can hold, each with the byte at which it begins; no
    character is cut in two."""
    while len(text) > PIECE_BYTES:
        cut = PIECE_BYTES
        while text[cut] & 0xC0 == 0x80:
            cut -= 1
        yield at, text[:cut]
        at, text = at + cut, text[cut:]
    yield at, text


def end_block(topic: str, block: str) -> None:
    script = valkey.client().register_script(scripts.END_BLOCK)
    message = encode({"topic": topic, "kind": "delta", "data": {"block": block, "end": True}})
    script(keys=_block_keys(topic, block), args=[block, message, *valkey.channels(topic)])


def _block_keys(topic: str, block: str) -> list[str]:
    return [valkey.open_blocks(topic), valkey.text(topic, block)]


def send_ephemeral(topic: str, kind: str, data: dict[str, Any]) -> None:
    """For what nobody needs to catch up on: it has no place in the topic."""
    message = head(topic, kind, data=data) + "}"
    with valkey.client().pipeline(transaction=False) as pipeline:
        for channel in valkey.channels(topic):
            pipeline.publish(channel, message)
        pipeline.execute()


def send_controls(controls: Sequence[Control]) -> None:
    """`("resync", topic)`: its tabs back-fill. `("recheck", user)`: hubs ask again what that user
    may read. `("resync", "*")` and `("recheck", "*")` mean all of them."""
    with valkey.client().pipeline(transaction=False) as pipeline:
        for word, value in controls:
            pipeline.publish(valkey.CONTROL, encode({word: value}))
        pipeline.execute()


def _is_large(head: str) -> bool:
    # Most are far from it; only what comes near is counted in bytes.
    most = limits().fragment_bytes
    return len(head) > most // 4 and len(head.encode()) > most


def _place(n: int | None) -> list[str | int]:
    return ["" if n is None else n, secrets.token_hex(6), valkey.COUNTER_SECONDS]
