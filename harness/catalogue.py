"""What is known about models: context window, output limit, efforts, prices.

The files in `catalogue_data/` are the fallback; the rooms above may add entries of their own
(`ModelCatalogue.extended`), for example what a provider's own list says.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from harness.seam import Effort, Usage

DATA = Path(__file__).with_name("catalogue_data")
UNKNOWN_CONTEXT = 32_000  # small enough for a local server's default
UNKNOWN_OUTPUT = 8_000


@dataclass(frozen=True)
class Price:
    """US dollars a million tokens, which is the same number in micro-dollars a token."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def microusd(self, usage: Usage) -> int:
        return round(
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
        )


@dataclass(frozen=True)
class Model:
    """`thinking`: how the provider is told to think (adaptive, effort) or that it is not (none)."""

    provider: str
    name: str
    title: str
    context: int = UNKNOWN_CONTEXT
    output: int = UNKNOWN_OUTPUT
    efforts: tuple[Effort, ...] = ()
    thinking: Literal["adaptive", "effort", "none"] = "none"
    price: Price | None = None
    long_prompt_above: int | None = None
    long_prompt_price: Price | None = None
    is_known: bool = True

    def cost_microusd(self, usage: Usage) -> int | None:
        """What the call cost; None when nobody knows the model's price."""
        prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        is_long = self.long_prompt_above is not None and prompt > self.long_prompt_above
        price = self.long_prompt_price if is_long else self.price
        return price.microusd(usage) if price else None

    def effort(self, wanted: Effort | None) -> Effort | None:
        """The wanted effort if the model knows it; None leaves the choice to the provider."""
        return wanted if wanted in self.efforts else None


@dataclass(frozen=True)
class ModelCatalogue:
    models: Mapping[str, Model]  # by "provider/name"
    defaults: Mapping[str, str]  # provider → its default model's name

    def find(self, provider: str, name: str) -> Model:
        """The entry; for a name nobody knows, a careful guess marked `is_known=False`."""
        found = self.models.get(f"{provider}/{name}")
        return found or Model(provider=provider, name=name, title=name, is_known=False)

    def of_provider(self, provider: str) -> tuple[Model, ...]:
        return tuple(model for model in self.models.values() if model.provider == provider)

    def extended(self, *models: Model) -> Self:
        added = {f"{model.provider}/{model.name}": model for model in models}
        return replace(self, models={**self.models, **added})


@cache
def shipped() -> ModelCatalogue:
    """The catalogue that comes with the product."""
    models: dict[str, Model] = {}
    defaults: dict[str, str] = {}
    for path in sorted(DATA.glob("*.json")):
        data = json.loads(path.read_text())
        provider = data["provider"]
        defaults[provider] = data["default"]
        for name, entry in data["models"].items():
            models[f"{provider}/{name}"] = _model(provider, name, entry)
    return ModelCatalogue(models, defaults)


def split(model: str) -> tuple[str, str]:
    """`provider/model` → its two halves. The model's own name may contain slashes."""
    provider, slash, name = model.partition("/")
    if not slash or not provider or not name:
        raise ValueError(f"{model!r} is not of the form provider/model")
    return provider, name


def chain(model: str) -> tuple[tuple[str, str], ...]:
    """A fallback chain `a/x|b/y` → its links, in order."""
    return tuple(split(link.strip()) for link in model.split("|"))


def _model(provider: str, name: str, entry: Mapping[str, Any]) -> Model:
    long_prompt = entry.get("long_prompt")
    return Model(
        provider=provider,
        name=name,
        title=entry["title"],
        context=entry["context"],
        output=entry["output"],
        efforts=tuple(entry["efforts"]),
        thinking=entry["thinking"],
        price=Price(**entry["price"]),
        long_prompt_above=long_prompt["above"] if long_prompt else None,
        long_prompt_price=Price(**long_prompt["price"]) if long_prompt else None,
    )
