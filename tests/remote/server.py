"""A git remote over smart HTTP on loopback that records every read and every write.

It stands in for a hosting site: `git http-backend` behind a threading server, with optional basic
auth, and with switches for trouble (down, slow, refusing, redirecting).
"""

import base64
import json
import os
import subprocess
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ENV = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Remote",
    "GIT_AUTHOR_EMAIL": "remote@example.invalid",
    "GIT_COMMITTER_NAME": "Remote",
    "GIT_COMMITTER_EMAIL": "remote@example.invalid",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One request: kind is `read`, `probe`, `write` or `denied`; a write lists its commands."""

    kind: str
    repository: str
    status: int
    commands: list[tuple[str, str, str]] = field(default_factory=list)
    authorization: str = ""


@dataclass(slots=True)
class Remote:
    """The far end. `entries` is what happened; `writes` what reached receive-pack."""

    root: Path
    log: Path | None = None
    credential: tuple[str, str] | None = None
    private_reads: bool = False
    moved: dict[str, str] = field(default_factory=dict)
    fail_with: int = 0
    cut_reads_at: int = 0
    before_write: Callable[[], None] | None = None
    after_write: Callable[[], None] | None = None
    entries: list[Entry] = field(default_factory=list)
    port: int = 0

    @property
    def writes(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == "write"]

    @property
    def reads(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == "read"]

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def note(self, entry: Entry) -> None:
        self.entries.append(entry)
        if self.log:
            with self.log.open("a") as file:
                file.write(json.dumps(asdict(entry)) + "\n")

    def git(self, name: str, *arguments: str, text: str | None = None) -> str:
        """Runs git in one of the repositories, as its owner would."""
        return run_git(self.root / name, *arguments, text=text)

    def create(self, name: str, files: Mapping[str, str] | None = None) -> str:
        """A bare repository, with a first commit when files are given. Returns its address."""
        path = self.root / name
        path.mkdir(parents=True)
        run_git(path, "init", "-q", "--bare", "-b", "main")
        run_git(path, "config", "http.receivepack", "true")
        run_git(path, "config", "receive.advertisePushOptions", "true")
        if files:
            self.commit(name, files, message="First commit")
        return self.address(name)

    def commit(
        self, name: str, files: Mapping[str, str], *, message: str = "More", branch: str = "main"
    ) -> str:
        """Adds a commit to a branch. Returns its id."""
        path = self.root / name
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": f"{folder}/index"}
            parent = self.tip(name, branch)
            if parent:
                run_git(path, "read-tree", parent, env=index)
            for file, content in files.items():
                blob = run_git(path, "hash-object", "-w", "--stdin", text=content)
                run_git(
                    path, "update-index", "--add", "--cacheinfo", f"100644,{blob},{file}", env=index
                )
            tree = run_git(path, "write-tree", env=index)
        parents = ["-p", parent] if parent else []
        oid = run_git(path, "commit-tree", tree, *parents, "-m", message)
        run_git(path, "update-ref", f"refs/heads/{branch}", oid)
        return oid

    def tip(self, name: str, branch: str = "main") -> str:
        """The branch's commit, or an empty text."""
        return run_git(self.root / name, "rev-parse", "--verify", "-q", f"refs/heads/{branch}")

    def refs(self, name: str) -> dict[str, str]:
        lines = run_git(
            self.root / name, "for-each-ref", "--format=%(refname) %(objectname)"
        ).splitlines()
        return dict(line.split(" ", 1) for line in lines)


def run_git(
    path: Path, *arguments: str, text: str | None = None, env: Mapping[str, str] | None = None
) -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=path,
        env={**ENV, **(env or {})},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise AssertionError(f"git {arguments}: {done.stderr}")
    return done.stdout.strip()


@contextmanager
def serve(root: Path, *, port: int = 0, log: Path | None = None) -> Iterator[Remote]:
    """Within: the remote answers on loopback."""
    root.mkdir(parents=True, exist_ok=True)
    remote = Remote(root, log)

    class Bound(_Handler):
        far_end = remote

    server = ThreadingHTTPServer(("127.0.0.1", port), Bound)
    server.daemon_threads = True
    remote.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield remote
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    far_end: Remote
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """The entries are the log."""

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self._body())

    def _serve(self, body: bytes) -> None:
        remote, parts = self.far_end, urlsplit(self.path)
        name = unquote(parts.path).strip("/").split("/")[0]
        is_write = "receive-pack" in self.path
        plain = _plain(body, self.headers.get("Content-Encoding", ""))
        commands = _commands(plain) if is_write and body else []
        kind = "write" if commands else ("probe" if is_write else "read")
        authorization = self.headers.get("Authorization", "")
        if name in remote.moved:
            self._answer(301, b"", {"Location": self.path.replace(name, remote.moved[name], 1)})
            return
        if not self._may(write=is_write):
            remote.note(Entry("denied", name, 401, commands, authorization))
            self._answer(401, b"", {"WWW-Authenticate": 'Basic realm="remote"'})
            return
        if remote.fail_with:
            remote.note(Entry("denied", name, remote.fail_with, commands, authorization))
            self._answer(remote.fail_with, b"trouble")
            return
        if commands and remote.before_write:
            remote.before_write()
        status, headers, content = self._backend(parts.path, parts.query, body)
        remote.note(Entry(kind, name, status, commands, authorization))
        if commands and remote.after_write:
            remote.after_write()
        self._answer(status, content, headers)

    def _may(self, *, write: bool) -> bool:
        if self.far_end.credential is None or not (write or self.far_end.private_reads):
            return True
        expected = base64.b64encode(":".join(self.far_end.credential).encode()).decode()
        return self.headers.get("Authorization") == f"Basic {expected}"

    def _backend(self, path: str, query: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        environment = {
            **ENV,
            "GIT_PROJECT_ROOT": str(self.far_end.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": unquote(path),
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "someone",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(headers.pop("Status", "200").split()[0])
        return status, headers, content

    def _answer(
        self, status: int, content: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "POST" and self.far_end.cut_reads_at:
            content = content[: self.far_end.cut_reads_at]
            self.close_connection = True
        self.wfile.write(content)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(_chunks(self.rfile))
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))


def _chunks(stream: BufferedIOBase) -> Iterator[bytes]:
    while size := int(stream.readline().split(b";")[0], 16):
        yield stream.read(size)
        stream.readline()
    stream.readline()


def _plain(body: bytes, encoding: str) -> bytes:
    return zlib.decompress(body, 31) if encoding == "gzip" else body


def _commands(body: bytes) -> list[tuple[str, str, str]]:
    """(ref, old, new) of a receive-pack request; nothing for a probe."""
    found, at = [], 0
    while (size := int(body[at : at + 4] or b"0", 16)) >= 4:
        line = body[at + 4 : at + size].split(b"\0")[0].decode("utf-8", "replace").strip()
        at += size
        if line.startswith("shallow"):
            continue
        old, new, ref = line.split(" ", 2)
        found.append((ref, old, new))
    return found
