"""The OS sandbox of shell commands: bubblewrap where the probe finds it, nothing where not.

Inside: the system read-only, the checkouts and the working directory at their own paths, a private
home and /tmp, no other process, no network but (through `socat`) the run's own gateway socket.
A run without a sandbox says so once, in a notice; the environment is scrubbed in both cases.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from harness.seam import Root, RunSpec

GATEWAY_PORT = 3128  # inside the sandbox, on its loopback
GATEWAY_ADDRESS = f"http://127.0.0.1:{GATEWAY_PORT}"
HOME = "/home/agent"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_ETC = (
    *("alternatives", "ca-certificates", "fonts", "group", "hosts", "ld.so.cache", "ld.so.conf"),
    *("ld.so.conf.d", "localtime", "magic", "mime.types", "nsswitch.conf", "passwd", "pki"),
    *("profile.d", "protocols", "resolv.conf", "services", "ssl", "terminfo", "timezone"),
)
_NAMESPACES = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--die-with-parent", "--new-session"),
)
_FORWARD = f"""\
socat TCP-LISTEN:{GATEWAY_PORT},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:/run/cc/gateway.sock &
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  (exec 3<>/dev/tcp/127.0.0.1/{GATEWAY_PORT}) 2>/dev/null && break
  sleep 0.02
done
"""


class Sandbox(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def is_closed(self) -> bool:
        """Whether it really keeps a command in, and ends all of it with it."""
        ...

    def line(self, command: str, directory: Path) -> list[str]:
        """The command line that runs `command` in bash, in `directory`."""
        ...

    def environment(self) -> dict[str, str]:
        """The whole environment of the process that is started; nothing of the server's."""
        ...


@dataclass(frozen=True)
class Probe:
    """What this machine offers. `problem` says in words why there is no sandbox."""

    bwrap: str = ""
    socat: str = ""
    problem: str = ""

    @property
    def is_usable(self) -> bool:
        return bool(self.bwrap) and not self.problem


@cache
def probe() -> Probe:
    """Looks for bubblewrap and socat and tries them once a process."""
    bwrap, socat = shutil.which("bwrap"), shutil.which("socat")
    if not bwrap or not socat:
        missing = " and ".join(
            name for name, found in (("bubblewrap", bwrap), ("socat", socat)) if not found
        )
        return Probe(problem=f"{missing} is not installed")
    trial = [bwrap, *_NAMESPACES, *_system(), "/bin/true"]
    try:
        done = subprocess.run(trial, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return Probe(bwrap, socat, f"bubblewrap does not start: {problem}")
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        return Probe(bwrap, socat, f"bubblewrap does not work here: {said}")
    return Probe(bwrap, socat)


class NoSandbox(Exception):
    """A sandbox is required and cannot be had."""


def choose(spec: RunSpec) -> Sandbox:
    """The sandbox of this run. Raises NoSandbox when one is required and none works here."""
    found = probe()
    if spec.sandbox == "off" or not found.is_usable:
        if spec.sandbox == "required":
            raise NoSandbox(found.problem)
        reason = found.problem or "the operator turned the sandbox off"
        return Unsandboxed(_scrubbed(spec.environment), reason)
    return Bubblewrap(
        program=found.bwrap,
        spec=spec,
        variables={**_scrubbed(spec.environment), "HOME": HOME},
    )


@dataclass(frozen=True)
class Unsandboxed:
    variables: Mapping[str, str]
    reason: str
    name: str = "none"
    is_closed: bool = False

    def line(self, command: str, directory: Path) -> list[str]:
        # The kernel ends the command when the worker dies; the sandbox has its own way.
        guard = shutil.which("setpriv")
        head = [guard, "--pdeathsig", "KILL", "--"] if guard else []
        return [*head, "bash", "-c", f"cd {shlex.quote(str(directory))} && {{ {command}\n}}"]

    def environment(self) -> dict[str, str]:
        home = self.variables.get("HOME") or "/nonexistent"
        return {"PATH": os.environ.get("PATH", PATH), "HOME": home, **self.variables}


@dataclass(frozen=True)
class Bubblewrap:
    program: str
    spec: RunSpec
    variables: Mapping[str, str]
    name: str = "bubblewrap"
    is_closed: bool = True

    def line(self, command: str, directory: Path) -> list[str]:
        script = f"{_FORWARD if self.spec.gateway_socket else ''}{command}\n"
        inside = ["--chdir", str(directory), "bash", "-c", script]
        return [self.program, *_NAMESPACES, *_system(), *self._mounts(), *inside]

    def environment(self) -> dict[str, str]:
        # Handed through, not set by an option: command lines can be read by all of the machine.
        return dict(self.variables)

    def _mounts(self) -> Iterator[str]:
        home = self.spec.home_directory
        yield from ("--bind", str(home), HOME) if home else ("--dir", HOME)
        may_write = self.spec.mode == "chat"
        bind = "--bind" if may_write else "--ro-bind"
        here = str(self.spec.working_directory)
        yield from (bind, here, here)
        for root in self.spec.roots:
            yield from _mount_root(root, may_write=may_write)
        for path in (*self.spec.skill_directories, self.spec.artefact_directory):
            yield from ("--ro-bind-try", str(path), str(path))
        if socket := self.spec.gateway_socket:
            yield from ("--ro-bind", str(socket), "/run/cc/gateway.sock")


def _mount_root(root: Root, *, may_write: bool) -> Iterator[str]:
    """Work tree and git directory; what git would run programs from stays read-only, and so does
    the mirror whose objects it borrows. Later mounts win."""
    bind = "--bind" if may_write and root.writable else "--ro-bind"
    yield from (bind, str(root.path), str(root.path))
    if root.checkout is None:
        return
    git_dir, mirror = root.checkout.shared, root.checkout.mirror
    yield from ("--ro-bind", str(mirror), str(mirror))
    yield from (bind, str(git_dir), str(git_dir))
    for part in ("config", "hooks"):
        yield from ("--ro-bind-try", str(git_dir / part), str(git_dir / part))


@cache
def _system() -> tuple[str, ...]:
    words = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "lib", "lib32", "lib64", "sbin"):
        path = Path("/", name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            words += ["--ro-bind", str(path), str(path)]
    for name in _ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    words += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run"]
    return tuple(words)


def _scrubbed(added: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the server's environment but the locale; what the run needs is added by name."""
    return {
        "PATH": PATH,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "false",
        **added,
    }
