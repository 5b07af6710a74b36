"""Named points at which a test kills the process that passes them."""

import os
import signal


def crashpoint(name: str) -> None:
    """Kills this process on the spot when CC_CRASH names the point; else nothing happens."""
    if os.environ.get("CC_CRASH") == name:
        os.kill(os.getpid(), signal.SIGKILL)
