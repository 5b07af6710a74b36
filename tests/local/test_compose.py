"""The scale-out form as far as it can be read: each command and variable in it means something."""

import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from controlcenter.local.__main__ import _parser
from controlcenter.local.start import ROLES

ROOT = Path(__file__).parents[2]
SPEC = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
OURS = [name for name, each in SPEC["services"].items() if each["image"] == "control-center"]


def test_every_role_has_its_service() -> None:
    given = {SPEC["services"][name]["environment"].get("CC_ROLE") for name in OURS}
    assert given - {None} == set(ROLES)


@pytest.mark.parametrize("name", OURS)
def test_a_service_asks_for_what_there_is(name: str) -> None:
    service: dict[str, Any] = SPEC["services"][name]
    command = service.get("command", "python -m controlcenter.local up").split()
    assert command[:3] == ["python", "-m", "controlcenter.local"]
    _parser().parse_args(command[3:])
    sources = "".join(path.read_text() for path in (ROOT / "controlcenter").rglob("*.py"))
    for variable in service["environment"]:
        assert f'"{variable}"' in sources, f"nobody reads {variable}"
    for needed in service["depends_on"]:
        assert needed in SPEC["services"]
    assert service["volumes"] == ["data:/data"]


def test_what_must_be_chosen_is_named_at_the_top() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    top, rest = text.split("\nx-control-center", 1)
    needed = set(re.findall(r"\$\{(\w+):\?", rest))
    assert needed
    assert all(f"{name}=%s" in top for name in needed)


@pytest.mark.parametrize(("status", "code"), [(200, 0), (400, 0), (503, 1)])
def test_the_health_check_follows_the_page(status: int, code: int) -> None:
    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 500)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    _cmd, _python, *rest = SPEC["services"]["web"]["healthcheck"]["test"]
    done = subprocess.run(
        [sys.executable, *rest], check=False, env={"CC_PORT": str(server.server_port)}
    )
    server.shutdown()
    server.server_close()
    assert done.returncode == code


def test_the_image_is_nobody_s_root() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    user = next(line.split()[1] for line in lines if line.startswith("USER "))
    assert any(f"install -d -o {user} -m 0700 /data" in line for line in lines)
    installed = next(line for line in lines if "apt-get install" in line)
    assert {"git", "bubblewrap", "socat"} <= set(installed.split())
    assert not any(
        line.startswith(("COPY", "RUN")) for line in lines[lines.index(f"USER {user}") :]
    )
