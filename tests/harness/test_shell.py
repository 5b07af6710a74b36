"""Shell commands: kept in, ended whole, their output bounded; with the sandbox and without."""

import errno
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from harness import errors, sandbox
from harness.events import Kind
from harness.seam import Limits, RunSpec
from harness.stop import StopReason
from harness.tools.base import Workbench
from harness.tools.shells import Captured
from tests.harness.conftest import use
from tests.harness.kit import World, make_root, make_spec, talking_to
from tests.remote.server import Remote
from tests.scripted.anthropic import scripted
from tests.scripted.script import Call, Step

MakeBench = Callable[[RunSpec], Workbench]
SANDBOXES = [
    pytest.param("auto", marks=pytest.mark.needs("bwrap", "socat"), id="sandboxed"),
    pytest.param("off", id="unsandboxed"),
]


@pytest.fixture(params=SANDBOXES)
def bench(request: pytest.FixtureRequest, tmp_path: Path, bench_for: MakeBench) -> Workbench:
    return bench_for(make_spec(tmp_path, sandbox=request.param))


def living(mark: str) -> list[psutil.Process]:
    """Processes whose command line has the mark."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if mark in (process.info["cmdline"] or []) and process.status() != psutil.STATUS_ZOMBIE
    ]


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.01)


def test_output_and_exit_code(bench: Workbench) -> None:
    good = use(bench, "bash", command="echo out; echo err >&2")
    assert (good.content, good.is_error) == ("out\nerr", False)
    bad = use(bench, "bash", command="echo no; exit 3")
    assert (bad.content, bad.is_error, bad.detail["exit_code"]) == ("no\n(exit code 3)", True, 3)
    assert use(bench, "bash", command="true").content == "(no output)"


def test_it_runs_where_it_is_told(bench: Workbench) -> None:
    (bench.files.here / "deep er").mkdir()
    out = use(bench, "bash", command="pwd; cat; tty || true", directory="deep er").content
    assert out.split("\n")[0] == str(bench.files.here / "deep er")
    assert "not a tty" in out


def test_the_servers_environment_stays_out(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-key")
    monkeypatch.setenv("DATABASE_URL", "postgres://secret-key@db")
    out = use(
        bench, "bash", command="env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'"
    ).content
    if bench.sandbox.is_closed:
        assert "secret-key" not in out
    else:
        assert "secret-key" not in use(bench, "bash", command="env").content


def test_what_the_run_gives_it_is_there(tmp_path: Path, bench_for: MakeBench) -> None:
    for kind in ("auto", "off"):
        spec = make_spec(tmp_path, sandbox=kind, environment={"GREETING": "hello world"})
        assert use(bench_for(spec), "bash", command="echo $GREETING").content == "hello world"


@pytest.mark.needs("bwrap", "socat")
def test_what_the_run_gives_it_stands_in_no_command_line(tmp_path: Path) -> None:
    """Every user of the machine reads command lines; the run's git token is in its environment."""
    for kind in ("required", "off"):
        spec = make_spec(tmp_path, sandbox=kind, environment={"TOKEN": "run-token"})
        chosen = sandbox.choose(spec)
        assert "run-token" not in " ".join(chosen.line("true", tmp_path))
        assert chosen.environment()["TOKEN"] == "run-token"


def test_a_command_that_takes_too_long_is_ended_whole(bench: Workbench) -> None:
    out = use(bench, "bash", command="echo begun; sleep 301 & sleep 301", timeout_seconds=0.3)
    assert out.is_error
    assert out.detail["timed_out"] is True
    assert out.content.startswith("begun\n(ended after")
    wait_until(lambda: not living("301"))


def test_nothing_lives_on_after_a_command(bench: Workbench) -> None:
    out = use(bench, "bash", command="sleep 302 & setsid sleep 302 & disown -a; echo done")
    assert out.content.strip() == "done"
    wait_until(lambda: not living("302"))
    assert not living("302")


def test_a_command_that_closes_its_output_and_goes_on_is_waited_for(bench: Workbench) -> None:
    out = use(bench, "bash", command="exec >&- 2>&-; sleep 0.2; exit 4")
    assert out.detail["exit_code"] == 4


