"""Much of everything: pages stay whole, quick to read and as wide as the screen."""

from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from harness.events import Event, Kind
from repositories import places
from repositories.models import PushRequest, Repository, SpaceRepository
from runs import dispatch, journal
from runs.models import Run
from spaces.models import Conversation, Message, Space
from tests.browser.conftest import Open, scroll_to
from tests.cast import Cast
from tests.runs.acting import block, tool_call, tool_result

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
both = pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
LONG = "a-very-long-name-without-any-break-" * 6


def fits(page: Page) -> None:
    """Nothing reaches over the screen's edge."""
    assert page.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
    wide = page.evaluate(
        """() => [...document.querySelectorAll(".pane-body")]
            .filter((pane) => pane.offsetParent && pane.scrollWidth > pane.clientWidth + 1)
            .map((pane) => pane.closest("[id]").id)"""
    )
    assert wide == []


def place(cast: Cast) -> str:
    return f"spaces/{cast.space.slug}/{cast.conversation.pk}/"


def talk(cast: Cast, count: int) -> None:
    with cast.bound():
        Message.objects.bulk_create(
            Message(
                workspace_id=cast.workspace.pk,
                conversation=cast.conversation,
                n=n,
                author=cast.ada.principal if n % 2 else cast.ben.principal,
                body=f"Message number {n}. {LONG if n % 50 == 0 else ''}",
            )
            for n in range(1, count + 1)
        )
        Conversation.objects.filter(pk=cast.conversation.pk).update(last_n=count)


def work(cast: Cast, calls: int) -> Run:
    """A run that made so many calls, some with much to show."""
    with cast.bound():
        _message, [run] = dispatch.post(
            cast.conversation, author=cast.ada.principal, body="@engineer tidy up"
        )
        events: list[Event] = []
        for n in range(1, calls + 1):
            events.append(block(Kind.TEXT, n, {"type": "text", "text": f"Step {n}."}))
            events.append(
                tool_call(n, 1, f"call-{n}", "bash", {"command": f"make part-{n} {LONG}"})
            )
            events.append(tool_result(f"call-{n}", f"made part {n}\n" * 40))
        journal.record(run, events)
        return run


@both
def test_sixty_spaces(visit: Open, committed_cast: Cast, phone: bool) -> None:
    cast = committed_cast
    with cast.bound():
        for n in range(60):
            space = Space.objects.create(name=f"Space {n:02} {LONG[:n]}", slug=f"space-{n}")
            Conversation.objects.create(
                space=space, title=f"Talk {n}", created_by=cast.ada.principal
            )
    page = visit("spaces/", phone=phone)
    last = page.locator("#space-rail").get_by_role("link", name="Talk 59")
    scroll_to(last)
    expect(last).to_be_visible()
    fits(page)
    last.click()
    expect(page.locator("#conversation-title")).to_have_text("Talk 59")
    if not phone:
        # The list shows where one is, also far down.
        expect(page.locator("#space-rail [aria-current]")).to_be_in_viewport()


@both
def test_two_thousand_messages(visit: Open, committed_cast: Cast, phone: bool) -> None:
    talk(committed_cast, 2000)
    page = visit(place(committed_cast), phone=phone)
    expect(page.get_by_text("Message number 2000.")).to_be_in_viewport()
    assert page.locator("#timeline .msg, #timeline [id^=message-]").count() < 200
    fits(page)
    earlier = page.get_by_role("button", name="Earlier messages")
    scroll_to(earlier)
    before = page.get_by_text("Message number 1941.").bounding_box()
    earlier.click()
    expect(page.get_by_text("Message number 1900.")).to_be_attached()
    after = page.get_by_text("Message number 1941.").bounding_box()
    assert before is not None
    assert after is not None
    # What one was reading stays where it was.
    assert abs(after["y"] - before["y"]) < 60
    fits(page)


@both
def test_a_thousand_tool_calls(visit: Open, committed_cast: Cast, phone: bool) -> None:
    run = work(committed_cast, 1000)
    page = visit(f"runs/{run.pk}/", phone=phone)
    expect(page.get_by_text("Step 1000.")).to_be_attached()
    assert page.locator("[data-tool=bash]").count() < 300
    fits(page)
    earlier = page.get_by_role("button", name="earlier events")
    scroll_to(earlier)
    earlier.click()
    expect(page.get_by_role("button", name="earlier events")).to_have_count(1)
    expect(page.locator("[data-tool=bash]").nth(200)).to_be_attached()
    fits(page)


@both
def test_a_diff_of_five_megabytes(visit: Open, committed_cast: Cast, phone: bool) -> None:
    cast = committed_cast
    with cast.bound():
        push = PushRequest.objects.create(
            number=1,
            repository_name="engine",
            run_id=uuid4(),
            conversation=cast.conversation,
            space=cast.space,
            agent=cast.engineer.principal,
            refs=[{"ref": "refs/heads/main", "old": "0" * 40, "new": "1" * 40, "kind": "new"}],
            digest="0" * 64,
            quarantine="q",
            summary={
                "commit_count": 1,
                "file_count": 300,
                "commits": [],
                "warnings": [],
                "diff_is_whole": True,
            },
        )
        file = places.diff_file(push)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(_file(n) for n in range(300)))
        assert file.stat().st_size > 5_000_000
    page = visit(f"repositories/pushes/{push.pk}/", phone=phone)
    expect(page.get_by_text("Not all shown.")).to_be_visible()
    assert len(page.content()) < 1_500_000
    fits(page)
    page.get_by_role("link", name="Show all").first.click()
    expect(page.get_by_text("Page 1 of 15, 300 files in all")).to_be_attached()
    fits(page)


def _file(n: int) -> str:
    lines = "".join(f"+line {k} of part {n} {LONG if k == 3 else ''}\n" for k in range(760))
    return (
        f"diff --git a/parts/{n}.txt b/parts/{n}.txt\nnew file mode 100644\n--- /dev/null\n"
        f"+++ b/parts/{n}.txt\n@@ -0,0 +1,760 @@\n{lines}"
    )


@both
def test_a_space_with_twenty_repositories(visit: Open, committed_cast: Cast, phone: bool) -> None:
    cast = committed_cast
    with cast.bound():
        for n in range(20):
            repository = Repository.objects.create(
                name=f"repository-{n:02}-{'x' * 40}",
                address=f"https://example.org/{LONG[:80]}/{n}",
                state=Repository.State.READY,
            )
            SpaceRepository.objects.create(space=cast.space, repository=repository)
    page = visit(place(cast), phone=phone)
    if phone:
        page.get_by_role("link", name="Participants, runs, repositories").click()
    last = page.locator("#context").get_by_role("link", name="repository-19")
    scroll_to(last)
    expect(last).to_be_in_viewport()
    fits(page)
    page.goto(page.url.partition("/spaces/")[0] + f"/spaces/{cast.space.slug}/edit/")
    expect(page.get_by_label("repository-19")).to_be_checked()
    fits(page)


@both
def test_a_members_role_can_be_read_beside_a_long_name(
    visit: Open, committed_cast: Cast, phone: bool
) -> None:
    ben = committed_cast.ben
    ben.user.name = LONG[:120]
    ben.user.save(update_fields=["name"])
    page = visit("settings/members/", phone=phone)
    role = page.get_by_label(f"Role of {ben.user}")
    expect(role).to_have_value("member")
    box, remove = role.bounding_box(), page.get_by_role("button", name="Remove…").first
    assert box is not None
    assert box["width"] > 80
    expect(remove).to_be_in_viewport(ratio=1)
    fits(page)
