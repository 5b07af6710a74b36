"""Git: commits are made by the server's hardened git, pushes are judged and forwarded by the push
desk. No hook, filter or configuration of the repository is run by either."""

from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from harness import events
from harness.actions import ActionClass
from harness.seam import Forwarded, Held, PushWish, Refused, Root
from harness.tools.base import Output, Plan, Tool, ToolInput, ToolProblem, Waiting, Workbench
from outside import git
from outside.sentences import phrase

Repository = Annotated[str, Field(description="Name of the checkout; may be left out if only one")]


class CommitInput(ToolInput):
    message: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1),
        Field(description="First line says what; then why"),
    ]
    repository: Repository = ""
    paths: Annotated[
        list[str] | None, Field(description="Only these, relative to the checkout; else everything")
    ] = None


class GitCommit(Tool[CommitInput]):
    name: ClassVar[str] = "git_commit"
    description: ClassVar[str] = (
        "Commit the changes of a checkout on its current branch, new and deleted files included,"
        " under your own name. Hooks do not run."
    )
    classes: ClassVar[frozenset[ActionClass]] = frozenset({ActionClass.GIT_COMMIT})
    mutates: ClassVar[bool] = True
    input_type = CommitInput

    def plan(self, given: CommitInput, bench: Workbench) -> Plan:
        root, _ = _checkout(given.repository, bench)
        return Plan(
            phrase("Commit in %(repository)s: %(subject)s")
            % {
                "repository": root.name,
                "subject": given.message.splitlines()[0],
            },
            classes=self.classes,
            repositories=(root.name,),
            paths=tuple(given.paths) if given.paths else None,
            refs=None,
        )

    def run(self, given: CommitInput, bench: Workbench, call_id: str) -> Output:
        root, checkout = _checkout(given.repository, bench)
        signer = bench.spec.git_identity
        identity = git.Identity(signer.name, signer.email)
        try:
            made = git.commit(
                checkout,
                _with_trailer(given.message, signer.trailer),
                author=identity,
                committer=identity,
                paths=given.paths,
            )
            branch, _ = git.head(checkout)
        except git.GitError as problem:
            raise ToolProblem(problem.sentence) from problem
        detail = {"repository": root.name, "commit": made.oid, "branch": branch}
        return Output(f"Committed {made.oid[:12]} on {branch} in {root.name}.", detail=detail)


class PushInput(ToolInput):
    repository: Repository = ""
    branch: Annotated[
        str, Field(description="Branch at the remote; else the name of the current one")
    ] = ""
    force: Annotated[bool, Field(description="Replace what is there; loses it")] = False


class GitPush(Tool[PushInput]):
    name: ClassVar[str] = "git_push"
    description: ClassVar[str] = (
        "Push the current branch of a checkout to its remote. A rule or a person decides; you"
        " learn the outcome. One push is enough."
    )
    classes: ClassVar[frozenset[ActionClass]] = frozenset({ActionClass.GIT_PUSH})
    mutates: ClassVar[bool] = True
    asked_by_desk: ClassVar[bool] = True
    # The desk joins a push of the same commits to the open request; after that it is up to date.
    safe_to_repeat: ClassVar[bool] = True
    input_type = PushInput

    def plan(self, given: PushInput, bench: Workbench) -> Plan:
        root, _ = _checkout(given.repository, bench)
        _, target = _refs(given, bench)
        verb = (
            phrase("Force-push %(ref)s of %(name)s")
            if given.force
            else phrase("Push %(ref)s of %(name)s")
        )
        return Plan(
            verb % {"ref": target.removeprefix("refs/heads/"), "name": root.name},
            classes=self.classes,
            repositories=(root.name,),
            refs=(target,),
            hosts=None,
        )

    def run(self, given: PushInput, bench: Workbench, call_id: str) -> Output:
        root, _ = _checkout(given.repository, bench)
        source, target = _refs(given, bench)
        wish = PushWish(
            root.name, root.path, "origin", (f"{source}:{target}",), given.force, call_id
        )
        detail = {"repository": root.name, "ref": target, "force": given.force}
        match bench.push_desk.request(wish):
            case Held(approval_id=approval_id):
                raise Waiting(events.asked(approval_id, call_id=call_id))
            case Forwarded(text=text):
                return Output(text, detail={**detail, "outcome": "forwarded"})
            case Refused(reason=reason):
                return Output(reason, is_error=True, detail={**detail, "outcome": "refused"})


def _checkout(name: str, bench: Workbench) -> tuple[Root, git.Checkout]:
    roots = [root for root in bench.spec.roots if root.name == name or not name]
    if len(roots) != 1:
        known = ", ".join(root.name for root in bench.spec.roots) or "none"
        what = f"There is no checkout {name}." if name else "Say which repository."
        raise ToolProblem(f"{what} Checkouts here: {known}.")
    root = roots[0]
    if root.checkout is None:
        raise ToolProblem(f"{root.name} is not under git.")
    if not root.writable:
        raise ToolProblem(f"{root.name} is read-only here.")
    return root, root.checkout


def _refs(given: PushInput, bench: Workbench) -> tuple[str, str]:
    """(what is pushed, where to), as full refs."""
    _, checkout = _checkout(given.repository, bench)
    try:
        branch, commit = git.head(checkout)
    except git.GitError as problem:
        raise ToolProblem(problem.sentence) from problem
    if not branch:
        raise ToolProblem("The checkout is on no branch. Make one with git switch -c NAME.")
    if commit is None:
        raise ToolProblem("There is nothing to push: the branch has no commit yet.")
    wanted = given.branch.removeprefix("refs/heads/") or branch
    return f"refs/heads/{branch}", f"refs/heads/{wanted}"


def _with_trailer(message: str, trailer: str) -> str:
    message = message.strip()
    if not trailer or trailer in message:
        return message
    last = message.rsplit("\n\n", 1)[-1] if "\n\n" in message else ""
    joins = bool(last) and all(": " in line for line in last.split("\n"))
    return f"{message}{chr(10) if joins else chr(10) * 2}{trailer}"
