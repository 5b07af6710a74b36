"""PostgreSQL and Valkey for this process tree: embedded, unless the environment names others."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from controlcenter.local.errors import StartError
from controlcenter.local.janitor import Janitor
from controlcenter.local.passwords import Passwords, load_or_make
from controlcenter.local.postgres import Postgres
from controlcenter.local.processes import Running
from controlcenter.local.roles import APP, OWNER
from controlcenter.local.valkey import Valkey

# A unix socket's path must fit into 107 bytes; the longest name we put there takes 24.
LONGEST_FOLDER_BYTES = 80


class Engine(Protocol):
    """What an embedded server offers."""

    def create(self, meanwhile: Callable[[], object] | None = None) -> None: ...
    def start(self, *, output: int | None = None) -> subprocess.Popen[bytes]: ...
    def wait_ready(self, process: Running) -> None: ...
    def stop(self, process: Running) -> None: ...


@dataclass(frozen=True)
class Engines:
    """The engines that we run ourselves: None where the environment names a server."""

    postgres: Postgres | None
    valkey: Valkey | None

    @property
    def named(self) -> dict[str, Engine]:
        """In the order of their start."""
        both: dict[str, Engine | None] = {"postgres": self.postgres, "valkey": self.valkey}
        return {name: engine for name, engine in both.items() if engine}

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

    def create(self, meanwhile: Callable[[], object] | None = None) -> None:
        """Their files exist afterwards; `meanwhile` is called while a new database is made."""
        for engine in self.named.values():
            engine.create(meanwhile)

    def wait_ready(self, running: Mapping[str, Running]) -> None:
        """They accept connections afterwards, with roles and database in place."""
        for name, engine in self.named.items():
            engine.wait_ready(running[name])
        if self.postgres:
            self.postgres.provide()


def embedded(
    home: Path, *, sockets: Path, passwords: Passwords | None, reckless: bool = False
) -> Engines:
    """The engines with their files below `home`, leaving out what the environment names."""
    postgres = Postgres(home / "postgres", sockets=sockets, passwords=passwords, reckless=reckless)
    password = passwords["valkey"] if passwords else None
    valkey = Valkey(home / "valkey", sockets=sockets, password=password, reckless=reckless)
    return Engines(
        postgres=None if os.environ.get("DATABASE_URL") else postgres,
        valkey=None if os.environ.get("REDIS_URL") else valkey,
    )


def of_data_directory(data: Path, *, sockets: Path) -> Engines:
    """The lasting engines of a data directory, with passwords of its own."""
    secret_file = data / "secrets" / "engines.json"
    if (data / "postgres").exists() and not secret_file.exists():
        raise StartError(
            f"{data} holds a database, but {secret_file} is missing. Put the folder 'secrets' "
            "of the same backup back in place."
        )
    return embedded(data, sockets=sockets, passwords=load_or_make(secret_file))


@contextmanager
def throw_away(janitor: Janitor) -> Iterator[Engines]:
    """Fast engines in a temporary folder, gone afterwards, also after a kill -9."""
    home = Path(tempfile.mkdtemp(prefix="cc-", dir=short_temporary_folder()))
    janitor.folder(home)
    engines = embedded(home, sockets=home, passwords=None, reckless=True)
    running: dict[str, Running] = {}
    try:
        with (home / "engines.log").open("wb") as log, _telling(home / "engines.log"):
            engines.create()
            for name, engine in engines.named.items():
                running[name] = engine.start(output=log.fileno())
                janitor.child(running[name].pid)
            engines.wait_ready(running)
        yield engines
    finally:
        for name, process in reversed(running.items()):
            engines.named[name].stop(process)
        shutil.rmtree(home, ignore_errors=True)


def socket_folder(data: Path) -> Path:
    """A folder of mode 0700 for the sockets of a data directory: short, and only ours."""
    folder = data / "run"
    if len(os.fsencode(folder)) > LONGEST_FOLDER_BYTES:
        mark = hashlib.sha256(os.fsencode(data)).hexdigest()[:12]
        base = os.environ.get("XDG_RUNTIME_DIR") or "/tmp"  # its owner and mode are checked below
        folder = Path(base) / f"cc-{os.geteuid()}-{mark}"
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if folder.is_symlink() or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
        raise StartError(f"{folder} must be a folder of yours alone (mode 0700). Remove it.")
    return folder


@contextmanager
def _telling(log: Path) -> Iterator[None]:
    try:
        yield
    except StartError:
        sys.stderr.write(log.read_text(errors="replace"))
        raise


def short_temporary_folder() -> str:
    """Where temporary folders go in which a socket file still has a name that the system takes."""
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= LONGEST_FOLDER_BYTES - 12 else "/tmp"
