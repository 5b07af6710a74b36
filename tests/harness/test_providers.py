"""Providers on the wire: both protocols against a scripted server, and the connection test."""

import datetime
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from harness import catalogue
from harness.conversation import AgentTurn, Block, Result, UserTurn
from harness.providers import check, wire
from harness.providers.clients import make_client
from harness.providers.errors import ProviderError
from harness.seam import (
    BlockDone,
    ModelRequest,
    ProviderKind,
    ProviderSettings,
    TextPiece,
    ToolSchema,
    TurnDone,
    Usage,
)
from harness.stop import Stop
from outside.egress import Guard
from tests.scripted import anthropic, openai
from tests.scripted.script import Call, Script, Step
from tests.scripted.server import ScriptedServer, serving

READ = ToolSchema("read", "Read a file", {"type": "object", "properties": {}})
KINDS: tuple[ProviderKind, ...] = ("anthropic", "openai")


def speaking(
    kind: ProviderKind, *steps: Step, api_key: str = ""
) -> AbstractContextManager[ScriptedServer]:
    module = anthropic if kind == "anthropic" else openai
    return serving(module.server(Script(steps), api_key=api_key))


def settings_for(kind: ProviderKind, url: str, **more: Any) -> ProviderSettings:
    return ProviderSettings("acme", kind, **{"api_key": "k", "base_url": url, **more})


def request(*turns: Any, **more: Any) -> ModelRequest:
    turns = turns or (UserTurn((), ("hi",)),)
    return ModelRequest("claude-opus-5-5", ("stable", "own"), turns, (READ,), 1000, **more)


