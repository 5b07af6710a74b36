"""Tries a provider's settings with one tiny request and says in words how that went."""

import threading
import time
from dataclasses import dataclass

from harness import errors
from harness.catalogue import shipped
from harness.conversation import UserTurn
from harness.providers.clients import make_client
from harness.providers.errors import ProviderError, Voice
from harness.seam import ModelClient, ModelRequest, ProviderSettings
from harness.stop import Stop, StopReason
from outside.sentences import joined
from outside.sentences import phrase as _

SECONDS = 20.0
SLOW_SECONDS = 8.0
NAMED = 8  # models that a sentence names


@dataclass(frozen=True)
class Result:
    """`sentence` is for people; `detail` what the provider itself said; `models` what it offers."""

    ok: bool
    sentence: str
    detail: str = ""
    models: tuple[str, ...] = ()


def try_connection(
    settings: ProviderSettings, *, model: str = "", seconds: float = SECONDS
) -> Result:
    """Sends a few words to the model (the provider's default or first one when none is named).

    Takes at most about `seconds`; costs a few tokens.
    """
    if settings.kind == "demo":
        return Result(True, _("The demo needs no connection. It is a script with no AI in it."))
    client = make_client(settings)  # loads its library first: that is not the provider's time
    stop = Stop()
    timer = threading.Timer(seconds, stop.request, (StopReason.MAX_TIME,))
    timer.start()
    try:
        return _try(client, settings, model, stop)
    except errors.MaxTime:
        return Result(
            False,
            _(
                "%(who)s did not answer within %(seconds)s seconds. It may be starting, or too slow"
                " for an agent."
            )
            % {"who": settings.name, "seconds": f"{seconds:.0f}"},
        )
    finally:
        timer.cancel()
        client.close()


def _try(client: ModelClient, settings: ProviderSettings, model: str, stop: Stop) -> Result:
    offered: tuple[str, ...] = ()
    try:
        if not model:
            offered = _offered(client)
            model = _first(settings, offered)
        started = time.monotonic()
        for _event in client.stream(_request(model), stop):
            pass
        return _good(settings, model, time.monotonic() - started, offered)
    except ProviderError as problem:
        if problem.code == "unknown_model":
            offered = offered or _offered(client, quietly=True)
        return Result(False, _with_offer(problem, offered), problem.detail, offered)


def _offered(client: ModelClient, *, quietly: bool = False) -> tuple[str, ...]:
    try:
        return tuple(client.models())
    except ProviderError as problem:
        # Not every compatible server lists its models; whatever else is wrong shows right after.
        if quietly or problem.code in ("not_this_protocol", "unknown_model", "bad_request"):
            return ()
        raise


def _first(settings: ProviderSettings, offered: tuple[str, ...]) -> str:
    default = shipped().defaults.get(settings.kind, "")
    if settings.base_url and settings.kind == "openai":
        default = ""
    if default and (not offered or default in offered):
        return default
    if offered:
        return offered[0]
    raise Voice(settings.name, "", settings.kind).error("not_this_protocol")


def _request(model: str) -> ModelRequest:
    said = UserTurn((), ("Answer with the word: ready",))
    return ModelRequest(model, ("This is a connection test.",), (said,), (), 16)


def _good(
    settings: ProviderSettings, model: str, seconds: float, offered: tuple[str, ...]
) -> Result:
    sentence = _("%(who)s answers as %(model)s.") % {"who": settings.name, "model": model}
    if seconds > SLOW_SECONDS:
        slow = _("It took %(seconds)s seconds: an agent will be slow.")
        sentence = joined([sentence, slow % {"seconds": f"{seconds:.0f}"}])
    return Result(True, sentence, models=offered)


def _with_offer(problem: ProviderError, offered: tuple[str, ...]) -> str:
    if problem.code != "unknown_model" or not offered:
        return problem.text
    names = {"names": ", ".join(offered[:NAMED]), "n": len(offered) - NAMED}
    if len(offered) > NAMED:
        return joined([problem.text, _("It offers: %(names)s and %(n)s more.") % names])
    return joined([problem.text, _("It offers: %(names)s.") % names])
