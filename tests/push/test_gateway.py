"""A push typed in a shell: held, decided, forwarded once by the server; real git over real HTTP."""

import re
import threading

import pytest

from guardrails.approvals import Answer
from repositories import pushing
from repositories.gateway.environment import environment_of
from repositories.models import PushRequest
from tests.push.conftest import Said, Story, begin, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.req("CC-56")
def test_a_push_is_held_and_nothing_leaves(story: Story) -> None:
    story.commit("one\n")
    said = story.git("push", "origin", "main")
    request = story.request()
    assert said.code == 1
    assert "! [remote rejected] main -> main (held, request 1)" in said.text
    assert "Do not push again" in said.text
    assert (request.state, request.number) == ("held", 1)
    assert story.remote.writes == []
    assert story.remote.tip("apple") == story.prepared.base


@pytest.mark.req("CC-56")
def test_after_the_yes_the_server_forwards_the_held_push_itself(story: Story) -> None:
    tip = story.commit("one\n")
    story.git("push", "origin", "main")
    story.decide(story.request())
    assert story.forward(story.request()) == "forwarded"
    assert story.remote.tip("apple") == tip
    assert len(story.remote.writes) == 1
    assert story.forward(story.request()) == "forwarded"
    assert len(story.remote.writes) == 1
    assert [end.state for end in story.bench.ends] == ["forwarded"]
    assert "Everything up-to-date" in story.git("push", "origin", "main").text
    assert story.git("status", "-sb").text.strip() == "## main...origin/main"


def test_after_the_no_the_agent_is_told_why_and_nothing_leaves(story: Story) -> None:
    story.commit("one\n")
    story.git("push", "origin", "main")
    story.decide(story.request(), Answer.DENY)
    request = story.request()
    assert (request.state, request.outcome) == ("refused", "Refused by @ada. tests red")
    assert story.forward(request) == "refused"
    assert story.remote.writes == []
    assert story.bench.ends[0].sentence == request.outcome


def test_a_decision_within_the_hold_ends_the_push_at_once(story: Story, settings: object) -> None:
    settings.PUSH_HOLD_SECONDS = 60  # type: ignore[attr-defined]
    tip = story.commit("one\n")
    said: list[Said] = []
    pushing_now = threading.Thread(target=lambda: said.append(story.git("push", "origin", "main")))
    pushing_now.start()
    wait_for(story.requests)
    story.decide(story.request())
    story.forward(story.request())
    pushing_now.join(30)
    assert said[0].code == 0
    assert (
        "remote: Control Center: the push is held: request 1 waits for a decision." in said[0].text
    )
    assert f"main is at {tip[:12]} on the remote" in said[0].text


def test_a_push_that_a_rule_allows_goes_straight_through(story: Story) -> None:
    story.bench.answer = "allow"
    tip = story.commit("one\n")
    said = story.git("push", "origin", "main")
    assert said.code == 0
    assert story.remote.tip("apple") == tip
    assert story.request().state == "forwarded"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("deny", "No pushes on Fridays"),
        ("missing", "Pushes cannot be judged on this server"),
        ("break", "The server could not judge this push"),
    ],
)
def test_a_push_that_a_rule_denies_or_nobody_can_judge_is_refused_in_words(
    story: Story, answer: str, reason: str
) -> None:
    story.bench.answer = answer
    story.commit("one\n")
    said = story.git("push", "origin", "main")
    assert said.code == 1
    assert f"! [remote rejected] main -> main ({reason}" in said.text
    assert story.remote.writes == []


def test_the_same_push_again_joins_the_open_request(story: Story) -> None:
    story.commit("one\n")
    first = story.git("push", "origin", "main")
    second = story.git("push", "origin", "main")
    assert "held, request 1" in first.text
    assert "held, request 1" in second.text
    assert len(story.requests()) == 1
    assert len(story.bench.seen) == 1


def test_an_amended_commit_is_another_push(story: Story) -> None:
    story.commit("one\n")
    story.git("push", "origin", "main")
    story.decide(story.request())
    (story.path / "README.md").write_text("worse\n")
    story.git("commit", "-qa", "--amend", "--no-edit")
    assert "held, request 2" in story.git("push", "origin", "main").text
    approved, amended = story.requests()
    assert story.forward(approved) == "forwarded"
    assert story.forward(amended) == "held"


