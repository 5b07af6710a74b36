"""What can go wrong with a provider, in words a person can act on."""

from dataclasses import dataclass
from typing import Literal

from outside.sentences import phrase, phrase_noop

Code = Literal[
    "wrong_key",
    "forbidden",
    "unknown_model",
    "bad_request",
    "thinking_mismatch",
    "context_overflow",
    "rate_limited",
    "overloaded",
    "server_error",
    "unreachable",
    "not_allowed",
    "untrusted",
    "no_tls",
    "silent",
    "closed",
    "malformed",
    "not_this_protocol",
    "not_configured",
]

RETRIED: frozenset[Code] = frozenset(
    {
        "rate_limited",
        "overloaded",
        "server_error",
        "unreachable",
        "silent",
        "closed",
        "malformed",
    }
)

SENTENCES: dict[Code, str] = {
    "wrong_key": phrase_noop("%(who)s does not accept the key. Check it, or make a new one."),
    "forbidden": phrase_noop("%(who)s accepts the key but does not let it use this model."),
    "unknown_model": phrase_noop("%(who)s knows no model named %(model)s."),
    "bad_request": phrase_noop("%(who)s refused the request."),
    "thinking_mismatch": phrase_noop("%(who)s does not recognise earlier thinking of this run."),
    "context_overflow": phrase_noop(
        "The conversation no longer fits the context window of %(model)s."
    ),
    "rate_limited": phrase_noop("%(who)s asks us to slow down: its limit for this key is reached."),
    "overloaded": phrase_noop("%(who)s is overloaded."),
    "server_error": phrase_noop("%(who)s had an error of its own."),
    "unreachable": phrase_noop(
        "%(who)s cannot be reached. Is the address right, and is the server running?"
    ),
    "not_allowed": phrase_noop("%(who)s was not asked: the server may not connect to its address."),
    "untrusted": phrase_noop("The certificate of %(who)s could not be verified."),
    "no_tls": phrase_noop(
        "%(who)s does not speak TLS here. Should the address begin with http://?"
    ),
    "silent": phrase_noop("%(who)s sent nothing for too long."),
    "closed": phrase_noop("%(who)s closed the connection in the middle of its answer."),
    "malformed": phrase_noop("%(who)s sent something that is not of its protocol."),
    "not_this_protocol": phrase_noop(
        "Something answers at this address, but it does not speak %(protocol)s."
    ),
    "not_configured": phrase_noop("No provider named %(who)s is set up here."),
}
PROTOCOLS = {"anthropic": "Anthropic's Messages protocol", "openai": "OpenAI Chat Completions"}


class ProviderError(Exception):
    """One family. `text` is for people, `detail` is what the provider itself said."""

    def __init__(
        self,
        code: Code,
        *,
        who: str,
        model: str = "",
        protocol: str = "",
        status: int | None = None,
        retry_after_seconds: float | None = None,
        detail: str = "",
    ) -> None:
        self.code = code
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.detail = detail[:500]
        self.dropped_turn: int | None = None  # the turn of which a part was shown before it broke
        sentence = phrase(SENTENCES[code]) % {
            "who": who,
            "model": model or "this",
            "protocol": PROTOCOLS.get(protocol, protocol),
        }
        self.text = (
            phrase("%(sentence)s (%(detail)s)") % {"sentence": sentence, "detail": self.detail}
            if self.detail
            else sentence
        )
        super().__init__(self.text)

    @property
    def is_retried(self) -> bool:
        return self.code in RETRIED


@dataclass(frozen=True)
class Voice:
    """Who is speaking: fills the blanks of the sentences."""

    who: str
    model: str
    protocol: str

    def error(
        self,
        code: Code,
        *,
        status: int | None = None,
        detail: str = "",
        retry_after_seconds: float | None = None,
    ) -> ProviderError:
        return ProviderError(
            code,
            who=self.who,
            model=self.model,
            protocol=self.protocol,
            status=status,
            detail=detail,
            retry_after_seconds=retry_after_seconds,
        )

    def from_status(self, status: int, message: str, retry_after: float | None) -> ProviderError:
        """The error of an HTTP answer that is none of 2xx."""
        return self.error(
            _code(status, message.lower()),
            status=status,
            detail=message,
            retry_after_seconds=retry_after,
        )


def _code(status: int, message: str) -> Code:
    if status in (400, 413):
        return _code_of_bad_request(message)
    simple: dict[int, Code] = {
        401: "wrong_key",
        403: "forbidden",
        404: "unknown_model" if "model" in message else "not_this_protocol",
        405: "not_this_protocol",
        408: "silent",
        409: "server_error",
        429: "rate_limited",
        503: "overloaded",
        529: "overloaded",
    }
    if status in simple:
        return simple[status]
    return "server_error" if status >= 500 else "bad_request"


def _code_of_bad_request(message: str) -> Code:
    if "thinking" in message and ("signature" in message or "bound to a different" in message):
        return "thinking_mismatch"
    overflow = ("prompt is too long", "context length", "context window", "too many tokens")
    if any(words in message for words in overflow):
        return "context_overflow"
    if "model" in message and ("not found" in message or "does not exist" in message):
        return "unknown_model"
    return "bad_request"
