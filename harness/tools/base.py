"""What a tool is: a name, its input as a pydantic model, and what it declares about itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.actions import ActionClass
from harness.events import Event
from harness.sandbox import Sandbox
from harness.seam import Catalog, Nursery, PushDesk, RunSpec, SkillShelf, ToolSchema
from harness.stop import Stop
from harness.tools.files import Files
from harness.tools.shells import Shells


class ToolInput(BaseModel):
    model_config = ConfigDict(extra="ignore")


Input = TypeVar("Input", bound=ToolInput)


@dataclass(frozen=True)
class Output:
    """`content` is what the model reads, `detail` what a page shows beside it.

    `tells`: events that are stored with the result, before it.
    """

    content: str
    is_error: bool = False
    detail: Mapping[str, Any] = field(default_factory=dict)
    tells: tuple[Event, ...] = ()


class ToolProblem(Exception):
    """The call cannot be done as asked; the text goes to the model as the call's result."""


class Waiting(Exception):
    """The call cannot end now. The event, which the loop records, says what it waits for."""

    def __init__(self, event: Event) -> None:
        super().__init__(str(event.kind))
        self.event = event


@dataclass(frozen=True)
class Plan:
    """What a call is about to do, as the gate and the inbox see it. See `seam.GateCall`."""

    summary: str
    classes: frozenset[ActionClass] = frozenset()
    command: str = ""
    paths: tuple[str, ...] | None = ()
    hosts: tuple[str, ...] | None = ()
    refs: tuple[str, ...] | None = ()
    repositories: tuple[str, ...] | None = ()


@dataclass(frozen=True)
class Workbench:
    """What tools work with during one attempt of a run."""

    spec: RunSpec
    files: Files
    shells: Shells
    sandbox: Sandbox
    stop: Stop
    push_desk: PushDesk
    shelf: SkillShelf
    show: Callable[[str, str], None]  # (call id, piece of output) → shown while it runs
    catalog: Catalog | None = None
    nursery: Nursery | None = None


class Tool(Generic[Input]):
    """A tool of the built-in harness.

    `classes`: the action classes its calls may have; `plan` says which of them one call has.
    `mutates`: it changes something; then it must declare classes.
    `safe_to_repeat`: doing it twice is as good as once, so an interrupted call just runs again.
    `asked_by_desk`: the push desk asks, not the gate.
    `never_gated`: a mode's own output, or asking a person.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    classes: ClassVar[frozenset[ActionClass]] = frozenset()
    mutates: ClassVar[bool] = False
    safe_to_repeat: ClassVar[bool] = False
    asked_by_desk: ClassVar[bool] = False
    never_gated: ClassVar[bool] = False
    input_type: type[Input]

    def plan(self, given: Input, bench: Workbench) -> Plan:
        raise NotImplementedError

    def run(self, given: Input, bench: Workbench, call_id: str) -> Output:
        """Does it. Raises ToolProblem, Waiting or OSError; the loop turns them into results."""
        raise NotImplementedError

    def parse(self, given: Mapping[str, Any]) -> Input:
        """The input as its type. Raises ToolProblem that names each wrong field."""
        try:
            return self.input_type.model_validate(given)
        except ValidationError as problem:
            lines = [
                f"{'.'.join(map(str, e['loc'])) or 'input'}: {e['msg']}" for e in problem.errors()
            ]
            raise ToolProblem("Wrong arguments. " + "; ".join(lines)) from problem

    @property
    def schema(self) -> ToolSchema:
        return ToolSchema(self.name, self.description, input_schema(self.input_type))


def input_schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """JSON schema without the titles that pydantic adds, which only cost tokens."""
    found = _without_titles(model.model_json_schema())
    assert isinstance(found, dict)
    return found


def _without_titles(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_titles(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {
        key: {name: _without_titles(inner) for name, inner in content.items()}
        if key == "properties"
        else _without_titles(content)
        for key, content in value.items()
        if not (key == "title" and isinstance(content, str))
    }
