"""A connection that stays is bound to nothing, outlives a restart, and is shared by no two."""

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import Error, connection

from tests.cast import Cast
from workspaces import tenancy
from workspaces.standby import KEPT, MOST, Standby, standby

pytestmark = pytest.mark.django_db(transaction=True)
WHO = "SELECT current_user || '/' || coalesce(current_setting('app.workspaces', true), '')"
PID = "SELECT pg_backend_pid()"
CONNECTED = (
    "SELECT count(*) FROM pg_stat_activity WHERE usename = current_user"
    " AND datname = current_database() AND query LIKE '%%pg_sleep(0.1)' AND state = 'active'"
)


@pytest.fixture
def ours() -> Any:
    ours = Standby()
    yield ours
    ours.close()


def cut(pid: int) -> None:
    """What a restarted server does to its sessions."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def test_it_speaks_as_the_application_and_is_bound_only_within_a_call(
    committed_cast: Cast,
) -> None:
    workspace = committed_cast.workspace
    seen = tenancy.call(workspace.pk, "current_setting", "app.workspaces")
    assert seen == str(workspace.pk)
    assert standby().ask(WHO, []) == "cc_app/"
    assert standby().ask("SELECT count(*) FROM agents_agent", []) == 0


def test_a_failed_call_leaves_nothing_bound(committed_cast: Cast) -> None:
    with pytest.raises(Error, match="nobody_knows"):
        tenancy.call(committed_cast.workspace.pk, "current_setting", "nobody.nobody_knows")
    assert standby().ask(WHO, []) == "cc_app/"


def test_within_a_transaction_the_call_belongs_to_it(committed_cast: Cast) -> None:
    ours, theirs = committed_cast.workspace.pk, committed_cast.elsewhere.pk
    with tenancy.bind(ours):
        assert tenancy.call(ours, "current_setting", "app.workspaces") == str(ours)
        with pytest.raises(tenancy.NoWorkspaceBound):
            tenancy.call(theirs, "current_setting", "app.workspaces")


def test_it_is_the_same_one_until_the_server_closes_it(ours: Standby, db: None) -> None:
    first = ours.ask(PID, [])
    assert ours.ask(PID, []) == first
    cut(first)
    assert ours.ask(PID, []) != first


def test_a_call_whose_connection_breaks_fails_and_the_next_one_goes_on(ours: Standby) -> None:
    with pytest.raises(Error):
        ours.ask("SELECT pg_terminate_backend(pg_backend_pid())", [])
    assert ours.ask("SELECT 1", []) == 1


def test_threads_do_not_wait_for_each_other_and_few_connections_stay(ours: Standby) -> None:
    count = KEPT + 2
    together = Barrier(count)

    def ask(_number: int) -> int:
        together.wait(30)
        return int(ours.ask("SELECT pg_backend_pid() FROM pg_sleep(0.2)", []))

    with ThreadPoolExecutor(count) as pool:
        assert len(set(pool.map(ask, range(count)))) == count
    assert len(ours._free) == KEPT


def test_however_many_ask_at_once_only_so_many_are_connected(ours: Standby) -> None:
    with ThreadPoolExecutor(4 * MOST) as pool:
        asked = [
            pool.submit(ours.ask, "SELECT pg_backend_pid() FROM pg_sleep(0.1)", [])
            for _ in range(4 * MOST)
        ]
        most = 0
        while not all(each.done() for each in asked):
            most = max(most, standby().ask(CONNECTED, []))
    assert {each.result() > 0 for each in asked} == {True}
    assert 0 < most <= MOST


def test_a_forked_child_has_one_of_its_own(db: None) -> None:
    mine = standby().ask(PID, [])
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(standby().ask(PID, [])).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert int(os.read(reader, 100)) != mine
    assert standby().ask(PID, []) == mine
    os.close(reader)
    os.close(writer)
