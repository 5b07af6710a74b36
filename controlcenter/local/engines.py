"""PostgreSQL and Valkey for this process tree: embedded, unless the environment names others."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from controlcenter.local.errors import StartError
from controlcenter.local.janitor import Janitor
from controlcenter.local.passwords import Passwords, load_or_make
from controlcenter.local.postgres import Postgres
from controlcenter.local.roles import APP, OWNER
from controlcenter.local.valkey import Valkey

# A unix socket's path must fit into 107 bytes; the longest name we put there takes 24.
LONGEST_FOLDER_BYTES = 80

ENGINES = ("postgres", "valkey")


@dataclass
class Engines:
    """The engines that we run ourselves. None where the environment names a server."""

    postgres: Postgres | None
    valkey: Valkey | None
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """What children need to find the embedded engines."""
        found: dict[str, str] = {}
        if self.postgres:
            found["DATABASE_URL"] = self.postgres.url(APP)
            found["DATABASE_OWNER_URL"] = self.postgres.url(OWNER)
        if self.valkey:
            found["REDIS_URL"] = self.valkey.url
        return found

    def start(self, *, janitor: Janitor, output: Mapping[str, int] | None = None) -> None:
        """Both servers accept connections afterwards, with roles and database in place."""
        outputs = output or {}
        engines = {"postgres": self.postgres, "valkey": self.valkey}
        if self.postgres and not self.postgres.exists():
            self.postgres.create()
        for name, engine in engines.items():
            if engine:
                process = engine.start(output=outputs.get(name))
                self.processes[name] = process
                janitor.child(process.pid)
        if self.valkey:
            self.valkey.wait_ready(self.processes["valkey"])
        if self.postgres:
            self.postgres.wait_ready(self.processes["postgres"])
            self.postgres.provide()

    def stop(self) -> None:
        """Both have ended, everything committed is on disk. Safe to call twice."""
        if self.valkey and (process := self.processes.pop("valkey", None)):
            self.valkey.stop(process)
        if self.postgres and (process := self.processes.pop("postgres", None)):
            self.postgres.stop(process)


def embedded(
    home: Path, *, sockets: Path, passwords: Passwords | None, reckless: bool = False
) -> Engines:
    """The engines with their files below `home`, leaving out what the environment names."""
    named = os.environ
    return Engines(
        postgres=None
        if named.get("DATABASE_URL")
        else Postgres(home / "postgres", sockets=sockets, passwords=passwords, reckless=reckless),
        valkey=None
        if named.get("REDIS_URL")
        else Valkey(
            home / "valkey",
            sockets=sockets,
            password=passwords["valkey"] if passwords else None,
            reckless=reckless,
        ),
    )


def of_data_directory(data: Path) -> Engines:
    """The lasting engines of a data directory, with passwords of its own."""
    secret_file = data / "secrets" / "engines.json"
    if (data / "postgres").exists() and not secret_file.exists():
        raise StartError(
            f"{data} holds a database, but {secret_file} is missing. Put the folder 'secrets' "
            "of the same backup back in place."
        )
    return embedded(data, sockets=socket_folder(data), passwords=load_or_make(secret_file))


@contextmanager
def throw_away(janitor: Janitor) -> Iterator[Engines]:
    """Fast engines in a temporary folder, gone afterwards, also after a kill -9."""
    home = Path(tempfile.mkdtemp(prefix="cc-", dir=_short_temporary_folder()))
    janitor.folder(home)
    engines = embedded(home, sockets=home, passwords=None, reckless=True)
    try:
        with (home / "engines.log").open("wb") as log:
            engines.start(janitor=janitor, output=dict.fromkeys(ENGINES, log.fileno()))
        yield engines
    except StartError:
        sys.stderr.write((home / "engines.log").read_text(errors="replace"))
        raise
    finally:
        engines.stop()
        shutil.rmtree(home, ignore_errors=True)


def socket_folder(data: Path) -> Path:
    """A folder of mode 0700 for the sockets of a data directory: short, and only ours."""
    folder = data / "run"
    if len(os.fsencode(folder)) > LONGEST_FOLDER_BYTES:
        mark = hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
        base = os.environ.get("XDG_RUNTIME_DIR") or "/tmp"  # checked just below
        folder = Path(base) / f"cc-{os.geteuid()}-{mark}"
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if folder.is_symlink() or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
        raise StartError(f"{folder} must be a folder of yours alone (mode 0700). Remove it.")
    return folder


def _short_temporary_folder() -> str:
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= LONGEST_FOLDER_BYTES - 12 else "/tmp"
