"""What changes a repository, a tracker or a registry without `git push`: calls of their APIs, and
the commands that make them. By spelling, so it can be evaded: the fences are sandbox and gateway.
"""

import re

from guardrails.actions import Word, Words
from guardrails.classes import ActionClass
from guardrails.programs import names

PROGRAMS = names("gh glab hub tea jira acli linear")

_READING_VERBS = names(
    "view list status diff checks checkout clone search browse watch download show get ls token"
)
_READING_GROUPS = names("auth config help completion version search browse alias api")
_PULL_GROUPS = frozenset({"pr", "mr", "pulls", "pull", "pull-request", "merge-request"})
_TRACKER_GROUPS = frozenset({"issue", "issues", "project", "label", "milestone", "sprint", "epic",
                             "discussion", "incident", "task"})  # fmt: skip
_REF_GROUPS = frozenset({"release", "releases", "repo", "repos", "gist", "snippet"})
_HUB_PUSHES = frozenset({"push", "sync", "create", "fork", "am"})
_SENDING = frozenset({"-f", "-F", "--field", "--raw-field", "--input"})

_FORGE = re.compile(
    r"\b(github|gitlab|bitbucket|codeberg|gitea|visualstudio|azure)\.(com|org)\b|\bgit\.sr\.ht\b"
    r"|/api/v[34](/|$)|/api/v1/(repos|user|orgs|admin)\b|/api/graphql|/_apis/git\b"
    r"|/rest/api/(1\.0|latest)/(projects|repos)|/git-receive-pack|/info/lfs/"
)
_TRACKER = re.compile(
    r"\.atlassian\.net\b|\bapi\.linear\.app\b|\bapi\.trello\.com\b|\bapp\.asana\.com\b"
    r"|/rest/api/[23]/issue"
)
_REGISTRY = re.compile(
    r"\b(upload\.pypi\.org|registry\.npmjs\.org|crates\.io/api|rubygems\.org/api)\b"
)
_ANYTHING = {ActionClass.GIT_PUSH, ActionClass.PR_CREATE, ActionClass.PR_PUBLISH,
             ActionClass.TRACKER_WRITE}  # fmt: skip


def forge_classes(name: str, arguments: Words) -> set[ActionClass]:
    """The classes of a command of gh, glab, hub, tea, jira or linear. Unknown verbs publish."""
    words = _without_options(arguments)
    group = words[0] if words else ""
    verb = words[1] if len(words) > 1 else ""
    if group is None:
        return {ActionClass.PR_PUBLISH, ActionClass.TRACKER_WRITE}
    if group == "api":
        return _api_classes(arguments)
    if group == "auth" and (verb == "token" or {"-t", "--show-token"} & set(arguments)):
        return {ActionClass.SECRET_ACCESS}
    if name == "hub" and group in _HUB_PUSHES:
        return {ActionClass.GIT_PUSH}
    if not group or group in _READING_GROUPS or verb in _READING_VERBS:
        return set()
    if group in _PULL_GROUPS:
        is_new = verb in ("create", "new", "c") or (name == "hub" and group == "pull-request")
        return {ActionClass.PR_CREATE if is_new else ActionClass.PR_PUBLISH}
    if group in _TRACKER_GROUPS or name in ("jira", "acli", "linear"):
        return {ActionClass.TRACKER_WRITE}
    return {ActionClass.GIT_PUSH if group in _REF_GROUPS else ActionClass.PR_PUBLISH}


def write_classes(address: str, said: str = "") -> set[ActionClass]:
    """What a writing call to this address does, beside reaching the network; nothing that we know
    of when it is none of a forge, a tracker or a registry. `said` is what is sent, where seen."""
    where = address.lower()
    if _TRACKER.search(where):
        return {ActionClass.TRACKER_WRITE}
    if _REGISTRY.search(where):
        return {ActionClass.PR_PUBLISH}
    return _route_classes(where, said) if _FORGE.search(where) else set()


def _route_classes(route: str, said: str) -> set[ActionClass]:
    """By the route of a forge's API; an unknown one may do anything to the repository."""
    if "graphql" in route:
        return set() if _only_asks(said) else set(_ANYTHING)
    if "/pulls/" in route or "/merge_requests/" in route:
        return {ActionClass.PR_PUBLISH}
    if "/pulls" in route or "/merge_requests" in route:
        return {ActionClass.PR_CREATE}
    if "/issues" in route:
        return {ActionClass.TRACKER_WRITE}
    return {ActionClass.GIT_PUSH}


def _only_asks(said: str) -> bool:
    """Whether the text is a GraphQL query that one sees and that changes nothing."""
    return "query" in said and not re.search(r"mutation|subscription|@", said)


def _without_options(arguments: Words) -> list[Word]:
    words, found = iter(arguments), []
    for word in words:
        if word in ("-R", "--repo", "--hostname", "-p", "--project"):
            next(words, None)
        elif word is None or not word.startswith("-"):
            found.append(word)
    return found


def _api_classes(arguments: Words) -> set[ActionClass]:
    method, sends = _method_of(arguments), any(map(_sends, arguments))
    if method.upper() in ("GET", "HEAD") or not (method or sends):
        return set()
    text = " ".join(word or "graphql @" for word in arguments)
    is_from_file = any(word is None or word.startswith("--input") for word in arguments)
    return _route_classes(text.lower(), "@" if is_from_file else text)


def _method_of(arguments: Words) -> str:
    """The last one counts; "?" where it is not spelled out."""
    method = ""
    for at, word in enumerate(arguments):
        if word in ("-X", "--method") and at + 1 < len(arguments):
            method = arguments[at + 1] or "?"
        elif word is not None and word.startswith("--method="):
            method = word.removeprefix("--method=")
        elif word is not None and (glued := re.match(r"-[a-eg-zG-Z]*X=?(.+)", word)):
            method = glued[1]
    return method


def _sends(word: Word) -> bool:
    if word is None:
        return True
    return word.split("=")[0] in _SENDING or bool(re.match(r"-[a-zA-Z]*[fF]", word))
