"""The frame around every page: where one can go, and the words that scripts say."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import template
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import json_script
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

register = template.Library()


@dataclass(frozen=True)
class Place:
    """An entry of the rail; it is shown when one of its URL names exists in this installation."""

    key: str
    word: "_StrPromise"
    icon: str
    names: tuple[str, ...]
    at_end: bool = False
    is_for_guests: bool = False


PLACES = (
    Place("home", _("Home"), "house", ("workspaces:home",), is_for_guests=True),
    Place("inbox", _("Inbox"), "inbox", ("guardrails:inbox", "guardrails:inbox-show")),
    Place("spaces", _("Spaces"), "messages-square", ("spaces:space-list",), is_for_guests=True),
    Place("agents", _("Agents"), "bot", ("agents:agent-list", "agents:roster-show")),
    Place("orgchart", _("Org chart"), "network", ("agents:orgchart-show", "agents:orgchart")),
    Place("skills", _("Skills"), "book-open-check", ("skills:skill-list",)),
    Place("tickets", _("Tickets"), "square-check-big", ("tickets:ticket-list",)),
    Place("repositories", _("Repositories"), "folder-git-2", ("repositories:repository-list",)),
    Place("runs", _("Runs"), "activity", ("runs:run-list",)),
    Place("settings", _("Settings"), "settings-2", ("workspaces:settings-show",), at_end=True),
    Place("help", _("Help"), "life-buoy", ("help-show",), at_end=True, is_for_guests=True),
)
ON_THE_BAR = 4


@register.simple_tag(takes_context=True)
def places(context: template.Context) -> list[dict[str, Any]]:
    """Where a member can go from here: key, word, icon, url, current, count, at_end.

    `places` in the page's context replaces the table; `counts` maps a key to its number.
    """
    given = context.get("rail_places")
    if given is not None:
        return list(given)
    request: HttpRequest | None = context.get("request")
    workspace = context.get("workspace")
    if workspace is None:
        return []
    counts = context.get("counts") or {}
    is_guest = getattr(context.get("membership"), "role", "") == "guest"
    found = [
        {
            "key": place.key,
            "word": place.word,
            "icon": place.icon,
            "url": url,
            "count": counts.get(place.key),
            "at_end": place.at_end,
        }
        for place in PLACES
        if (place.is_for_guests or not is_guest) and (url := _address(place.names, workspace.slug))
    ]
    here = context.get("room") or _room_of(request.path if request else "", found)
    return [{**place, "current": place["key"] == here} for place in found]


def _address(names: tuple[str, ...], workspace: str) -> str | None:
    for name in names:
        for args in ([workspace], []):
            try:
                return reverse(name, args=args)
            except NoReverseMatch:
                continue
    return None


def _room_of(path: str, found: list[dict[str, Any]]) -> str:
    """The entry whose address is the longest beginning of this path."""
    fitting = [
        place
        for place in found
        if path == place["url"] or (place["key"] != "home" and path.startswith(place["url"]))
    ]
    return str(max(fitting, key=lambda place: len(place["url"]))["key"]) if fitting else ""


@register.filter
def on_the_bar(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first four, for the phone's bottom bar."""
    return found[:ON_THE_BAR]


@register.filter
def beyond_the_bar(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return found[ON_THE_BAR:]


@register.filter
def current_beyond(found: list[dict[str, Any]]) -> bool:
    """Whether the page stands in a room that the bottom bar has no place for."""
    return any(place.get("current") for place in found[ON_THE_BAR:])


# What scripts say. {name} is filled in the browser.
WORDS: dict[str, "_StrPromise"] = {
    "close": _("Close"),
    "copied": _("Copied"),
    "copy_failed": _("The browser did not let us copy. Select the text by hand."),
    "no_connection": _("No connection. Nothing was sent; what you wrote is kept."),
    "timeout": _("The server did not answer in time. Reload to see whether it was done."),
    "server_error": _("The server failed ({status}). What you wrote is kept; try again."),
    "not_allowed": _("You may not do this here."),
    "not_found": _("This is gone, or was never here."),
    "too_many": _("Too many requests. Wait a moment and try again."),
    "too_large": _("Too large to send."),
    "too_long": _(
        "This text has {n} characters; a message has at most {most}. It was not pasted: put it "
        "into a file of a repository."
    ),
    "conflict": _("Someone was faster. The page shows what is true now."),
    "refused": _("The server refused this ({status})."),
    "expired": _("Your session has ended. Sign in again; what you wrote is kept."),
    "kept": _("What you had written is back; it was not saved yet."),
    "no_access": _("You no longer have access to this page. What you see is how it was."),
    "unsaved_one": _("{n} change not saved"),
    "unsaved_many": _("{n} changes not saved"),
    "leave": _("There are changes that are not saved. Leave the page?"),
    "discard": _("Discard the changes?"),
    "draft_kept": _("Draft kept"),
    "no_skill": _("No skill of that name here."),
    "agents_library": _("The library: agent files that one can call"),
    "agents_running": _("Running: who is at work now"),
    "more_skills": _("{n} more; type on to find them."),
    "take_away": _("Take {name} away"),
    "no_matches": _("Nothing matches “{q}”."),
    "keys_on": _("Single keys are on"),
    "keys_off": _("Single keys are off"),
    "new_below": _("New events below"),
    "open": _("Open"),
    "thinking": _("Thinking"),
    "running": _("Running"),
    "waiting": _("Waiting for approval"),
    "done": _("Done"),
    "online": _("Online"),
    "away": _("Away"),
    "offline": _("Offline"),
    "here": _("Here"),
    "typing": _("Typing"),
    "is_typing": _("{names} is typing"),
    "are_typing": _("{names} are typing"),
    "system": _("Same as the system"),
    "light": _("Light"),
    "dark": _("Dark"),
    "yesterday": _("yesterday"),
}


@register.simple_tag
def words() -> SafeString:
    """The words as a JSON block that words.js reads."""
    return json_script({key: str(word) for key, word in WORDS.items()}, "words")
