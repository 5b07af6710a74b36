"""The shell: bash for commands that end, and for those that stay in the background."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from harness.actions import ActionClass
from harness.text import head_and_tail
from harness.tools.base import Output, Plan, Tool, ToolInput, ToolProblem, Workbench
from harness.tools.shells import Background, Ended
from outside.sentences import phrase


class BashInput(ToolInput):
    command: Annotated[str, Field(min_length=1, description="The command line")]
    directory: Annotated[str, Field(description="Where to run it, e.g. repos/site")] = "."
    timeout_seconds: Annotated[float | None, Field(gt=0, description="When to give up")] = None
    background: Annotated[bool, Field(description="Leave it running; read it later")] = False


class Bash(Tool[BashInput]):
    name: ClassVar[str] = "bash"
    description: ClassVar[str] = (
        "Run a command in bash. Nothing of it lives on after it returns, unless background is set:"
        " then it gives an id for shell_output and shell_stop. There is no terminal and no input."
    )
    classes: ClassVar[frozenset[ActionClass]] = frozenset({ActionClass.PROCESS_SPAWN})
    mutates: ClassVar[bool] = True
    input_type = BashInput

    def plan(self, given: BashInput, bench: Workbench) -> Plan:
        return Plan(
            phrase("Run %(command)s") % {"command": given.command.strip()},
            classes=self.classes,
            command=given.command,
            paths=None,
            hosts=None,
            refs=None,
            repositories=None,
        )

    def run(self, given: BashInput, bench: Workbench, call_id: str) -> Output:
        if "\0" in given.command:
            raise ToolProblem("A command cannot contain a NUL character.")
        directory = bench.files.find(given.directory).path
        if not directory.is_dir():
            raise ToolProblem(
                f"{given.directory} is not a directory, or it was removed; nothing was run"
                " elsewhere instead."
            )
        if given.background:
            shell = bench.shells.begin(given.command, directory=directory, call_id=call_id)
            return Output(f"Running in the background as {shell.id}.", detail={"shell": shell.id})
        limits = bench.spec.limits
        wanted = given.timeout_seconds or limits.shell_timeout_seconds
        ended = bench.shells.run(
            given.command,
            directory=directory,
            call_id=call_id,
            seconds=min(wanted, limits.shell_timeout_cap_seconds),
            stop=bench.stop,
            show=lambda text: bench.show(call_id, text),
        )
        return _report(ended)


def _report(ended: Ended) -> Output:
    text = ended.output.text().strip("\n")
    detail: dict[str, Any] = {
        "exit_code": ended.code,
        "bytes": ended.output.size,
        "seconds": round(ended.seconds, 3),
        "timed_out": ended.timed_out,
    }
    if ended.output.artefact:
        detail["artefact"] = str(ended.output.artefact)
    if ended.timed_out:
        note = f"(ended after {ended.seconds:.0f} s: the time was up; all of it was stopped)"
        return Output(f"{text}\n{note}".lstrip(), is_error=True, detail=detail)
    if ended.code:
        return Output(f"{text}\n(exit code {ended.code})".lstrip(), is_error=True, detail=detail)
    return Output(text or "(no output)", detail=detail)


class ShellInput(ToolInput):
    shell: Annotated[str, Field(description="The id that bash gave")]


class ShellOutput(Tool[ShellInput]):
    name: ClassVar[str] = "shell_output"
    description: ClassVar[str] = "Read what a background command has printed since the last time."
    input_type = ShellInput

    def plan(self, given: ShellInput, bench: Workbench) -> Plan:
        return Plan(phrase("Read the output of %(shell)s") % {"shell": given.shell})

    def run(self, given: ShellInput, bench: Workbench, call_id: str) -> Output:
        shell = _find(given.shell, bench)
        code = shell.process.poll()
        state = "(still running)" if code is None else f"(ended with exit code {code})"
        text = head_and_tail(shell.news(), bench.spec.limits.tool_output_bytes)
        return Output(f"{text}\n{state}".lstrip(), detail={"shell": shell.id, "exit_code": code})


class ShellStop(Tool[ShellInput]):
    name: ClassVar[str] = "shell_stop"
    description: ClassVar[str] = "End a background command and everything it started."
    safe_to_repeat: ClassVar[bool] = True
    input_type = ShellInput

    def plan(self, given: ShellInput, bench: Workbench) -> Plan:
        return Plan(phrase("End %(shell)s") % {"shell": given.shell})

    def run(self, given: ShellInput, bench: Workbench, call_id: str) -> Output:
        shell = _find(given.shell, bench)
        was_running = bench.shells.finish(shell.id)
        return Output("Ended." if was_running else "It had ended already.")


def _find(shell_id: str, bench: Workbench) -> Background:
    shell = bench.shells.find(shell_id)
    if shell is None:
        raise ToolProblem(
            f"There is no background command {shell_id}. Background commands do not outlive a wait"
            " for a person, nor the loss of a worker; start it again."
        )
    return shell
