"""`${var}` in the bodies of Jarvis agents and in SYSTEM.md, filled in each time a prompt is built.

Nowhere else: other dialects' bodies may hold shell text such as `${INPUT}`.
"""

import re
from collections.abc import Mapping

from agents.library.definition import AgentDefinition, Dialect

VARIABLES = frozenset(
    {
        *("product_name", "skills", "agents_md", "cwd", "cwd_listing", "os", "shell", "now"),
        *("additional_dirs_info", "base_prompt", "plugin_sections", "windows_notes"),
        *("additional_dirs_section", "skills_section"),
    }
)
PRODUCT_NAME = "Control Center"
_MARKER = re.compile(r"\$\{([a-z_]+)\}")


def fill(body: str, values: Mapping[str, str]) -> str:
    """The body with known variables replaced; without a value they are empty. Unknown ones and
    a lone `$` stay. What is filled in is not looked at again.
    """
    return _MARKER.sub(lambda match: _value(match, values), body)


def prompt_of(definition: AgentDefinition, values: Mapping[str, str]) -> str:
    """The body as system prompt: filled in for Jarvis, untouched for every other dialect."""
    if definition.dialect is Dialect.JARVIS:
        return fill(definition.body, values)
    return definition.body


def default_prompt(
    builtin: str, system_md: str | None, values: Mapping[str, str]
) -> tuple[str, bool]:
    """The default main agent's prompt, and whether SYSTEM.md made it.

    A SYSTEM.md with text replaces the built-in prompt; inside it `${base_prompt}` is the built-in
    one. Missing or blank (also a `None` after a failed read) means the built-in prompt. It has
    no front matter: a `---` block in it is text.
    """
    base = fill(builtin, {**values, "base_prompt": ""})
    if system_md is None or not system_md.strip():
        return base, False
    text = system_md.removeprefix("\ufeff")
    return fill(text, {**values, "base_prompt": base}), True


def _value(match: re.Match[str], values: Mapping[str, str]) -> str:
    name = match.group(1)
    if name not in VARIABLES:
        return match.group()
    return PRODUCT_NAME if name == "product_name" and name not in values else values.get(name, "")
