"""`python -m controlcenter.local up`: everything, or the role that CC_ROLE names."""

import gc
import os
import socket
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from controlcenter import env
from controlcenter.local import children, data_directory, keys, ports, programs
from controlcenter.local.announcing import FirstPage
from controlcenter.local.console import Console
from controlcenter.local.engines import (
    Engine,
    Engines,
    of_data_directory,
    short_temporary_folder,
    socket_folder,
)
from controlcenter.local.errors import StartError
from controlcenter.local.janitor import Janitor
from controlcenter.local.processes import Running
from controlcenter.local.supervisor import Job, Supervisor
from controlcenter.local.workers import pools

DEFAULT_PORT = 8765
# What Valkey and Celery say at each start and stop, and nobody can use.
HARMLESS = (
    "the database system is starting up",
    "Memory overcommit must be enabled",
    "Received SIGTERM scheduling shutdown",
    "Valkey is now ready to exit",
    "worker: Warm shutdown",
)
ROLES = ("web", "gateway", "worker", "scheduler")


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line or in the environment."""

    data: Path
    host: str
    port: int | None
    role: str
    opens_browser: bool

    @property
    def roles(self) -> tuple[str, ...]:
        return ROLES if self.role == "all" else (self.role,)


def up(options: Options) -> int:
    """Start, serve until INT or TERM, stop. Returns the exit code; raises StartError."""
    data_directory.prepare(options.data)
    # Many processes of single roles share a data directory; of starts of everything there is one.
    lock = data_directory.Lock(options.data) if options.role == "all" else None
    # Before the first child and thread; it inherits the lock and frees it last.
    janitor = Janitor()
    supervisor = Supervisor(Console(harmless=HARMLESS), janitor)
    try:
        with data_directory.explaining(options.data):
            Start(options, supervisor, janitor, lock).run()
    finally:
        supervisor.pump(0)
        supervisor.stop_all()
        janitor.close()
        if supervisor.has_started:
            supervisor.console.say("Stopped.")
    return 0


class Start:
    """One start, step by step."""

    def __init__(
        self,
        options: Options,
        supervisor: Supervisor,
        janitor: Janitor,
        lock: data_directory.Lock | None,
    ) -> None:
        self._options = options
        self._supervisor = supervisor
        self._janitor = janitor
        self._lock = lock
        self._listeners: dict[str, socket.socket] = {}

    def run(self) -> None:
        began_at = time.monotonic()
        self._listen()
        self._start_engines()
        self._migrate()
        self._start_roles()
        if self._lock:
            self._lock.announce(self.address)
        if "web" not in self._listeners:
            self._supervisor.console.say(f"The role {self._options.role} is running.")
        first_page = FirstPage(
            self._listeners.get("web"),
            self.address,
            data=self._options.data,
            say=self._supervisor.console.say,
            opens_browser=self._options.opens_browser,
            began_at=began_at,
        )
        self._supervisor.run(first_page.look)
        self._supervisor.console.say("Stopping.")

    @property
    def address(self) -> str:
        listener = self._listeners.get("web")
        return ports.url(self._options.host, listener.getsockname()[1]) if listener else ""

    def _listen(self) -> None:
        """Take the ports before anything is started: a taken one is said at once."""
        options = self._options
        if "web" in options.roles:
            self._listeners["web"] = self._web_listener()
        if "gateway" in options.roles:
            self._listeners["gateway"] = self._gateway_listener()
        elif "worker" in options.roles and _is_gateway_elsewhere():
            self._listeners["relay"] = self._door()
        is_reachable = not ports.is_loopback(options.host)
        keys.offer_setup_token(options.data, is_reachable=is_reachable)
        if is_reachable:
            _allow_own_names(options.host)

    def _web_listener(self) -> socket.socket:
        options = self._options
        wanted = DEFAULT_PORT if options.port is None else options.port
        listener = ports.listen(options.host, wanted, may_move=options.port is None)
        port = listener.getsockname()[1]
        if port != wanted and wanted:
            holder = ports.holder_of(wanted)
            self._supervisor.console.say(f"Port {wanted} is taken by {holder}; {port} it is.")
        os.environ["CC_PORT"] = str(port)
        return listener

    def _gateway_listener(self) -> socket.socket:
        host = env.text("CC_GATEWAY_HOST", "127.0.0.1")
        asked = env.number("CC_GATEWAY_PORT", 0, high=65535)
        listener = ports.listen(host, asked or DEFAULT_PORT + 1, may_move=not asked)
        os.environ.setdefault("CC_GATEWAY_URL", ports.url(host, listener.getsockname()[1]))
        door = socket_folder(self._options.data) / "gateway.sock"
        os.environ.setdefault("CC_GATEWAY_SOCKET", str(door))
        return listener

    def _door(self) -> socket.socket:
        """What leads sandboxed commands of this machine to a gateway on another one."""
        folder = Path(tempfile.mkdtemp(prefix="cc-", dir=short_temporary_folder()))
        self._janitor.folder(folder)
        path = folder / "gateway.sock"
        door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        door.bind(str(path))
        door.listen()
        os.environ["CC_GATEWAY_SOCKET"] = str(path)
        return door

    def _start_engines(self) -> None:
        options = self._options
        os.environ["CC_DATA_DIR"] = str(options.data)
        _require_addresses(embedded=options.role == "all")
        engines = self._engines()
        os.environ.update(engines.environment)
        # A new database has lost no key: the program may make them while the files are made.
        engines.create(meanwhile=programs.load)
        jobs = [
            Job(name, _starting(engine), stop=engine.stop) for name, engine in engines.named.items()
        ]
        running = {job.name: self._supervisor.start(job) for job in jobs}
        # Usually no key is missing, and the program is loaded while the database wakes up.
        if not keys.missing(options.data):
            programs.load()
        engines.wait_ready(running)
        keys.ensure(options.data, database_url=os.environ["DATABASE_URL"])
        programs.load()
        # From here on the children share what is loaded: nothing of it is garbage.
        gc.collect()
        gc.freeze()

    def _engines(self) -> Engines:
        data = self._options.data
        if self._options.role != "all":
            return Engines(None, None)
        sockets = socket_folder(data)
        if not sockets.is_relative_to(data):
            self._janitor.folder(sockets)
        return of_data_directory(data, sockets=sockets)

    def _migrate(self) -> None:
        if self._options.role == "all":
            job = Job("migrate", self._forking("migrate", programs.migrate, keeps_owner=True))
            if self._supervisor.finish(job) != 0 and not self._supervisor.stopping:
                data_directory.prepare(self._options.data)  # a full disk is said as such
                raise StartError("The database could not be brought to this version; see above.")

    def _start_roles(self) -> None:
        for name, program in self._programs():
            if not self._supervisor.stopping:
                self._supervisor.start(Job(name, self._forking(name, program)))

    def _programs(self) -> list[tuple[str, Callable[[], object]]]:
        found: list[tuple[str, Callable[[], object]]] = []
        for role in self._options.roles:
            match role:
                case "web" | "gateway":
                    if listener := self._listeners.get(role):
                        found.append((role, partial(getattr(programs, role), listener)))
                case "worker":
                    if door := self._listeners.get("relay"):
                        found.append(("relay", partial(programs.relay, door)))
                    found += [
                        (f"worker:{pool.name}", partial(programs.worker, pool)) for pool in pools()
                    ]
                case _:
                    found.append(("scheduler", programs.scheduler))
        return found

    def _forking(
        self, name: str, program: Callable[[], object], *, keeps_owner: bool = False
    ) -> Callable[[int], Running]:
        def start(output: int) -> Running:
            used = [
                part for part in getattr(program, "args", ()) if isinstance(part, socket.socket)
            ]
            held = [self._lock.fileno()] if self._lock else []
            unused = [one.fileno() for one in self._listeners.values() if one not in used]
            return children.fork(
                program if keeps_owner else partial(_as_application, program),
                name=name,
                output=output,
                closing=[*self._supervisor.descriptors, *held, *unused],
            )

        return start


def _as_application(program: Callable[[], object]) -> None:
    # What a role starts in turn (a CLI, a shell) must not find the way to the tables' owner.
    os.environ.pop("DATABASE_OWNER_URL", None)
    program()


def _is_gateway_elsewhere() -> bool:
    return bool(os.environ.get("CC_GATEWAY_URL")) and not os.environ.get("CC_GATEWAY_SOCKET")


def _starting(engine: Engine) -> Callable[[int], Running]:
    return lambda output: engine.start(output=output)


def _require_addresses(*, embedded: bool) -> None:
    named = os.environ
    wanted = [] if embedded else ["DATABASE_URL", "REDIS_URL"]
    if embedded and named.get("DATABASE_URL"):
        wanted = ["DATABASE_OWNER_URL"]
    missing = [name for name in wanted if not named.get(name)]
    if missing:
        raise StartError(f"Please set {' and '.join(missing)} too.")


def _allow_own_names(host: str) -> None:
    names = ["localhost", "127.0.0.1", "[::1]", *ports.names_of_this_machine()]
    if host not in {"", "0.0.0.0", "::"}:
        names.append(host)
    os.environ.setdefault("CC_ALLOWED_HOSTS", ",".join(dict.fromkeys(names)))
