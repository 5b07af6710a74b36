"""An embedded PostgreSQL: made once, started on a unix socket only, stopped cleanly."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote

import psycopg

from controlcenter.local import binaries, processes, roles
from controlcenter.local.errors import StartError
from controlcenter.local.passwords import Passwords
from controlcenter.local.processes import Running

DATABASE = "controlcenter"
UNFINISHED = "postgres.unfinished-"
SUPERUSER = "postgres"

# A few people on one machine: small buffers, no helpers that nobody needs.
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "io_method": "sync",
    "jit": "off",
    "max_logical_replication_workers": "0",
    "log_timezone": "UTC",
    "timezone": "UTC",
    # What fails in a statement is the application's to log.
    "log_min_messages": "fatal",
    "log_line_prefix": "",
}
# For engines that are thrown away: speed before safety.
RECKLESS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum_naptime": "10min",
    "checkpoint_timeout": "30min",
}


class Postgres:
    """One embedded server: its files in `home`, its socket in `sockets`."""

    def __init__(
        self, home: Path, *, sockets: Path, passwords: Passwords | None, reckless: bool = False
    ) -> None:
        self.home = home
        self.sockets = sockets
        self.passwords = passwords
        self.reckless = reckless

    def url(self, role: str) -> str:
        """The connection URL of `cc_app`, `cc_owner` or the superuser."""
        secret = f":{quote(self.passwords[role])}" if self.passwords else ""
        return f"postgresql://{role}{secret}@/{DATABASE}?host={quote(str(self.sockets), safe='')}"

    def create(self, meanwhile: Callable[[], object] | None = None) -> None:
        """Its files exist afterwards. Nothing of a failed or killed attempt stays behind.

        `meanwhile` is called while they are made, and not at all when they exist.
        """
        if (self.home / "PG_VERSION").exists():
            return
        for leftover in self.home.parent.glob(f"{UNFINISHED}*"):
            shutil.rmtree(leftover)
        # initdb writes PG_VERSION first: only the whole folder gets the name that is believed.
        making = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=self.home.parent))
        try:
            self._make_files(making, meanwhile or _nothing)
            if self.home.exists():
                self.home.rmdir()
            making.rename(self.home)
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def _make_files(self, home: Path, meanwhile: Callable[[], object]) -> None:
        auth = "scram-sha-256" if self.passwords else "trust"
        argv = [
            *_as_somebody(),
            str(binaries.postgres("initdb")),
            *("-D", str(home), "-U", SUPERUSER, "-E", "UTF8", "--locale=C.UTF-8"),
            *("--locale-provider=builtin", f"--auth-local={auth}", "--auth-host=reject"),
            *(["--no-sync"] if self.reckless else ["--pwfile=/dev/stdin"]),
        ]
        with subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=partial(processes.die_with_parent, signal.SIGTERM, parent=os.getpid()),
        ) as made:
            assert made.stdin
            with suppress(BrokenPipeError):
                made.stdin.write(self.passwords[SUPERUSER] if self.passwords else "")
                made.stdin.flush()
            made.stdin.close()
            made.stdin = None
            meanwhile()
            _, words = made.communicate()
        if made.returncode != 0:
            raise StartError(_why_initdb_failed(words.strip()))

    def start(self, *, output: int | None = None) -> subprocess.Popen[bytes]:
        """Start the server; the caller waits with `wait_ready`."""
        self._refuse_other_version()
        self._stop_leftover()
        settings = SETTINGS | (RECKLESS if self.reckless else {})
        options = [part for item in settings.items() for part in ("-c", "=".join(item))]
        program = str(binaries.postgres("postgres"))
        return processes.spawn(
            [*_as_somebody(), program, "-D", str(self.home), "-k", str(self.sockets), *options],
            output=output,
            # At our own sudden death: immediate shutdown, the next start recovers from the log.
            dies_by=signal.SIGQUIT,
        )

    def wait_ready(self, process: Running, *, seconds: float = 60.0) -> None:
        """Return once it accepts connections; recovery after a crash may take a while."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._superuser("postgres").close()
                return
            except psycopg.OperationalError as error:
                if process.poll() is not None:
                    raise StartError(
                        f"The embedded PostgreSQL ended at its start (code {process.poll()}); "
                        "its own words are above."
                    ) from error
                if time.monotonic() > deadline:
                    raise StartError(
                        f"The embedded PostgreSQL did not answer within {seconds:.0f} s: {error}"
                    ) from error
            time.sleep(0.02)

    def provide(self) -> None:
        """Roles and database exist afterwards; safe to run at each start."""
        with self._superuser("postgres") as connection:
            roles.ensure(connection, passwords=self.passwords)
            roles.ensure_database(connection, DATABASE)

    def stop(self, process: Running) -> None:
        """Fast shutdown: connections are cut, everything committed is on disk."""
        processes.stop(process, first=signal.SIGINT, grace_seconds=6.0)

    def _superuser(self, database: str) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.sockets),
            dbname=database,
            user=SUPERUSER,
            password=self.passwords[SUPERUSER] if self.passwords else None,
            autocommit=True,
            connect_timeout=5,
        )

    def _refuse_other_version(self) -> None:
        made_by = (self.home / "PG_VERSION").read_text().strip()
        program = str(binaries.postgres("postgres"))
        version = subprocess.run([program, "-V"], capture_output=True, text=True, check=True)
        ours = version.stdout.split()[-1].partition(".")[0]
        if made_by != ours:
            raise StartError(
                f"{self.home} was made by PostgreSQL {made_by}, and this version brings {ours}. "
                "Dump it with the earlier version of Control Center and restore it with this one."
            )

    def _stop_leftover(self) -> None:
        pid_file = self.home / "postmaster.pid"
        with suppress(OSError, ValueError, IndexError):
            pid = int(pid_file.read_text().splitlines()[0])
            if str(self.home) in processes.command_of(pid):
                os.kill(pid, signal.SIGQUIT)
                processes.wait_gone([pid], seconds=10.0)
        # We hold the lock of the data directory, so what is left belongs to nobody: a number
        # that another process has by now would make PostgreSQL refuse to start.
        for stale in (pid_file, *self.sockets.glob(".s.PGSQL.*")):
            stale.unlink(missing_ok=True)


def _nothing() -> None:
    pass


def _as_somebody() -> list[str]:
    # PostgreSQL refuses uid 0. In a user namespace of its own it sees another number, while
    # its files stay root's: no account is made, no permission changed. The same helps a number
    # without an account (containers), which initdb refuses too.
    if sys.platform != "linux" or (os.geteuid() != 0 and _has_account()):
        return []
    return ["unshare", "--user", "--map-user=65534", "--map-group=65534"]


def _has_account() -> bool:
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return True


def _why_initdb_failed(words: str) -> str:
    if words.startswith("unshare:"):
        return (
            "PostgreSQL needs an ordinary user, and this machine allows no user namespaces "
            f"({words}). Start as an ordinary user, or name a server in DATABASE_URL and "
            "DATABASE_OWNER_URL."
        )
    return f"The embedded PostgreSQL could not be made:\n{words}"