@pytest.mark.usefixtures("always_fresh")
def test_a_remote_that_moved_meanwhile_is_never_overwritten(story: Story) -> None:
    story.commit("one\n")
    story.git("push", "origin", "main")
    moved = story.remote.commit("apple", {"other": "1"})
    story.decide(story.request())
    assert story.forward(story.request()) == "stale"
    assert story.remote.tip("apple") == moved
    said = story.git("push", "origin", "main")
    assert "[rejected]" in said.text
    assert story.git("pull", "-q", "--rebase", "origin", "main").code == 0
    assert "held, request 2" in story.git("push", "origin", "main").text


def test_what_the_judge_is_told(story: Story) -> None:
    story.commit("one\n")
    tip = story.commit("two\n", file="src/a.py")
    story.git("push", "origin", "main")
    (facts,) = story.bench.seen
    assert facts.origin == story.origin
    assert (facts.number, facts.repository, facts.commit_count) == (1, "apple", 2)
    assert [(ref.ref, ref.kind, ref.new) for ref in facts.refs] == [
        ("refs/heads/main", "update", tip)
    ]
    assert [file.path for file in facts.files] == ["README.md", "src/a.py"]
    assert "+two" in facts.diff
    assert facts.commits[0].author == "Engineer (agent) <engineer@agents.example.org>"


def test_each_ref_is_judged_alone(story: Story) -> None:
    story.commit("one\n")
    story.bench.answers = {"refs/heads/free": "allow", "refs/heads/never": "deny"}
    story.git("tag", "v1")
    said = story.git("push", "origin", "main", "HEAD:free", "HEAD:never", "v1")
    assert re.search(r"\[new branch\]\s+HEAD -> free", said.text)
    assert "HEAD -> never (No pushes on Fridays" in said.text
    assert "main -> main (held, request" in said.text
    assert "v1 -> v1 (held, request" in said.text
    kinds = {facts.refs[0].ref: facts.refs[0].kind for facts in story.bench.seen}
    assert kinds == {
        "refs/heads/main": "update",
        "refs/heads/free": "create",
        "refs/heads/never": "create",
        "refs/tags/v1": "tag_create",
    }
    assert list(story.remote.refs("apple")) == ["refs/heads/free", "refs/heads/main"]


def test_an_atomic_push_is_one_question(story: Story) -> None:
    story.commit("one\n")
    story.bench.answers = {"refs/heads/never": "deny"}
    said = story.git("push", "--atomic", "origin", "main", "HEAD:never")
    assert said.code == 1
    assert len(story.requests()) == 1
    assert story.remote.writes == []
    story.bench.answers = {}
    story.bench.answer = "allow"
    assert story.git("push", "--atomic", "origin", "main", "HEAD:other").code == 0
    assert len(story.remote.writes[-1].commands) == 2


@pytest.mark.usefixtures("always_fresh")
@pytest.mark.parametrize(
    ("arguments", "ref", "kind"),
    [
        (("--force", "origin", "HEAD~1:main"), "refs/heads/main", "force"),
        (("origin", ":topic"), "refs/heads/topic", "delete"),
        (("--force", "origin", "HEAD:refs/tags/v0"), "refs/tags/v0", "tag_move"),
        (("origin", ":refs/tags/v0"), "refs/tags/v0", "tag_delete"),
    ],
)
def test_force_deletes_and_tags_are_kinds_of_their_own(
    story: Story, arguments: tuple[str, ...], ref: str, kind: str
) -> None:
    story.remote.commit("apple", {"b": "1"})
    story.remote.git("apple", "branch", "topic", "main~1")
    story.remote.git("apple", "tag", "v0", "main~1")
    assert story.git("pull", "-q").code == 0
    said = story.git("push", *arguments)
    assert "held, request 1" in said.text
    (facts,) = story.bench.seen
    assert [(fact.ref, fact.kind, fact.rewrites) for fact in facts.refs] == [(ref, kind, True)]
    story.decide(story.request())
    assert story.forward(story.request()) == "forwarded"
    assert story.remote.refs("apple").get(ref) == (None if "delete" in kind else facts.refs[0].new)


