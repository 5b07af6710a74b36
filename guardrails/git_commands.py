"""What a git command does: which classes, which refs, and whether it rewrites."""

from dataclasses import dataclass, field

from guardrails.actions import Word, Words
from guardrails.classes import ActionClass
from guardrails.programs import names

_PUSHERS = frozenset({"push", "send-pack", "send-email", "http-push"})
_COMMITTERS = names("commit merge rebase cherry-pick revert am pull tag commit-tree fast-import")
_FETCHERS = names("fetch pull clone ls-remote submodule remote archive")
_DELETERS = frozenset({"rm", "clean"})
_KNOWN = (
    _PUSHERS
    | _COMMITTERS
    | _FETCHERS
    | _DELETERS
    | names(
        "add apply bisect blame branch bundle cat-file check-attr check-ignore check-mailmap"
        " check-ref-format checkout cherry column config count-objects credential describe diff"
        " diff-files diff-index diff-tree difftool fast-export filter-branch filter-repo"
        " for-each-ref format-patch fsck gc grep hash-object help init interpret-trailers lfs log"
        " ls-files ls-tree maintenance merge-base merge-file merge-tree mktag mktree mv name-rev"
        " notes pack-objects pack-refs prune range-diff read-tree reflog repack replace rerere"
        " reset restore rev-list rev-parse shortlog show show-branch show-ref sparse-checkout stash"
        " status stripspace subtree switch symbolic-ref unpack-objects update-index update-ref var"
        " verify-commit verify-pack verify-tag version whatchanged worktree write-tree svn p4 lfs"
    )
)
_GLOBAL_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env",
                            "--exec-path", "--super-prefix", "--attr-source"})  # fmt: skip
_PUSH_VALUED = frozenset({"-o", "--push-option", "--repo", "--receive-pack", "--exec"})
_REWRITING = frozenset({"-f", "--force", "--delete", "-d", "--mirror", "--prune",
                        "--force-with-lease", "--force-if-includes"})  # fmt: skip
_PLAIN_PUSH = names(
    "-u --set-upstream -v --verbose -q --quiet --progress --no-verify --porcelain -n --dry-run"
    " --atomic --no-atomic --thin --no-thin --follow-tags --no-follow-tags --ipv4 --ipv6 -4 -6"
    " --signed --no-signed --no-force-with-lease"
)


@dataclass(slots=True)
class GitFacts:
    """`words` are the command without its global options; refs None where not spelled out."""

    words: Words
    classes: set[ActionClass] = field(default_factory=set)
    refs: tuple[str, ...] | None = None
    rewrites: bool | None = False
    lines: list[str] = field(default_factory=list)
    opaque: bool = False


def undashed(words: Words) -> Words:
    """`git-push origin` → `git push origin`: git's own programs by their file names."""
    name = (words[0] or "").rsplit("/", 1)[-1]
    subcommand = name.removeprefix("git-")
    return ("git", subcommand, *words[1:]) if subcommand != name and subcommand in _KNOWN else words


def read_git(words: Words) -> GitFacts:
    """The facts of a `git …` command. A subcommand that nobody knows may be an alias: opaque."""
    at, aliases = 1, False
    while at < len(words) and (word := words[at]) is not None and word.startswith("-"):
        if word == "-c" and at + 1 < len(words):
            aliases = aliases or (words[at + 1] or "alias.").startswith("alias.")
        at += 2 if word in _GLOBAL_VALUED else 1
    facts = GitFacts(words=(words[0], *words[at:]))
    if at >= len(words):
        return facts
    subcommand, rest = words[at], words[at + 1 :]
    if subcommand is None or subcommand not in _KNOWN or aliases:
        facts.opaque = True
    if subcommand is not None:
        _classify(facts, subcommand, rest)
    return facts


def _classify(facts: GitFacts, subcommand: str, rest: Words) -> None:
    second = rest[0] if rest else ""
    if subcommand in _PUSHERS or (subcommand, second) in _PUSHING_PAIRS:
        facts.classes |= {ActionClass.GIT_PUSH, ActionClass.NETWORK_EGRESS}
        if subcommand == "push":
            _read_push(facts, rest)
        else:
            facts.rewrites = None
    if subcommand in _COMMITTERS:
        facts.classes.add(ActionClass.GIT_COMMIT)
    if subcommand in _FETCHERS:
        facts.classes.add(ActionClass.NETWORK_EGRESS)
    if subcommand in _DELETERS or (subcommand, second) == ("worktree", "remove"):
        facts.classes.add(ActionClass.FILE_DELETE)
    if subcommand == "credential":
        facts.classes.add(ActionClass.SECRET_ACCESS)
    _find_lines(facts, subcommand, rest)


_PUSHING_PAIRS = {("lfs", "push"), ("subtree", "push"), ("svn", "dcommit"), ("p4", "submit"),
                  ("notes", "push")}  # fmt: skip


def _find_lines(facts: GitFacts, subcommand: str, rest: Words) -> None:
    """Commands that git runs for the caller."""
    texts: list[Word] = []
    if subcommand == "submodule" and "foreach" in rest:
        texts.append(_joined(rest[rest.index("foreach") + 1 :]))
    if subcommand == "bisect" and rest[:1] == ("run",):
        texts.append(_joined(rest[1:]))
    if subcommand == "rebase":
        texts += [rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("-x", "--exec")]
        texts += [word[7:] for word in rest if word is not None and word.startswith("--exec=")]
    if subcommand == "filter-branch":
        texts.append(None)
    facts.opaque = facts.opaque or None in texts
    facts.lines += [text for text in texts if text]


def _joined(words: Words) -> Word:
    known = [word for word in words if word is not None and word != "--recursive"]
    return None if None in words else " ".join(known)


def _read_push(facts: GitFacts, rest: Words) -> None:
    named: list[str] = []
    is_spelled_out = True
    words = iter(rest)
    for word in words:
        if word is None:
            is_spelled_out = False
        elif word in _PUSH_VALUED:
            next(words, None)
        elif word.split("=", 1)[0] in _REWRITING:
            facts.rewrites = True
            is_spelled_out = is_spelled_out and word not in ("--mirror", "--prune")
        elif word.startswith("-"):
            if word.split("=", 1)[0] not in (*_PLAIN_PUSH, *_PUSH_VALUED):
                is_spelled_out = False
                facts.rewrites = facts.rewrites or _rewrites_shortly(word)
        else:
            named.append(word)
    if None in rest and not facts.rewrites:
        facts.rewrites = None
    refspecs = named[1:]
    if any(spec.startswith(("+", ":")) for spec in refspecs):
        facts.rewrites = True
    refs = [_target(spec) for spec in refspecs]
    facts.refs = tuple(filter(None, refs)) if is_spelled_out and refs and all(refs) else None


def _rewrites_shortly(option: str) -> bool | None:
    """`-fu` is a force as well; an unknown long option may be anything."""
    if option.startswith("--"):
        return None if option not in ("--all", "--branches", "--tags") else False
    return "f" in option or "d" in option


def _target(refspec: str) -> str | None:
    """The remote's ref; None for one that only git can complete, such as HEAD, @ or a tag."""
    source, colon, target = refspec.lstrip("+").partition(":")
    ref = target if colon else source
    if not ref or ref in ("HEAD", "@", "tag") or "~" in ref or "^" in ref or "*" in ref:
        return None
    return ref