def test_a_stop_ends_it_within_a_second(tmp_path: Path) -> None:
    for kind in ("auto", "off"):
        world = World(make_spec(tmp_path, sandbox=kind))
        asked: list[float] = []

        def stop(delta: object, world: World = world, asked: list[float] = asked) -> None:
            if getattr(delta, "kind", "") == "output" and not asked:
                asked.append(time.monotonic())
                world.stop.request(StopReason.CANCEL)

        world.journal.on_delta = stop
        command = "echo up; setsid sleep 303 & sleep 303"
        with scripted(Step(calls=[Call("bash", {"command": command})])) as server:
            ended = world.run(**talking_to(server))
        assert isinstance(ended, errors.Cancelled)
        wait_until(lambda: not living("303"))


def test_background_commands(bench: Workbench) -> None:
    command = "for i in 1 2 3; do echo $i; done; sleep 304"
    shell = use(bench, "bash", command=command, background=True).detail["shell"]
    seen = []

    def has_all() -> bool:
        seen.append(use(bench, "shell_output", shell=shell).content)
        return "3" in "".join(seen)

    wait_until(has_all)
    assert "(still running)" in seen[-1]
    assert use(bench, "shell_stop", shell=shell).content == "Ended."
    wait_until(lambda: not living("304"))
    assert "ended with exit code" in use(bench, "shell_output", shell=shell).content


def test_a_background_command_that_floods_is_never_stuck(bench: Workbench) -> None:
    command = "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end"
    shell = use(bench, "bash", command=command, background=True).detail["shell"]
    heard: list[str] = []

    def has_ended() -> bool:
        heard.append(use(bench, "shell_output", shell=shell).content)
        return "(ended" in heard[-1]

    wait_until(has_ended)
    assert "end" in "".join(heard)


# Output


@pytest.mark.parametrize("size", [65_000, 1_100_000, 10 * 2**20])
def test_one_huge_line_shows_its_ends_and_is_kept_whole(bench: Workbench, size: int) -> None:
    out = use(
        bench, "bash", command=f"printf begin; head -c {size} /dev/zero | tr '\\0' x; printf end"
    )
    assert out.content.startswith("begin")
    assert out.content.endswith("end")
    assert len(out.content) < bench.spec.limits.tool_output_bytes + 500
    artefact = Path(out.detail["artefact"])
    assert artefact.stat().st_size == size + 8
    assert str(artefact) in out.content, "the agent is told where the rest is"
    assert "x" in use(bench, "read", path=str(artefact)).content


def test_odd_bytes_are_ordinary_output(bench: Workbench) -> None:
    out = use(bench, "bash", command=r"printf 'a\0b\xff\x1b[31mred\x1b[0m\r\nend'").content
    assert out == "a␀b�red\nend"


def test_captured_output_keeps_head_and_tail(tmp_path: Path) -> None:
    captured = Captured(tmp_path / "kept", shown=10, stored=50)
    for letter in b"abcdefghijklmnopqrstuvwxyz" * 4:
        captured.add(bytes([letter]))
    text = captured.text()
    assert text.startswith("abcde\n[… 94 of 104 bytes left out")
    assert text.endswith("vwxyz")
    assert (tmp_path / "kept").stat().st_size == 50, "the file has a limit of its own"


# The sandbox

in_sandbox = pytest.mark.needs("bwrap", "socat")


@in_sandbox
def test_the_sandbox_keeps_it_in(tmp_path: Path, bench_for: MakeBench) -> None:
    (tmp_path / "secret").write_text("key")
    bench = bench_for(make_spec(tmp_path))
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    tried = {
        "read outside": f"cat {tmp_path}/secret",
        "write system": "touch /usr/bin/evil",
        "read accounts": "cat /etc/shadow",
        "see processes": f"kill -0 {os.getpid()}",
        "network": "exec 3<>/dev/tcp/1.1.1.1/53",
        "loopback of the host": f"exec 3<>/dev/tcp/127.0.0.1/{port}",
        "home of the server": "ls /root/.ssh /home/*/.ssh",
    }
    for what, command in tried.items():
        assert use(bench, "bash", command=command).is_error, what
    listening.close()
    assert use(bench, "bash", command="echo $HOME; echo ok > mine; cat mine").content == (
        "/home/agent\nok"
    )


