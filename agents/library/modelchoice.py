"""Which model a run uses: one pure function per dialect (requirements 6.12)."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from agents.library.definition import AgentDefinition, Dialect
from agents.library.warning import LoadWarning, warn
from outside.sentences import phrase as _

INHERIT = "inherit"
BY_CALL = _("By the call.")
BY_FILE = _("By the agent's file.")
FAST = "fast"


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """What the workspace and the conversation offer.

    `main` is the model of the main conversation, `override` the workspace's
    FUXI_CODE_SUBAGENT_MODEL. `aliases` turns `sonnet` into an id, `known` says whether an id
    can be used (None: every id). `allowed` is the allow-list (None: every model). `fast`,
    `grades` and `allowed_grades` are the settings of the same names; `explore` is
    agents.builtin.exploreModel.
    """

    main: str
    override: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    known: Callable[[str], bool] | None = None
    allowed: Collection[str] | None = None
    fast: str = ""
    grades: Mapping[str, str] = field(default_factory=dict)
    allowed_grades: Collection[str] | None = None
    explore: str = ""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model of a run and why. `error` set: the run must not start, and this says why."""

    model: str
    reason: str
    warnings: tuple[LoadWarning, ...] = ()
    error: str = ""


def resolve(
    definition: AgentDefinition, offer: ModelOffer, *, call: str = "", is_builtin: bool = False
) -> ModelChoice:
    """The model for a run of this definition. `call` is the value given with the call."""
    if definition.dialect is Dialect.JARVIS:
        return jarvis(offer)
    if definition.dialect is Dialect.QWEN:
        return qwen(definition, offer, call=call, is_builtin=is_builtin)
    return fuxi(definition, offer, call=call)


def jarvis(offer: ModelOffer) -> ModelChoice:
    """Always the main agent's model: the field `model` is ignored in this dialect."""
    return ModelChoice(offer.main, _("Jarvis agents run on the main agent's model."))


def fuxi(definition: AgentDefinition, offer: ModelOffer, *, call: str = "") -> ModelChoice:
    """The workspace's override, else the call, else the file, else the main model. A value that
    the allow-list excludes is ignored in favour of the main model.
    """
    is_fuxi = definition.dialect is Dialect.FUXI
    sources = (
        (offer.override if is_fuxi else "", _("By the workspace's FUXI_CODE_SUBAGENT_MODEL.")),
        (call, BY_CALL),
        (definition.model or "", BY_FILE),
    )
    for value, source in sources:
        if value.strip() in ("", INHERIT):
            if source is BY_CALL and value.strip() == INHERIT:
                break
            continue
        return _allowed(offer.aliases.get(value.strip(), value.strip()), source, offer)
    return _inherited(offer)


def qwen(
    definition: AgentDefinition, offer: ModelOffer, *, call: str = "", is_builtin: bool = False
) -> ModelChoice:
    """The file's own model, else the grade of the call, else the main model. An unknown grade
    and an id that nobody knows are errors.
    """
    own = (definition.model or "").strip()
    if is_builtin and definition.name == "Explore" and offer.explore:
        own = offer.explore
    if own not in ("", INHERIT):
        return _selected(own, BY_FILE, offer)
    if not call:
        return _inherited(offer)
    if call not in offer.grades:
        return _refused(
            _("`%(call)s` is no model grade of this workspace.") % {"call": call}, offer
        )
    if offer.allowed_grades is not None and call not in offer.allowed_grades:
        return _refused(
            _("The model grade `%(call)s` is not allowed here.") % {"call": call}, offer
        )
    return _selected(
        offer.grades[call], _("By the grade `%(call)s` of the call.") % {"call": call}, offer
    )


def _selected(selector: str, reason: str, offer: ModelOffer) -> ModelChoice:
    """A selector of Qwen's: `fast`, an id, `authType:modelId`, or an alias of Claude Code."""
    if selector == INHERIT:
        return _inherited(offer)
    if selector == FAST:
        if not offer.fast or not _is_known(_as_id(offer.fast), offer):
            said = warn("no-fast-model", _("No fast model is set, so the main model is used."))
            return ModelChoice(offer.main, _("No fast model is set."), (said,))
        selector = offer.fast
    model = _as_id(selector)
    if not _is_known(model, offer) and selector in offer.aliases:
        model = offer.aliases[selector]
    if not _is_known(model, offer):
        return _refused(
            _("No provider knows the model `%(selector)s`.") % {"selector": selector}, offer
        )
    return _allowed(model, reason, offer)


def _as_id(selector: str) -> str:
    """`openai:gpt-4o` as `openai/gpt-4o`; the provider of a bare id is looked up later."""
    provider, colon, model = selector.partition(":")
    return f"{provider}/{model}" if colon and "/" not in provider and model else selector


def _is_known(model: str, offer: ModelOffer) -> bool:
    return offer.known is None or offer.known(model)


def _allowed(model: str, reason: str, offer: ModelOffer) -> ModelChoice:
    if offer.allowed is None or model in offer.allowed:
        return ModelChoice(model, reason)
    sentence = _("The model `%(model)s` is not on the allow-list; the main model is used.") % {
        "model": model
    }
    said = warn("model-not-allowed", sentence)
    return ModelChoice(offer.main, _("The wanted model is not on the allow-list."), (said,))


def _inherited(offer: ModelOffer) -> ModelChoice:
    return ModelChoice(offer.main, _("Inherited from the main agent."))


def _refused(error: str, offer: ModelOffer) -> ModelChoice:
    return ModelChoice(offer.main, error, error=error)
