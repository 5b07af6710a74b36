"""What stays out of the processes: parsers and clients that only a child or a run needs."""

import subprocess
import sys

import pytest

START = """
import sys
from controlcenter.local import programs, scheduler
programs.load()
from django.conf import settings
from django.utils.module_loading import import_string
import_string(settings.ASGI_APPLICATION)
import_string(programs.GATEWAY)
import controlcenter.local.uvicorn_server
scheduler.load(settings.CC_TICKS)
print(*sys.modules)
"""
# Each costs several megabytes of every process, or half a second of the start.
HEAVY = {
    "yara": "the scan, in its child",
    "detect_secrets": "the scan of a push, while it is read",
    "tree_sitter_javascript": "the scan, in its child",
    "skills.scanning.code": "the scan, in its child",
    "skills.scanning.lexicon": "the scan, in its child",
    "bashlex": "nobody",
    "anthropic": "a run that speaks to it",
    "openai": "a run that speaks to it",
    "numpy": "nobody",
}


@pytest.mark.soak
def test_no_role_loads_what_only_a_child_or_a_run_needs() -> None:
    started = subprocess.run(
        [sys.executable, "-c", START], capture_output=True, text=True, timeout=100, check=True
    )
    loaded = set(started.stdout.split())
    assert {"runs.runner", "skills.scanning.child", "controlcenter.gateway"} <= loaded
    assert not loaded & HEAVY.keys()
