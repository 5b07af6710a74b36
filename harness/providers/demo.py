"""The demo: a scripted model with no AI in it, for a newcomer without a key.

It looks at what was asked, finds a scene that fits and plays it with real tools: a real file, a
real commit, a real push that waits for a real decision. It says what it is each time it speaks
first, and what it can do when it has no scene.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.conversation import AgentTurn, Result, Turn, UserTurn
from harness.seam import (
    BlockDone,
    CallPiece,
    ModelRequest,
    Piece,
    ProviderKind,
    TextPiece,
    TurnDone,
    Usage,
)
from harness.stop import Stop

KIND: ProviderKind = "demo"
PACE_SECONDS = 0.03  # between two words, so that one can watch

HELLO = "I am the demo: a script, no AI."
ABILITIES = """\
{hello} I cannot think about a question, but what I do is real: real tools, real files, real \
commits, and a push that waits for your decision. Try one of these:

- "add a CHANGELOG and push it"
- "list the files"
- "read the README"
- "run `git log --oneline`"
- "delegate a look at the files"

For real work, give this workspace a model under Settings → Models."""
NO_REPOSITORY = (
    "{hello} There is no repository in this conversation, so there is nothing I could {do}. Add one"
    " under Repositories, put it into this space, and ask me again."
)
NO_TOOL = (
    "{hello} To do that I would need the tool {tool}, and this mode or this agent's settings do not"
    " give it to me."
)


@dataclass(frozen=True)
class Made:
    """A call of this scene that has its result."""

    name: str
    input: Mapping[str, Any]
    result: Result


@dataclass(frozen=True)
class Reply:
    text: str = ""
    call: tuple[str, dict[str, Any]] | None = None


@dataclass(frozen=True)
class Stage:
    """What the script can see: the last thing said, what it did about it, where it works."""

    said: str
    made: Sequence[Made]
    repositories: Sequence[str]
    tools: frozenset[str]
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def repository(self) -> str:
        """The checkout that was named, else the first one."""
        named = [name for name in self.repositories if name.lower() in self.said.lower()]
        return (named or list(self.repositories))[0]

    def last(self, name: str) -> Made | None:
        return next((made for made in reversed(self.made) if made.name == name), None)


class DemoClient:
    kind: ProviderKind = KIND

    def __init__(self, *, pace_seconds: float = PACE_SECONDS) -> None:
        self._pace = pace_seconds

    def stream(self, request: ModelRequest, stop: Stop) -> Iterator[Piece]:
        number = sum(isinstance(turn, AgentTurn) for turn in request.messages) + 1
        reply = respond(stage(request))
        index = 0
        if reply.text:
            for word in re.findall(r"\S+\s*", reply.text):
                stop.wait(self._pace)
                yield TextPiece(index, word)
            yield BlockDone(index, "text", {"type": "text", "text": reply.text})
            index += 1
        if reply.call:
            name, given = reply.call
            call_id = f"demo_{number}"
            stop.wait(self._pace)
            yield CallPiece(index, "")
            block = {"type": "tool_use", "id": call_id, "name": name, "input": given}
            yield BlockDone(index, "tool_call", block, call_id, name, given)
        stop.check()
        reason = "tools" if reply.call else "end"
        yield TurnDone(reason, Usage(), f"demo_message_{number}", "demo")  # type: ignore[arg-type]

    def models(self) -> Sequence[str]:
        return ("demo",)

    def close(self) -> None:
        pass


def stage(request: ModelRequest) -> Stage:
    said, made = _since_last_word(request.messages)
    system = "\n".join(request.system)
    return Stage(
        said=said,
        made=made,
        repositories=re.findall(r"^- repos/([^/\n]+)/", system, re.MULTILINE),
        tools=frozenset(tool.name for tool in request.tools),
    )


def _since_last_word(turns: Sequence[Turn]) -> tuple[str, list[Made]]:
    start = max(i for i, t in enumerate(turns) if isinstance(t, UserTurn) and (t.texts or not i))
    first = turns[start]
    assert isinstance(first, UserTurn)
    made: list[Made] = []
    for agent, user in zip(turns[start + 1 :: 2], turns[start + 2 :: 2], strict=False):
        if isinstance(agent, AgentTurn) and isinstance(user, UserTurn):
            results = {result.call_id: result for result in user.results}
            made += [Made(c.name, c.input or {}, results[c.call_id]) for c in agent.calls]
    return (first.texts[-1] if first.texts else ""), made


def respond(stage: Stage) -> Reply:
    """What the demo says and does next."""
    scene = next((play for pattern, play in SCENES if pattern.search(stage.said)), _introduce)
    reply = scene(stage)
    if reply.call and reply.call[0] not in stage.tools:
        return Reply(NO_TOOL.format(hello=HELLO, tool=reply.call[0]))
    return reply


# Scenes


def _introduce(stage: Stage) -> Reply:
    return Reply(ABILITIES.format(hello=HELLO))


def _changelog(stage: Stage) -> Reply:
    """Look, read, write, commit, push; each step from the result of the one before."""
    if not stage.repositories:
        return Reply(NO_REPOSITORY.format(hello=HELLO, do="add a CHANGELOG to"))
    name = stage.repository
    if not stage.made:
        text = f"{HELLO} I will really do this in {name}. First I look at what is there."
        return Reply(text, ("glob", {"pattern": "*", "path": f"repos/{name}"}))
    last = stage.made[-1]
    if last.result.is_error and last.name not in ("read", "git_push"):
        return Reply(f"{last.name} did not work: {last.result.content}\n\nI stop here.")
    if last.name == "glob":
        return _look_closer(name, last.result.content)
    if last.name == "read":
        return _write(name, last)
    if last.name in ("write", "edit"):
        message = "Add a changelog" if last.name == "write" else "Note the demo in the changelog"
        text = "The file is written; the diff is above. Now I commit it under my own name."
        return Reply(text, ("git_commit", {"repository": name, "message": message}))
    if last.name == "git_commit" and _wants_push(stage):
        text = f"{last.result.content} Now I push it. A rule or a person decides whether it leaves."
        return Reply(text, ("git_push", {"repository": name}))
    if last.name == "git_push":
        return Reply(_after_push(last.result, name))
    return Reply(f"Done: {last.result.content} I did not push, because you did not ask me to.")


def _look_closer(name: str, listing: str) -> Reply:
    files = {line.rsplit("/", 1)[-1] for line in listing.split("\n")}
    existing = next((f for f in sorted(files) if f.upper().startswith("CHANGELOG")), None)
    readme = next((f for f in sorted(files) if f.upper().startswith("README")), None)
    if existing:
        text = f"There is a {existing} already, so I add to it. I read it first."
        return Reply(text, ("read", {"path": f"repos/{name}/{existing}", "limit": 40}))
    if readme:
        text = f"There is no changelog yet. The {readme} tells me what the project is called."
        return Reply(text, ("read", {"path": f"repos/{name}/{readme}", "limit": 40}))
    text = "There is neither a changelog nor a README. I begin the changelog."
    return Reply(text, ("write", _new_changelog(name, name)))


def _write(name: str, read: Made) -> Reply:
    path = str(read.input["path"])
    heading = _heading(read.result.content)
    if "changelog" not in path.lower() or read.result.is_error or not heading:
        title = heading.lstrip("# ") or name
        return Reply(f"I write a changelog for {title}.", ("write", _new_changelog(name, title)))
    entry = f"{heading}\n\n## Unreleased\n\n- The demo of Control Center was here."
    return Reply("I add an entry.", ("edit", {"path": path, "old": heading, "new": entry}))


def _new_changelog(name: str, title: str) -> dict[str, Any]:
    content = (
        "# Changelog\n\n"
        f"What changed in {title}, newest first.\n\n"
        "## Unreleased\n\n"
        "- Added this changelog.\n"
    )
    return {"path": f"repos/{name}/CHANGELOG.md", "content": content}


def _heading(numbered: str) -> str:
    lines = [line.partition("\t")[2] for line in numbered.split("\n") if "\t" in line]
    return next((line for line in lines if line.startswith("# ") and lines.count(line) == 1), "")


def _push(stage: Stage) -> Reply:
    if not stage.repositories:
        return Reply(NO_REPOSITORY.format(hello=HELLO, do="push"))
    name = stage.repository
    if (last := stage.last("git_push")) is not None:
        return Reply(_after_push(last.result, name))
    text = f"{HELLO} I push {name} as it is. A rule or a person decides whether it leaves."
    return Reply(text, ("git_push", {"repository": name}))


def _after_push(result: Result, name: str) -> str:
    if result.is_error:
        return (
            f"The push did not go out. {result.content}\n\nThe commit is kept in the checkout of"
            f" {name}; nothing is lost, and nothing left the building."
        )
    return f"Done. {result.content}\n\nThat was the whole way: change, commit, decision, push."


def _list_files(stage: Stage) -> Reply:
    if (last := stage.last("glob")) is not None:
        return Reply(f"These are the files I can see:\n\n{_fenced(last.result.content)}")
    path = f"repos/{stage.repository}" if stage.repositories else "."
    return Reply(
        f"{HELLO} Listing files is something I can do.", ("glob", {"pattern": "**", "path": path})
    )


def _read_file(stage: Stage) -> Reply:
    if (last := stage.last("read")) is not None:
        if last.result.is_error:
            return Reply(f"I could not read it: {last.result.content}")
        return Reply(f"This is what it says:\n\n{_fenced(last.result.content)}")
    named = re.search(r"[\w./-]+\.\w+", stage.said)
    if named:
        path = named.group()
        if stage.repositories and not path.startswith("repos/"):
            path = f"repos/{stage.repository}/{path}"
        return Reply(f"{HELLO} I read {path}.", ("read", {"path": path}))
    if (found := stage.last("glob")) is not None:
        first = found.result.content.split("\n")[0]
        if found.result.is_error or "README" not in first.upper():
            return Reply("There is no README here. Name a file, and I read that.")
        return Reply("Found it.", ("read", {"path": first}))
    path = f"repos/{stage.repository}" if stage.repositories else "."
    return Reply(f"{HELLO} I look for the README.", ("glob", {"pattern": "README*", "path": path}))


def _run_command(stage: Stage) -> Reply:
    if (last := stage.last("bash")) is not None:
        how = "It ended with an error:" if last.result.is_error else "It printed:"
        return Reply(f"{how}\n\n{_fenced(last.result.content)}")
    found = COMMAND.search(stage.said)
    command = next((part for part in found.groups() if part), "") if found else ""
    if not command.strip():
        return Reply(f"{HELLO} Tell me which command, like this: run `git status`")
    given = {"command": command.strip()}
    if stage.repositories:
        given["directory"] = f"repos/{stage.repository}"
    return Reply(f"{HELLO} I run the command as you wrote it.", ("bash", given))


def _delegate(stage: Stage) -> Reply:
    """One subagent, which is a script too, with a context and a transcript of its own."""
    if (last := stage.last("agent")) is not None:
        if last.result.is_error:
            return Reply(f"No subagent did it: {last.result.content}")
        return Reply(f"The subagent gave this back:\n\n{_fenced(last.result.content)}")
    where = f"repos/{stage.repository}" if stage.repositories else "your working directory"
    given = {
        "description": "List the files",
        "prompt": f"List the files in {where}.",
        "subagent_type": "Explore",
    }
    text = f"{HELLO} I start a subagent for it; open it to see what it does."
    return Reply(text, ("agent", given))


def _wants_push(stage: Stage) -> bool:
    return bool(PUSH.search(stage.said))


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


PUSH = re.compile(r"\b(push|publish|empurr\w+|envi\w+)\b", re.IGNORECASE)
COMMAND = re.compile(
    r"\b(?:run|execute|rode|executa)\b[^`\n]{0,80}`([^`\n]+)`|\b(?:run|execute|rode|executa):(.+)",
    re.IGNORECASE,
)
SCENES: tuple[tuple[re.Pattern[str], Callable[[Stage], Reply]], ...] = (
    (re.compile(r"\b(subagents?|delegate|delega\w*)\b", re.IGNORECASE), _delegate),
    (re.compile(r"\b(run|execute|rode|executa)\b", re.IGNORECASE), _run_command),
    (re.compile(r"\bchange\s?log\b", re.IGNORECASE), _changelog),
    (
        re.compile(r"\b(read|readme|open|show|leia|mostr\w+)\b.*(readme|\.\w+)|^\W*readme", re.I),
        _read_file,
    ),
    (re.compile(r"\b(list|files|ls|tree|arquivos|ficheiros)\b", re.IGNORECASE), _list_files),
    (PUSH, _push),
)
