"""The egress guard: an address that a user or an agent gave is checked before anything connects.

guard = Guard.of(hosts=settings.ALLOW_HOSTS, paths=settings.ALLOW_PATHS)
guard.endpoint("https://example.com/x")     # Endpoint with the checked addresses, or Refused
with open_client(guard) as client: ...      # an httpx.Client whose every hop passes the guard
"""

from .client import fetch, open_client
from .guard import Endpoint, Guard, Refused
from .public import is_public

__all__ = ["Endpoint", "Guard", "Refused", "fetch", "is_public", "open_client"]
