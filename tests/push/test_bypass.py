"""Ways around the gateway that an agent may try: the remote records no write of any of them."""

from collections.abc import Callable

import pytest

from repositories.gateway import tokens
from tests.push.conftest import Said, Story

pytestmark = pytest.mark.django_db(transaction=True)

CLEAN = {"GIT_CONFIG_COUNT": "0"}


def direct(story: Story) -> Said:
    return story.git("push", story.remote.address("apple"), "main", **CLEAN)


def other_spellings(story: Story) -> Said:
    said = Said(0, "")
    for host in ("localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "2130706433", "127.1"):
        address = f"http://{host}:{story.remote.port}/apple"
        said = story.git("push", address, "main", **CLEAN)
    return said


def userinfo(story: Story) -> Said:
    address = f"http://x-access-token:guess@127.0.0.1:{story.remote.port}/apple"
    return story.git("push", address, "main", **CLEAN)


def no_configuration(story: Story) -> Said:
    story.git("config", "remote.origin.pushurl", story.remote.address("apple"))
    return story.git("push", "origin", "main", **CLEAN)


def push_url(story: Story) -> Said:
    story.git("remote", "set-url", "--push", "origin", story.remote.address("apple"))
    return story.git("push", "origin", "main")


def own_rewriting(story: Story) -> Said:
    elsewhere = story.remote.address("")
    return story.git(
        "-c", f"url.{elsewhere}.pushInsteadOf={story.gateway}/git/", "push", "origin", "main"
    )


def own_alias(story: Story) -> Said:
    return story.git("-c", f"alias.p=push {story.remote.address('apple')}", "p", "main", **CLEAN)


def own_header(story: Story) -> Said:
    return story.git("-c", "http.extraHeader=Authorization: Basic eDp5", *push_to(story), **CLEAN)


def the_runs_token(story: Story) -> Said:
    token = tokens.issue(story.origin, "apple")
    header = f"http.extraHeader=Authorization: Bearer {token}"
    return story.git("-c", header, *push_to(story), **CLEAN)


def ssh(story: Story) -> Said:
    return story.git("push", "git@127.0.0.1:apple", "main")


def git_daemon(story: Story) -> Said:
    return story.git("push", "git://127.0.0.1:1/apple", "main")


def external_helper(story: Story) -> Said:
    return story.git("push", "ext::sh -c 'git-receive-pack %S'", "main")


def mirror(story: Story) -> Said:
    return story.git("push", "--mirror", "origin")


def plain_http(story: Story) -> Said:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", story.remote.port)
    token = tokens.issue(story.origin, "apple")
    line = f"{story.prepared.base} {'0' * 40} refs/heads/main\0report-status"
    body = f"{len(line) + 4:04x}{line}0000".encode()
    connection.request(
        "POST", "/apple/git-receive-pack", body, {"Authorization": f"Bearer {token}"}
    )
    return Said(0 if connection.getresponse().status == 200 else 1, "")


def push_to(story: Story) -> tuple[str, ...]:
    return ("push", story.remote.address("apple"), "main")


@pytest.mark.req("CC-56", "CC-55")
@pytest.mark.parametrize(
    "attempt",
    [
        direct,
        other_spellings,
        userinfo,
        no_configuration,
        push_url,
        own_rewriting,
        own_alias,
        own_header,
        the_runs_token,
        ssh,
        git_daemon,
        external_helper,
        mirror,
        plain_http,
    ],
)
def test_nothing_leaves_by_another_way(story: Story, attempt: Callable[[Story], Said]) -> None:
    story.commit("one\n")
    said = attempt(story)
    assert said.code != 0
    assert story.remote.writes == []
    assert story.remote.tip("apple") == story.prepared.base


def test_a_git_that_lost_its_directory_finds_no_other(story: Story) -> None:
    (story.path / ".git").unlink()
    said = story.git("status")
    assert said.code == 128
    assert "not a git repository" in said.text
