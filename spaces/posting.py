"""Saying something in a conversation: the message, its number, its mentions, all tabs."""

from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import F
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext as _

from live import publish, publish_rendered
from outside.sentences import Sentence
from workspaces.models import Principal
from workspaces.tenancy import bind

from . import mentions, topics
from .models import Conversation, Mention, Message

MAX_CHARACTERS = 100_000
TITLE_CHARACTERS = 80


def post(
    conversation: Conversation,
    *,
    author: Principal | None,
    body: str,
    client_key: UUID | None = None,
    run_id: UUID | None = None,
    kind: str = Message.Kind.TEXT,
) -> tuple[Message, bool]:
    """The stored message and whether it is new: the same client key twice is one message.

    Raises ValidationError for a text that is empty or longer than MAX_CHARACTERS.
    """
    text = body if isinstance(body, Sentence) else clean(body)
    if client_key is not None:
        present = Message.objects.filter(conversation=conversation, client_key=client_key).first()
        if present is not None:
            return present, False
    message = Message.objects.create(
        conversation=conversation,
        n=_next_number(conversation, text if author else ""),
        author=author,
        body=text,
        client_key=client_key,
        run_id=run_id,
        kind=kind,
    )
    _store_mentions(message)
    announce(message)
    return message, True


def notice(conversation: Conversation, text: str, *, run_id: UUID | None = None) -> Message:
    """A line of the system's own in the conversation."""
    message, _is_new = post(
        conversation, author=None, body=text, run_id=run_id, kind=Message.Kind.NOTICE
    )
    return message


def clean(body: str) -> str:
    """The text as it is stored: LF line ends, NUL shown, white space trimmed at the ends."""
    text = body.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "␀").strip()
    text = text.encode("utf-8", "replace").decode()
    if not text:
        raise ValidationError(_("Write something first; an empty message is not sent."))
    if len(text) > MAX_CHARACTERS:
        raise ValidationError(
            _(
                "The message has %(count)d characters; at most %(most)d are sent. "
                "Your text is still in the field: shorten it, or put it into a repository."
            )
            % {"count": len(text), "most": MAX_CHARACTERS}
        )
    return text


def title_of(text: str) -> str:
    """The first line of a text, cut between words when it is long."""
    first_line = next(line for line in text.splitlines() if line.strip()).strip()
    if len(first_line) <= TITLE_CHARACTERS:
        return first_line
    head, space, _tail = first_line[:TITLE_CHARACTERS].rpartition(" ")
    return f"{head if space else first_line[: TITLE_CHARACTERS - 1]}…"


def announce(message: Message) -> None:
    """Every tab on the conversation gets the message after the commit."""
    workspace_id, message_id = message.workspace_id, message.pk
    if message.run_id and message.kind == Message.Kind.TEXT:
        return  # a run's closing words stand in its transcript

    def render(_locale: str) -> str:
        with bind(workspace_id):
            fresh = Message.objects.select_related("author").get(pk=message_id)
            return render_to_string("spaces/_message.html", {"message": fresh, "oob": True})

    topic = topics.conversation(workspace_id, message.conversation_id)
    publish_rendered(topic, "message", render)
    publish(topic, "now")  # title and order of the list


def _next_number(conversation: Conversation, text: str) -> int:
    rows = Conversation.objects.filter(pk=conversation.pk)
    rows.update(last_n=F("last_n") + 1, last_message_at=timezone.now())
    if not conversation.title and text:
        rows.filter(title="").update(title=title_of(text))
    conversation.refresh_from_db(fields=["last_n", "title", "last_message_at"])
    return conversation.last_n


def _store_mentions(message: Message) -> None:
    found = mentions.find(message.body)
    if not found:
        return
    known = {
        principal.handle.lower(): principal
        for principal in Principal.objects.filter(removed_at=None)
        if principal.handle.lower() in {each.handle.lower() for each in found}
    }
    Mention.objects.bulk_create(
        Mention(
            workspace_id=message.workspace_id,
            message=message,
            principal=known[each.handle.lower()],
            start=each.start,
            end=each.end,
        )
        for each in found
        if each.handle.lower() in known
    )