def ask(kind: ProviderKind, url: str, asked: ModelRequest | None = None) -> list[Any]:
    client = make_client(settings_for(kind, url))
    try:
        return list(client.stream(asked or request(), Stop()))
    finally:
        client.close()


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_comes_as_pieces_blocks_and_an_end(kind: ProviderKind) -> None:
    step = Step(
        thinking="hm",
        text="hello there",
        pieces=2,
        calls=[Call("read", {"path": "a"}), Call("read", {"path": "b"})],
        usage={"input": 7, "output": 9, "cache_read": 5},
    )
    with speaking(kind, step) as server:
        pieces = ask(kind, server.url)
    assert "".join(p.text for p in pieces if isinstance(p, TextPiece)) == "hello there"
    blocks = [p for p in pieces if isinstance(p, BlockDone)]
    assert [block.kind for block in blocks] == ["thinking", "text", "tool_call", "tool_call"]
    assert [block.input for block in blocks[2:]] == [{"path": "a"}, {"path": "b"}]
    end = pieces[-1]
    assert isinstance(end, TurnDone)
    assert (end.stop_reason, end.usage) == ("tools", Usage(7, 9, 5, 0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fault", "code", "retried"),
    [
        ("400", "bad_request", False),
        ("401", "wrong_key", False),
        ("403", "forbidden", False),
        ("404", "unknown_model", False),
        ("overflow", "context_overflow", False),
        ("binding", "thinking_mismatch", False),
        ("429", "rate_limited", True),
        ("500", "server_error", True),
        ("529", "overloaded", True),
        ("close", "closed", True),
        ("cut", "closed", True),
        ("garbage", "malformed", True),
        ("html", "not_this_protocol", False),
    ],
)
def test_each_trouble_has_its_name(
    kind: ProviderKind, fault: str, code: str, retried: bool
) -> None:
    with speaking(kind, Step(first=[fault])) as server:
        server.give_up()
        with pytest.raises(ProviderError) as caught:
            ask(kind, server.url)
    assert (caught.value.code, caught.value.is_retried) == (code, retried)
    assert caught.value.text


@pytest.mark.parametrize(
    ("kind", "event"),
    [
        *((kind, event) for kind in KINDS for event in ("[]", "null", "7", '"text"')),
        ("anthropic", '{"type": "message_start"}'),
        ("anthropic", '{"type": "content_block_start", "index": 1}'),
        ("anthropic", '{"type": "content_block_stop", "index": 9}'),
        ("anthropic", '{"type": "content_block_delta", "index": 9, "delta": {}}'),
        ("anthropic", '{"type": "message_delta", "delta": null}'),
        ("openai", '{"choices": {"0": 1}}'),
        ("openai", '{"choices": [7]}'),
        ("openai", '{"choices": [{"delta": {"content": ["a"]}}]}'),
        (
            "openai",
            '{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": {}}}, 1]}}]}',
        ),
        ("openai", '{"choices": [{"finish_reason": "stop"}], "usage": {"prompt_tokens": "many"}}'),
    ],
)
def test_an_event_of_another_shape_is_a_trouble_of_the_provider(
    kind: ProviderKind, event: str
) -> None:
    with speaking(kind, Step(first=[f"event {event}"])) as server:
        server.give_up()
        with pytest.raises(ProviderError) as caught:
            ask(kind, server.url)
    assert caught.value.code == "malformed"


def test_a_server_that_is_down_is_unreachable() -> None:
    with pytest.raises(ProviderError) as caught:
        ask("anthropic", "http://127.0.0.1:9")
    assert caught.value.code == "unreachable"


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_an_address_the_operator_did_not_allow_is_never_connected_to(
    kind: ProviderKind,
) -> None:
    with speaking(kind, Step(text="never")) as server:
        server.give_up()
        client = make_client(settings_for(kind, server.url, guard=Guard.of()))
        with pytest.raises(ProviderError) as caught:
            list(client.stream(request(), Stop()))
        assert not server.requests
    assert (caught.value.code, caught.value.is_retried) == ("not_allowed", False)
    assert "CC_ALLOW_HOSTS" in caught.value.text


def test_an_allowed_address_is_connected_to_through_the_guard() -> None:
    with speaking("openai", Step(text="hello")) as server:
        guard = Guard.of(hosts=[server.url.removeprefix("http://")])
        client = make_client(settings_for("openai", server.url, guard=guard))
        assert isinstance(list(client.stream(request(), Stop()))[-1], TurnDone)


HISTORY = (
    UserTurn((), ("go",)),
    AgentTurn(
        (
            Block("thinking", {"type": "thinking", "thinking": "t", "signature": "s"}, "anthropic"),
            Block("text", {"type": "text", "text": "I look."}, "anthropic"),
            Block(
                "tool_call",
                {"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}},
                "anthropic",
                "c1",
                "read",
                {"path": "a"},
            ),
        )
    ),
    UserTurn((Result("c1", "read", "", is_error=True),), ("and now?",)),
)


def test_anthropic_gets_its_own_blocks_back_and_cache_marks() -> None:
    with speaking("anthropic", Step(text="ok")) as server:
        ask("anthropic", server.url, request(*HISTORY, thinking="adaptive", effort="high"))
        (body,) = server.requests
    assert body["messages"][1]["content"] == [block.block for block in HISTORY[1].blocks]
    result, text = body["messages"][2]["content"]
    assert result["is_error"] is True
    assert result["content"] == "(no output)"
    assert text["cache_control"] == {"type": "ephemeral"}
    assert [part["text"] for part in body["system"]] == ["stable", "own"]
    assert all("cache_control" in part for part in body["system"])
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "high"}


def test_openai_gets_the_same_conversation_in_its_own_words() -> None:
    with speaking("openai", Step(text="ok")) as server:
        ask("openai", server.url, request(*HISTORY))
        (body,) = server.requests
    system, user, agent, tool, last = body["messages"]
    assert system == {"role": "system", "content": "stable\n\nown"}
    assert user == {"role": "user", "content": "go"}
    assert agent["content"] == "I look."
    assert json.loads(agent["tool_calls"][0]["function"]["arguments"]) == {"path": "a"}
    assert (tool["role"], tool["tool_call_id"]) == ("tool", "c1")
    assert last == {"role": "user", "content": "and now?"}


def test_a_conversation_that_grows_is_sent_whole(tmp_path: Path) -> None:
    """What stood before is written once and reused; the bytes must be the same as without."""
    with speaking("anthropic", Step(text="a"), Step(text="b"), Step(text="b")) as server:
        kept = make_client(settings_for("anthropic", server.url))
        list(kept.stream(request(HISTORY[0]), Stop()))
        list(kept.stream(request(*HISTORY), Stop()))
        ask("anthropic", server.url, request(*HISTORY))
        assert server.requests[1] == server.requests[2]


# The connection test


@pytest.mark.parametrize("kind", KINDS)
def test_good_settings_are_said_to_be_good(kind: ProviderKind) -> None:
    with speaking(kind, Step(text="ready"), api_key="k") as server:
        found = check.try_connection(settings_for(kind, server.url))
    assert found.ok, found.sentence
    assert found.sentence.startswith("acme answers as ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fault", "model", "words"),
    [
        ("404", "nonsense", "knows no model named nonsense"),
        ("403", "some", "does not let it use this model"),
        ("529", "some", "overloaded"),
        ("html", "some", "does not speak"),
        ("garbage", "some", "not of its protocol"),
        ("mute", "some", "did not answer within"),
    ],
)
def test_wrong_settings_are_explained(
    kind: ProviderKind, fault: str, model: str, words: str
) -> None:
    with speaking(kind, Step(first=[fault])) as server:
        server.give_up()
        found = check.try_connection(settings_for(kind, server.url), model=model, seconds=0.3)
    assert not found.ok
    assert words in found.sentence


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_key_is_named_before_anything_is_spent(kind: ProviderKind) -> None:
    with speaking(kind, Step(text="never"), api_key="right") as server:
        server.give_up()
        found = check.try_connection(settings_for(kind, server.url, api_key="wrong"))
        assert not server.requests
    assert "does not accept the key" in found.sentence


