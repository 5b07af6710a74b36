"""Our own dialect: `agents/<slug>/AGENTS.md`, the file beside the agent's row.

Front matter with the keys of `KEYS` in that order; the body is the persona.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.library import fields, frontmatter, names, yamlread, yamlwrite
from agents.library.definition import AgentDefinition, Dialect
from agents.library.frontmatter import normalise
from agents.library.sheet import Sheet
from agents.library.warning import LoadWarning, warn
from agents.library.yamlread import Value
from outside.sentences import phrase as _

KEYS = (
    "name",
    "title",
    "systemPrompt",
    "skills",
    "adapterId",
    "modelId",
    "effort",
    "contextSize",
    "silenceTimeoutMinutes",
    "reportsTo",
)
MAX_SILENCE_MINUTES = 240


@dataclass(frozen=True, slots=True)
class AgentFile:
    """An agent's file as read. `fields` has the keys that are there, unknown ones included."""

    fields: dict[str, Value] = field(default_factory=dict)
    body: str = ""
    warnings: tuple[LoadWarning, ...] = ()


def render(row: Mapping[str, Value], body: str) -> str:
    """The text of the file: known keys in order, then the unknown ones as they came; LF.

    Keys whose value is None (or an empty list of skills) are left out. Strings are written with
    LF line ends. `parse(render(row, body))` gives the same fields and `tidy_body(body)`.
    """
    kept = {normalise(key): yamlwrite.as_kept(value) for key, value in row.items()}
    order = [*KEYS, *(key for key in kept if key not in KEYS)]
    pairs = [(key, kept[key]) for key in order if kept.get(key) not in (None, [])]
    persona = frontmatter.tidy_body(body)
    text = f"---\n{yamlwrite.emit(pairs)}---\n"
    return f"{text}\n{persona}\n" if persona else text


def parse(text: str) -> AgentFile:
    """Fields and persona of a file; never raises. Unreadable front matter gives no fields
    and a warning with the code `invalid-yaml`, `no-front-matter` or what else is wrong.
    """
    parts = frontmatter.split(text)
    body = frontmatter.tidy_body(parts.body)
    if parts.front is None:
        return AgentFile(body=body, warnings=(_no_front_matter(parts),))
    try:
        mapping = yamlread.load(parts.front)
    except yamlread.FrontMatterError as fault:
        line = parts.front_line + fault.line - 1 if fault.line else 0
        return AgentFile(body=body, warnings=(warn(fault.code, fault.sentence, line=line),))
    return AgentFile(mapping.values, body, parts.warnings)


def read(sheet: Sheet) -> AgentDefinition:
    """The agent's file as a definition: persona as body, title as description, no tool lists.

    Skipped when the name is missing or no slug.
    """
    name = sheet.text("name")
    folder = _folder(sheet.path)
    if name and folder and name != folder:
        sentence = _("The file says `%(name)s` and lies in the folder `%(folder)s`.") % {
            "name": name,
            "folder": folder,
        }
        sheet.say(warn("name-differs-from-folder", sentence))
    definition = AgentDefinition(
        dialect=Dialect.CC,
        name=name,
        declared_name=name,
        description=sheet.text("title"),
        model=sheet.text("modelId") or None,
        effort=sheet.text("effort") or None,
        skills=fields.names(sheet, "skills"),
    )
    _check_numbers(sheet)
    if names.is_slug(name):
        return definition
    return definition.skipped(
        warn("name-no-slug", _("The name %(name)s is no slug.") % {"name": repr(name)})
        if name
        else warn("missing-name", _("The required `name` is missing."))
    )


def _check_numbers(sheet: Sheet) -> None:
    sheet.positive_int("contextSize")
    minutes = sheet.positive_int("silenceTimeoutMinutes")
    if minutes is not None and minutes > MAX_SILENCE_MINUTES:
        sentence = _("`silenceTimeoutMinutes` goes up to %(most)s.") % {"most": MAX_SILENCE_MINUTES}
        sheet.say(warn("silence-timeout-minutes-invalid", sentence))


def _folder(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    return parts[-2] if len(parts) > 1 and parts[-1] == "AGENTS.md" else ""


def _no_front_matter(parts: frontmatter.Split) -> LoadWarning:
    if parts.unterminated:
        return warn("unterminated-front-matter", _("The opening --- has no closing ---."))
    return warn("no-front-matter", _("The file has no front matter between two --- lines."))
