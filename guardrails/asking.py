"""What a person is asked: a value that is shown whole, and the digest that an answer binds to."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any
from uuid import UUID

from guardrails import actions
from guardrails.actions import Action
from outside.sentences import Sentence, pack

MOST_TITLE = 300


class Kind(StrEnum):
    """What sort of thing is asked for; the inbox filters and draws by it."""

    PUSH = "push"
    COMMAND = "command"
    FILE = "file"
    PULL_REQUEST = "pull_request"
    TRACKER = "tracker"
    TOOL = "tool"
    PLAN = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class RefMove:
    """One ref of a push: from which object to which; all zeros is "not there"."""

    ref: str
    old: str
    new: str
    rewrites: bool = False

    @property
    def is_new(self) -> bool:
        return set(self.old) <= {"0"}

    @property
    def is_deleted(self) -> bool:
        return set(self.new) <= {"0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question. Everything here is shown and bound; an answer holds for nothing else.

    `call_id` tells two equal calls apart; where it is empty, equal questions of one run are one.
    `on_yes` is a sentence: what happens on yes. `text` is what to read before (a plan, a body).
    """

    kind: Kind
    title: str
    actions: tuple[Action, ...]
    call_id: str = ""
    command: str = ""
    repository: str = ""
    moves: tuple[RefMove, ...] = ()
    files: tuple[str, ...] = ()
    arguments: str = ""
    text: str = ""
    on_yes: str = ""
    push_request_id: str = ""

    def shown(self) -> dict[str, Any]:
        """What the approval keeps and the page shows, without what is stored beside it."""
        return {
            "command": self.command,
            "repository": self.repository,
            "moves": [asdict(move) for move in self.moves],
            "files": list(self.files),
            "arguments": self.arguments,
            "text": self.text,
            "on_yes": pack(self.on_yes),
            "push_request_id": self.push_request_id,
        }


def digest(
    asked: Asked, *, workspace_id: UUID, run_id: UUID | None, asking: tuple[str, ...]
) -> str:
    """64 hex digits over everything the question shows and the run it belongs to."""
    bound = {
        "workspace": str(workspace_id),
        "run": str(run_id or ""),
        "call": asked.call_id,
        "kind": asked.kind.value,
        "title": asked.title,
        "asking": sorted(map(str, asking)),
        "actions": [actions.to_json(action) for action in asked.actions],
        "shown": asked.shown(),
    }
    return sha256(json.dumps(bound, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def plain_title(title: str) -> str:
    """The title on one line, with every character that would not be seen named: `⟨U+202E⟩`."""
    return title.mapped(_plain) if isinstance(title, Sentence) else _plain(title)[:MOST_TITLE]


def _plain(text: str) -> str:
    line = " ".join(text.split())[:MOST_TITLE]
    return "".join(each if each.isprintable() else f"⟨U+{ord(each):04X}⟩" for each in line)