@pytest.mark.req("CC-55")
def test_the_run_is_given_no_credential_of_the_remote(story: Story) -> None:
    story.commit("one\n")
    said = story.git("push", "origin", "main")
    everything = str(story.environment) + said.text + story.git("config", "-l").text
    assert "the-write-token" not in everything
    files = [file.read_bytes() for file in story.prepared.git_dir.rglob("*") if file.is_file()]
    assert not any(b"the-write-token" in content for content in files)
    direct = story.git("push", story.remote.address("apple"), "main", GIT_CONFIG_COUNT="0")
    assert direct.code != 0
    assert story.remote.tip("apple") == story.prepared.base


def test_a_large_pack_arrives_in_chunks_after_a_probe(story: Story) -> None:
    import random

    (story.path / "big").write_bytes(random.Random(1).randbytes(3 * 2**20))
    tip = story.commit("one\n", file="big2")
    story.git("add", ".")
    story.git("commit", "-qm", "Big")
    said = story.git("push", "origin", "main")
    assert "held, request 1" in said.text
    story.decide(story.request())
    assert story.forward(story.request()) == "forwarded"
    assert story.remote.tip("apple") != tip
    assert story.request().pack_bytes > 3 * 2**20


def test_a_pack_above_the_limit_is_refused_in_words(story: Story, settings: object) -> None:
    import random

    settings.PUSH_MAX_BYTES = 2 * 2**20  # type: ignore[attr-defined]
    (story.path / "big").write_bytes(random.Random(1).randbytes(3 * 2**20))
    story.git("add", ".")
    story.git("commit", "-qm", "Big")
    said = story.git("push", "origin", "main")
    assert "larger than the 2 MB that this server takes" in said.text
    assert "! [remote rejected]" in said.text
    assert story.requests() == []


def test_push_options_are_part_of_what_is_asked(story: Story) -> None:
    story.commit("one\n")
    story.git("push", "-o", "ci.skip", "origin", "main")
    story.git("push", "origin", "main")
    first, second = story.requests()
    assert (first.push_options, second.push_options) == (["ci.skip"], [])
    assert first.digest != second.digest


def test_shallow_clones_are_told_what_to_do(story: Story) -> None:
    story.commit("one\n")
    (story.prepared.git_dir / "shallow").write_text(f"{story.prepared.base}\n")
    said = story.git("push", "origin", "main")
    assert "git fetch --unshallow" in said.text
    assert story.remote.writes == []


def test_other_refs_are_not_pushed(story: Story) -> None:
    story.commit("one\n")
    for target in ("for/main", "notes/commits", "replace/x", "pull/1/head", "heads/a\u202eb"):
        assert story.git("push", "origin", f"HEAD:refs/{target}").code != 0, target
    assert story.requests() == []
    assert story.remote.writes == []


@pytest.mark.usefixtures("always_fresh")
def test_fetches_come_from_the_mirror_and_see_the_remote_as_it_is(story: Story) -> None:
    tip = story.remote.commit("apple", {"new.txt": "1"}, branch="topic")
    assert story.git("fetch", "origin").code == 0
    assert story.git("rev-parse", "origin/topic").text.strip() == tip
    cloned = story.git("clone", "-q", story.prepared.address, "elsewhere")
    assert cloned.code == 0, cloned.text
    assert story.git("ls-remote", "--symref", "origin", "HEAD").text.startswith(
        "ref: refs/heads/main"
    )


def test_the_remotes_refusal_is_told_as_it_said_it(story: Story) -> None:
    hook = story.remote.root / "apple/hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho protected branch >&2\nexit 1\n")
    hook.chmod(0o755)
    story.bench.answer = "allow"
    story.commit("one\n")
    said = story.git("push", "origin", "main")
    assert "protected branch" in said.text
    assert story.request().state == "failed"


def test_secrets_in_any_commit_are_shown_as_warnings(story: Story) -> None:
    story.commit('password = "hunter2hunter2"\n', file="config.py")
    story.commit("password = None\n", file="config.py")
    story.commit("on: push\n", file=".github/workflows/x.yml")
    story.git("push", "origin", "main")
    (facts,) = story.bench.seen
    assert any("config.py:1" in words and "secret" in words for words in facts.warnings)
    assert any(".github/workflows/x.yml" in words for words in facts.warnings)
    assert not any("hunter2hunter2" in words for words in facts.warnings)