@in_sandbox
def test_git_works_inside_and_its_programs_cannot_be_planted(
    tmp_path: Path, remote: Remote, bench_for: MakeBench
) -> None:
    root = make_root(tmp_path, remote, "apple", {"README.md": "# Apple\n"})
    bench = bench_for(make_spec(tmp_path, roots=(root,)))
    where = {"directory": "repos/apple"}
    assert "nothing to commit" in use(bench, "bash", command="git status", **where).content
    use(bench, "bash", command="git switch -q -c work && echo x > new && git add new", **where)
    assert "new file" in use(bench, "bash", command="git status", **where).content
    assert root.checkout
    for command in (
        "git config core.fsmonitor evil",
        f"echo evil > {root.checkout.git_dir}/hooks/pre-commit",
        f"echo evil >> {root.checkout.git_dir}/config",
        f"touch {root.checkout.mirror}/evil",
        f"ls {root.checkout.view}",
    ):
        assert use(bench, "bash", command=command, **where).is_error, command


@in_sandbox
def test_a_read_only_checkout_is_so_for_the_shell_too(
    tmp_path: Path, remote: Remote, bench_for: MakeBench
) -> None:
    root = replace(make_root(tmp_path, remote, "apple", {"a": "a\n"}), writable=False)
    bench = bench_for(make_spec(tmp_path, roots=(root,)))
    assert use(bench, "bash", command="echo b > a", directory="repos/apple").is_error


@in_sandbox
def test_only_the_gateway_is_reached(tmp_path: Path, bench_for: MakeBench) -> None:
    path = tmp_path / "gateway.sock"
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()

    def answer() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                if connection.recv(100):
                    connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nhello from the gateway\n")

    answering = threading.Thread(target=answer, daemon=True)
    answering.start()
    bench = bench_for(make_spec(tmp_path, gateway_socket=path))
    ask = "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3"
    assert "hello from the gateway" in use(bench, "bash", command=ask).content
    server.shutdown(socket.SHUT_RDWR)
    answering.join(5)
    server.close()


def test_without_a_sandbox_the_run_says_so_once(tmp_path: Path) -> None:
    world = World(make_spec(tmp_path, sandbox="off"))
    for _ in range(2):
        with scripted(Step(text="Hello.")) as server:
            world.run(**talking_to(server))
    codes = [data.get("code") for data in world.journal.of(Kind.NOTICE)]
    assert codes == ["no_sandbox"]


def test_a_required_sandbox_that_is_not_there_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox.probe.cache_clear()
    try:
        ended = World(make_spec(tmp_path, sandbox="required")).run()
    finally:
        monkeypatch.undo()
        sandbox.probe.cache_clear()
    assert isinstance(ended, errors.Finished)
    assert "needs a sandbox" in ended.summary
    assert "bubblewrap and socat is not installed" in ended.summary


def test_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wire to the disk is what fails: a file that cannot take a byte more."""
    real = os.fchmod

    def full(*arguments: int) -> None:
        if arguments:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(*arguments)

    monkeypatch.setattr(os, "fchmod", full)
    world = World(make_spec(tmp_path))
    with scripted(Step(calls=[Call("write", {"path": "a", "content": "a"})])) as server:
        ended = world.run(**talking_to(server))
    assert isinstance(ended, errors.DiskFull)
    assert world.journal.of(Kind.ERROR)[-1]["code"] == "disk_full"
    assert list(world.spec.working_directory.iterdir()) == [], "nothing half done"


def test_limits_of_time_cannot_be_passed(tmp_path: Path, bench_for: MakeBench) -> None:
    limits = Limits(shell_timeout_seconds=5, shell_timeout_cap_seconds=0.2)
    bench = bench_for(make_spec(tmp_path, limits=limits))
    out = use(bench, "bash", command="sleep 305", timeout_seconds=9999)
    assert out.detail["timed_out"] is True
