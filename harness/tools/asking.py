"""Tools around the work itself: the todo list, a question to a person, a skill's instructions."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness import events
from harness.seam import ChildWish, NoSkill
from harness.tools.base import Output, Plan, Tool, ToolInput, ToolProblem, Waiting, Workbench
from harness.tools.delegating import start
from outside.sentences import phrase

MARKS = {"open": "[ ]", "doing": "[~]", "done": "[x]"}


class Todo(ToolInput):
    text: str
    state: Literal["open", "doing", "done"] = "open"


class TodoInput(ToolInput):
    todos: Annotated[list[Todo], Field(max_length=100, description="The whole list, in order")]


class TodoList(Tool[TodoInput]):
    name: ClassVar[str] = "todo"
    description: ClassVar[str] = (
        "Keep a list of what is to be done for work of several steps. Give the whole list each"
        " time; people see it."
    )
    safe_to_repeat: ClassVar[bool] = True
    input_type = TodoInput

    def plan(self, given: TodoInput, bench: Workbench) -> Plan:
        return Plan(phrase("Update the todo list"))

    def run(self, given: TodoInput, bench: Workbench, call_id: str) -> Output:
        lines = [f"{MARKS[todo.state]} {todo.text}" for todo in given.todos]
        detail = {"todos": [todo.model_dump() for todo in given.todos]}
        return Output("\n".join(lines) or "The list is empty.", detail=detail)


class AskInput(ToolInput):
    question: Annotated[str, Field(min_length=1)]
    options: Annotated[
        list[str] | None, Field(max_length=8, description="Possible answers, if there are some")
    ] = None


class AskUser(Tool[AskInput]):
    name: ClassVar[str] = "ask_user"
    description: ClassVar[str] = (
        "Ask a person, when you cannot go on without an answer. The run waits for it; that may take"
        " hours, so do everything else first."
    )
    never_gated: ClassVar[bool] = True
    input_type = AskInput

    def plan(self, given: AskInput, bench: Workbench) -> Plan:
        return Plan(phrase("Ask: %(question)s") % {"question": given.question})

    def run(self, given: AskInput, bench: Workbench, call_id: str) -> Output:
        data: events.MessageData = {"role": "agent", "text": given.question, "call_id": call_id}
        if given.options:
            data["options"] = given.options
        raise Waiting(events.event(events.Kind.MESSAGE, data))


class SkillInput(ToolInput):
    name: Annotated[str, Field(description="Name from the index; repository:name where it says so")]


class Skill(Tool[SkillInput]):
    name: ClassVar[str] = "skill"
    description: ClassVar[str] = "Read the instructions of one of your skills."
    safe_to_repeat: ClassVar[bool] = True
    input_type = SkillInput

    def plan(self, given: SkillInput, bench: Workbench) -> Plan:
        return Plan(phrase("Read the skill %(name)s") % {"name": given.name})

    def run(self, given: SkillInput, bench: Workbench, call_id: str) -> Output:
        try:
            body = bench.shelf.body(given.name)
        except NoSkill as problem:
            raise ToolProblem(str(problem)) from problem
        runs_in = _runs_in(given.name, bench)
        if body is not None and runs_in is not None and bench.spec.may_delegate:
            task = phrase("The skill %(name)s") % {"name": given.name}
            return start(ChildWish(call_id, task, body, agent=runs_in, unasked=True), bench)
        if body is None:
            known = ", ".join(line.full_name for line in bench.shelf.index()) or "none"
            raise ToolProblem(f"There is no skill {given.name} to read. Skills here: {known}.")
        return Output(body, detail={"skill": given.name})


def _runs_in(name: str, bench: Workbench) -> str | None:
    """The agent that a skill of the index runs in, None for one that is read where it is called."""
    lines = (line for line in bench.shelf.index() if name in (line.full_name, line.name))
    return next((line.runs_in for line in lines), None)