def test_the_push_tool_needs_no_round_trip_and_ends_in_the_same_request(story: Story) -> None:
    tip = story.commit("one\n")
    (outcome,) = pushing.push_from_checkout(story.origin, "apple", ["main"])
    assert (outcome.state, outcome.number) == ("held", 1)
    assert "held, request 1" in story.git("push", "origin", "main").text
    story.decide(story.request())
    story.forward(story.request())
    assert story.remote.tip("apple") == tip
    (again,) = pushing.push_from_checkout(story.origin, "apple", ["main"])
    assert again.state == "current"
    assert again.is_done


def test_the_push_tool_forwards_at_once_what_a_rule_allows(story: Story) -> None:
    story.bench.answer = "allow"
    tip = story.commit("one\n")
    (outcome,) = pushing.push_from_checkout(story.origin, "apple")
    assert outcome.is_done
    assert story.remote.tip("apple") == tip


@pytest.mark.usefixtures("always_fresh")
def test_the_push_tool_does_not_lose_what_the_remote_has_unless_told_to(story: Story) -> None:
    story.remote.commit("apple", {"other": "1"})
    story.git("fetch", "-q", "origin")
    story.commit("one\n")
    (outcome,) = pushing.push_from_checkout(story.origin, "apple", ["main"])
    assert outcome.state == "refused"
    assert "Fetch and merge first" in outcome.sentence
    (forced,) = pushing.push_from_checkout(story.origin, "apple", ["+main"])
    assert forced.state == "held"
    assert story.bench.seen[0].refs[0].kind == "force"


def test_a_push_ends_with_its_run(story: Story) -> None:
    from repositories import push_requests

    story.commit("one\n")
    story.git("push", "origin", "main")
    story.decide(story.request())
    with story.cast.bound():
        assert push_requests.cancel_for_run(story.origin.run_id) == 1
    assert story.forward(story.request()) == "cancelled"
    assert story.remote.writes == []
    with story.cast.bound():
        assert not PushRequest.objects.open().exists()


def test_a_member_who_lost_the_right_to_ask_takes_the_yes_along(story: Story) -> None:
    from guardrails import approvals

    story.commit("one\n")
    story.git("push", "origin", "main")
    story.decide(story.request())
    with story.cast.bound():
        approvals.cancel_for_run(story.origin.run_id)
    assert story.forward(story.request()) == "refused"
    assert story.remote.writes == []


def test_the_inbox_shows_what_would_be_published(story: Story) -> None:
    story.commit("one\n")
    story.git("push", "origin", "main")
    client = story.cast.client(story.cast.ben)
    approval = story.request().approval_id
    page = client.get(story.cast.path(f"inbox/{approval}/")).content.decode()
    assert "Write README.md" in page
    assert "1 changed file" in page
    assert ">one<" in page or "one" in page.split("1 changed file")[1]


def test_the_environment_of_a_run_names_every_repository_of_its_space(story: Story) -> None:
    with story.cast.bound():
        found = environment_of(story.origin, gateway_url=story.gateway)
    routed = {value for key, value in found.items() if key.startswith("GIT_CONFIG_VALUE")}
    assert story.prepared.address in routed
    assert found["GIT_CEILING_DIRECTORIES"] == str(story.path.parent)


def test_a_local_path_is_pushed_to_through_the_gateway_alone(
    story: Story, settings: object
) -> None:
    settings.ALLOW_PATHS = [str(story.remote.root)]  # type: ignore[attr-defined]
    story.remote.create("plum", {"README.md": "plum\n"})
    path = str(story.remote.root / "plum")
    plum = begin(story.cast, story.remote, story.bench, story.gateway, path)
    tip = plum.commit("one\n")
    assert "held, request 1" in plum.git("push", "origin", "main").text
    assert story.remote.tip("plum") != tip
    plum.decide(plum.request())
    assert plum.forward(plum.request()) == "forwarded"
    assert story.remote.tip("plum") == tip
