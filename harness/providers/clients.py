"""Settings of a provider → its client."""

from harness.providers.demo import DemoClient
from harness.seam import ModelClient, ProviderSettings


def make_client(settings: ProviderSettings) -> ModelClient:
    """The client that speaks this provider's protocol. The official libraries are imported here,
    when the first run needs one."""
    if settings.kind == "anthropic":
        from harness.providers.anthropic import AnthropicClient

        return AnthropicClient(settings)
    if settings.kind == "openai":
        from harness.providers.openai import OpenAIClient

        return OpenAIClient(settings)
    return DemoClient()
