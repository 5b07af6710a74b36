"""Ways to a model: adding, choosing the default, testing, removing."""

import ipaddress
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from . import audit, credentials
from .background import enqueue
from .handles import slug
from .models import Credential, ModelConnection, Principal
from .turns import take_turn

CHECK = "workspaces.tasks.check_connection"


def add(
    provider: str,
    *,
    by: Principal,
    base_url: str = "",
    key: str = "",
    model: str = "",
    is_house_address: bool = False,
) -> ModelConnection:
    """A stored connection whose test is queued.

    It is the default when it is the first, or when the test of the one before said no: who pastes
    the right key after a wrong one means to use it.
    """
    take_turn("models")
    credential = None
    if key:
        credential = credentials.keep(
            Credential.Kind.MODEL_KEY,
            key,
            label=str(ModelConnection.Provider(provider).label),
            by=by,
        )
    present = ModelConnection.objects.filter(is_default=True).first()
    connection = ModelConnection.objects.create(
        provider=provider,
        name=_free_name(provider, base_url),
        base_url=base_url,
        is_house_address=is_house_address,
        credential=credential,
        default_model=model,
        is_default=present is None,
    )
    audit.record("model.connect", actor=by, subject=connection.name, detail={"to": base_url})
    if present is not None and present.check_ok is False:
        make_default(connection, by=by)
    check_soon(connection)
    return connection


def use_demo(*, by: Principal) -> ModelConnection:
    """The demo model as the default; there is one of it, however often it is asked for."""
    take_turn("models")
    demo = ModelConnection.Provider.DEMO
    connection = ModelConnection.objects.filter(provider=demo).first() or add(demo, by=by)
    if not connection.is_default:
        make_default(connection, by=by)
    return connection


def make_default(connection: ModelConnection, *, by: Principal) -> None:
    """From now on agents without a model of their own use this connection."""
    take_turn("models")
    with transaction.atomic():
        ModelConnection.objects.filter(is_default=True).update(is_default=False)
        ModelConnection.objects.filter(pk=connection.pk).update(is_default=True)
    audit.record("model.default", actor=by, subject=connection.name)


def check_soon(connection: ModelConnection) -> None:
    """The connection is tested in the background; its row says how it went."""
    ModelConnection.objects.filter(pk=connection.pk).update(
        checked_at=None, check_ok=None, check_sentence=""
    )
    enqueue(CHECK, connection.workspace_id, connection.pk)


def note_check(connection: ModelConnection, *, ok: bool, sentence: str) -> None:
    ModelConnection.objects.filter(pk=connection.pk).update(
        checked_at=timezone.now(), check_ok=ok, check_sentence=sentence
    )


def remove(connection: ModelConnection, *, by: Principal) -> None:
    """The connection and its key are gone; another one, if any, becomes the default."""
    take_turn("models")
    credential = connection.credential
    connection.delete()
    credentials.forget(credential)
    if not ModelConnection.objects.filter(is_default=True).exists():
        heir = ModelConnection.objects.first()
        if heir is not None:
            ModelConnection.objects.filter(pk=heir.pk).update(is_default=True)
    audit.record("model.disconnect", actor=by, subject=connection.name)


def require_reachable(base_url: str, *, is_instance_admin: bool) -> None:
    """Addresses inside the house are for who runs the house. Raises ValidationError."""
    host = urlsplit(base_url).hostname or ""
    if is_instance_admin or not _is_inside(host):
        return
    raise ValidationError(
        _("%(host)s is inside the operator's network. Only an instance admin may connect to it.")
        % {"host": host}
    )


def _is_inside(host: str) -> bool:
    if host == "localhost" or host.endswith((".local", ".internal", ".localhost")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host


def _free_name(provider: str, base_url: str) -> str:
    base = provider
    if provider == ModelConnection.Provider.OPENAI:
        host = urlsplit(base_url).hostname or ""
        base = "local" if _is_inside(host) else slug(host, fallback=provider, limit=40)
    taken = set(ModelConnection.objects.values_list("name", flat=True))
    name, number = base, 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    return name