def test_an_unknown_model_comes_with_those_that_exist() -> None:
    with speaking("openai", Step(first=["404"])) as server:
        server.give_up()
        found = check.try_connection(settings_for("openai", server.url), model="nonsense")
    assert "It offers: small, large." in found.sentence


@pytest.fixture
def tls_server(tmp_path: Path) -> Iterator[str]:
    """An https server with a certificate nobody trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .sign(key, hashes.SHA256())
    )
    pem = tmp_path / "pem"
    pem.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    server = anthropic.server(Script([Step(text="never")]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server.url.replace("http://", "https://")
    server.shutdown()
    server.server_close()


def test_a_certificate_nobody_trusts_is_said_so(tls_server: str) -> None:
    found = check.try_connection(settings_for("anthropic", tls_server), model="some")
    assert "certificate" in found.sentence


def test_https_where_there_is_none_is_said_so() -> None:
    with speaking("openai", Step(text="never")) as server:
        server.give_up()
        url = server.url.replace("http://", "https://")
        found = check.try_connection(settings_for("openai", url), model="some")
    assert "http://" in found.sentence


def test_the_demo_needs_no_connection() -> None:
    found = check.try_connection(ProviderSettings("demo", "demo"))
    assert found.ok
    assert "no AI" in found.sentence


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("anthropic", "", None),
        ("anthropic", "https://proxy.example/v1/", "https://proxy.example"),
        ("openai", "http://localhost:11434", "http://localhost:11434/v1"),
        ("openai", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
    ],
)
def test_addresses_are_taken_as_people_write_them(
    kind: ProviderKind, given: str, expected: str | None
) -> None:
    assert wire.address(ProviderSettings("acme", kind, base_url=given)) == expected


# Server-sent events and the catalogue


@pytest.mark.parametrize(
    ("chunks", "found"),
    [
        ([b'data: {"a":1}\n\n'], [{"a": 1}]),
        ([b'event: x\r\ndata: {"a":1}\r\n\r\n'], [{"a": 1}]),
        ([b'data: {"a"', b":1}\n", b"\n"], [{"a": 1}]),
        ([b'data: {"a":\ndata: 1}\n\n'], [{"a": 1}]),
        ([b": ping\n\n", b'data:{"a":1}\n\ndata: [DONE]\n\ndata: x\n\n'], [{"a": 1}]),
        (['data: {"a":"é"}\n\n'.encode()[:12], 'data: {"a":"é"}\n\n'.encode()[12:]], [{"a": "é"}]),
        ([b'data: {"a":1}'], []),
    ],
)
def test_server_sent_events_however_they_are_cut(chunks: list[bytes], found: list[Any]) -> None:
    assert list(wire.sse(chunks)) == found


def test_the_default_model_is_in_the_catalogue_with_its_price() -> None:
    model = catalogue.shipped().find("anthropic", "claude-opus-5-5")
    assert model.context == 1_000_000
    assert model.cost_microusd(Usage(1_000_000, 0, 0, 0)) == 4_000_000
    assert model.effort("max") == "max"


def test_long_prompts_cost_what_long_prompts_cost() -> None:
    model = catalogue.shipped().find("anthropic", "claude-haiku-5-5")
    assert model.cost_microusd(Usage(100_000, 0, 0, 0)) == 10_000
    assert model.cost_microusd(Usage(60_000, 0, 40_001, 0)) == round(30_000 + 40_001 * 0.05)


def test_a_model_nobody_knows_has_no_price_and_a_small_window() -> None:
    model = catalogue.shipped().find("ollama", "llama")
    assert not model.is_known
    assert model.cost_microusd(Usage(5, 5, 0, 0)) is None
    assert model.effort("high") is None


@pytest.mark.parametrize("wrong", ["", "opus", "/x", "x/", "a/b|"])
def test_a_model_that_is_not_provider_and_name_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="provider/model"):
        catalogue.chain(wrong)
