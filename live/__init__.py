"""Topics and bytes: what happened in a room reaches every open tab within a second.

The public names of the room. `live.publish` is the function; its module has the same name.
"""

from live.access import JoinGrant
from live.publish import (
    Numbered,
    cursor,
    publish,
    publish_rendered,
    publish_series,
    recheck,
    resync,
    sequence,
)
from live.soon import publish_soon
from live.stream import TextStream

__all__ = [
    "JoinGrant",
    "Numbered",
    "TextStream",
    "cursor",
    "publish",
    "publish_rendered",
    "publish_series",
    "publish_soon",
    "recheck",
    "resync",
    "sequence",
]
