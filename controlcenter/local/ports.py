"""Listening sockets, held by the supervisor so that a restarting server refuses nobody."""

import errno
import ipaddress
import socket
import subprocess
from pathlib import Path

from controlcenter.local import processes
from controlcenter.local.errors import StartError

TRIES = 20


def listen(host: str, port: int, *, may_move: bool) -> socket.socket:
    """A listening socket on `port`, or on the next free one when it `may_move`."""
    ports = range(port, min(port + TRIES, 65536)) if may_move and port else [port]
    for candidate in ports:
        try:
            return _listen(host, candidate)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise StartError(_cannot_listen(host, candidate, error)) from error
    if not may_move:
        raise StartError(
            f"Port {port} is taken by {holder_of(port)}. Stop it, or choose another with --port."
        )
    raise StartError(f"None of the ports {port} to {ports[-1]} is free. Choose one with --port.")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def url(host: str, port: int) -> str:
    """What a person on this machine types into a browser."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}.get(host, host)
    if ":" in shown and not shown.startswith("["):
        shown = f"[{shown}]"
    return f"http://{shown}:{port}"


def holder_of(port: int) -> str:
    """Who listens on the port, as far as this user may see it."""
    pid = _listener_by_proc(port) if processes.HAS_PROC else _listener_by_lsof(port)
    if pid is None:
        return "another program (of another user)"
    command = processes.command_of(pid)
    return f"process {pid}: {command[:160]}" if command else f"process {pid}"


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(512)
    except OSError:
        listener.close()
        raise
    return listener


def _cannot_listen(host: str, port: int, error: OSError) -> str:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine. Choose another with --host."
    if error.errno == errno.EACCES:
        return f"Port {port} is reserved for the system. Choose one above 1023 with --port."
    return f"Cannot listen on {host}:{port}: {error.strerror}."


def _listener_by_proc(port: int) -> int | None:
    inodes = {
        fields[9]
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for fields in _rows(Path(table))
        if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port
    }
    wanted = {f"socket:[{inode}]" for inode in inodes}
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if str(descriptor.readlink()) in wanted:
                return int(descriptor.parts[2])
        except OSError:
            continue
    return None


def _rows(table: Path) -> list[list[str]]:
    return [line.split() for line in table.read_text().splitlines()[1:]] if table.exists() else []


def _listener_by_lsof(port: int) -> int | None:
    try:
        found = subprocess.run(
            ["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-t"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return int(found.stdout.split()[0]) if found.stdout.split() else None


def names_of_this_machine() -> list[str]:
    """Names and addresses under which others on the network may reach us."""
    name = socket.gethostname()
    names = {name, socket.getfqdn()}
    try:
        names.update(str(entry[4][0]) for entry in socket.getaddrinfo(name, None))
        # Nothing is sent: connecting a datagram socket only picks the way out.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))
            names.add(str(probe.getsockname()[0]))
    except OSError:
        return sorted(names)
    return sorted(f"[{name}]" if ":" in name else name for name in names)
