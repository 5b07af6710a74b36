"""Who may open an account, and where they land."""

import hmac

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest

from .invitations import find
from .members import instance_is_empty

INVITATION_KEY = "invitation"


class Adapter(DefaultAccountAdapter):  # type: ignore[misc]
    """The first account opens the instance; after it, sign-up is by invitation."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        if settings.SIGNUP_OPEN or find(request.session.get(INVITATION_KEY, "")):
            return True
        return instance_is_empty() and setup_token_holds(request)


def setup_token_holds(request: HttpRequest) -> bool:
    """Whether the request proves that it comes from who started the instance.

    A token is only asked for when the instance is reachable from other machines.
    """
    if not settings.SETUP_TOKEN:
        return True
    given = request.POST.get("setup_token") or request.GET.get("setup_token") or ""
    return hmac.compare_digest(given.encode(), settings.SETUP_TOKEN.encode())
