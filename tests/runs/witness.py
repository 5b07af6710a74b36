"""A witness in the database, apart from the product's code: it sees each change of a run as it is
made, and at the end of a story it says what must never be."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connections

from runs import journal
from workspaces.tenancy import bind

# What only the executing worker may write.
OUTPUT = "('text', 'thinking', 'tool_call', 'tool_start', 'tool_result', 'usage')"
ENDED = "('succeeded', 'failed', 'cancelled')"

# A trigger runs in the transaction of the change and with the rows as they are locked there.
INSTALL = f"""
CREATE TABLE witness (seen text NOT NULL, what uuid NOT NULL);

CREATE FUNCTION witness_run() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF OLD.state IN {ENDED} AND (NEW.state, NEW.terminal_reason, NEW.attempt)
            IS DISTINCT FROM (OLD.state, OLD.terminal_reason, OLD.attempt) THEN
        INSERT INTO witness VALUES ('an end was overwritten', NEW.id);
    END IF;
    IF NEW.attempt > OLD.attempt AND OLD.state <> 'queued' THEN
        INSERT INTO witness VALUES ('claimed, and not queued', NEW.id);
    END IF;
    IF NEW.fence < OLD.fence OR (NEW.state <> OLD.state AND NEW.fence = OLD.fence) THEN
        INSERT INTO witness VALUES ('moved under an old fence', NEW.id);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION witness_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    run runs_run;
BEGIN
    SELECT * INTO run FROM runs_run WHERE id = NEW.run_id;
    IF NEW.kind IN {OUTPUT} AND (run.state <> 'running' OR run.attempt <> NEW.attempt) THEN
        INSERT INTO witness VALUES ('written by a worker that lost it', NEW.run_id);
    END IF;
    IF run.state IN {ENDED} AND NEW.kind <> 'done' THEN
        INSERT INTO witness VALUES ('an event after the end', NEW.run_id);
    END IF;
    IF NEW.data ->> 'code' = 'worker_lost'
            AND (run.lease_until >= clock_timestamp()) IS NOT FALSE THEN
        INSERT INTO witness VALUES ('taken from a living worker', NEW.run_id);
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION witness_approval() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF OLD.state <> 'pending' AND (NEW.state, NEW.decided_at)
            IS DISTINCT FROM (OLD.state, OLD.decided_at) THEN
        INSERT INTO witness VALUES ('decided twice', NEW.id);
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER witness AFTER UPDATE ON runs_run
    FOR EACH ROW EXECUTE FUNCTION witness_run();
CREATE TRIGGER witness AFTER INSERT ON runs_runevent
    FOR EACH ROW EXECUTE FUNCTION witness_event();
CREATE TRIGGER witness AFTER UPDATE ON guardrails_approval
    FOR EACH ROW EXECUTE FUNCTION witness_approval();
"""
REMOVE = """
DROP FUNCTION witness_run, witness_event, witness_approval CASCADE;
DROP TABLE witness;
"""

# Each gives the keys of the rows of which it is true.
AT_THE_END = {
    "it never ended": f"SELECT id FROM runs_run WHERE state NOT IN {ENDED}",
    "its events are not 1..n": """
        SELECT c.run_id FROM runs_runcursor c LEFT JOIN runs_runevent e ON e.run_id = c.run_id
        GROUP BY c.run_id, c.last_seq
        HAVING count(e.seq) <> c.last_seq OR coalesce(min(e.seq), 1) <> 1
            OR coalesce(max(e.seq), 0) <> c.last_seq""",
    "its end is not told once, as its last": f"""
        SELECT r.id FROM runs_run r JOIN runs_runcursor c ON c.run_id = r.id
        LEFT JOIN runs_runevent e ON e.run_id = r.id AND e.kind = 'done'
        WHERE r.state IN {ENDED} GROUP BY r.id, r.state, r.terminal_reason, c.last_seq
        HAVING count(e.seq) <> 1 OR max(e.seq) <> c.last_seq
            OR max(e.data ->> 'state') <> r.state""",
    "its cursor has another fence": """
        SELECT r.id FROM runs_run r JOIN runs_runcursor c ON c.run_id = r.id
        WHERE c.fence <> r.fence""",
    "it is over and still leased": f"""
        SELECT id FROM runs_run WHERE state IN {ENDED}
            AND (lease_owner <> '' OR lease_until IS NOT NULL)""",
    "somebody stopped it, and it went on": """
        SELECT id FROM runs_run WHERE stop_requested_at IS NOT NULL AND stop_reason = 'cancel'
            AND state <> 'cancelled'""",
    "its sums are not those of its events": """
        SELECT r.id FROM runs_run r
        LEFT JOIN runs_runevent e ON e.run_id = r.id AND e.kind = 'usage'
        GROUP BY r.id HAVING r.cost_microusd <> coalesce(sum((e.data ->> 'cost_microusd')::int), 0)
            OR r.input_tokens <> coalesce(sum((e.data ->> 'input_tokens')::int), 0)
            OR r.output_tokens <> coalesce(sum((e.data ->> 'output_tokens')::int), 0)""",
    "a call has two results": """
        SELECT run_id FROM runs_runevent WHERE kind = 'tool_result'
        GROUP BY run_id, data ->> 'call_id' HAVING count(*) > 1""",
    "its answer was not posted once": """
        SELECT r.id FROM runs_run r LEFT JOIN spaces_message m ON m.run_id = r.id
        WHERE r.state = 'succeeded' AND r.parent_id IS NULL AND r.summary <> ''
        GROUP BY r.id HAVING count(m.id) <> 1""",
    "it is over and still asks": f"""
        SELECT a.id FROM guardrails_approval a JOIN runs_run r ON r.id = a.run_id
        WHERE a.state = 'pending' AND r.state IN {ENDED}""",
    "told of two decisions, or of another": """
        SELECT a.id FROM guardrails_approval a JOIN runs_runevent e ON e.run_id = a.run_id
            AND e.kind = 'approval' AND e.data ->> 'approval_id' = a.id::text
            AND e.data ->> 'phase' = 'decided'
        GROUP BY a.id, a.state HAVING count(*) > 1
            OR (max(e.data ->> 'decision') = 'allow') <> (a.state = 'approved')""",
    "it left without a yes": """
        SELECT p.id FROM repositories_pushrequest p JOIN guardrails_approval a
            ON a.id = p.approval_id WHERE p.state = 'forwarded' AND a.state <> 'approved'""",
}


class Witness:
    """What was seen while it stood there; `violations` also looks at how everything is now."""

    def __init__(self) -> None:
        self._connection = connections["owner"]

    def violations(self, *, writes: int = 0) -> list[str]:
        """One line for each kind of thing that must never be; empty when all is well.

        `writes` is what the remote counted.
        """
        with self._connection.cursor() as cursor:
            cursor.execute("SELECT seen, count(*), min(what::text) FROM witness GROUP BY seen")
            found = [f"{seen}: {count} × {which}" for seen, count, which in cursor.fetchall()]
            for name, question in AT_THE_END.items():
                cursor.execute(question)
                if rows := cursor.fetchall():
                    found.append(f"{name}: {len(rows)} × {rows[0][0]}")
            cursor.execute("SELECT count(*) FROM repositories_pushrequest WHERE state='forwarded'")
            [(forwarded,)] = cursor.fetchall()
            cursor.execute("SELECT workspace_id, run_id, last_seq FROM runs_runcursor")
            cursors = cursor.fetchall()
        if forwarded != writes:
            found.append(
                f"forwarded and not written, or the other way round: {forwarded}, {writes}"
            )
        found += [f"replayed wrongly: {run}" for ws, run, n in cursors if not _replays(ws, run, n)]
        return found


def _replays(workspace_id: object, run_id: object, last: int) -> bool:
    """Who has seen half of it gets exactly the other half."""
    half = last // 2
    with bind(workspace_id):  # type: ignore[arg-type]
        given = [event.seq for event in journal.read(run_id, after=half)]  # type: ignore[arg-type]
    return given == list(range(half + 1, last + 1))


@contextmanager
def watching() -> Iterator[Witness]:
    """Within, nothing happens to a run that is not seen."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(INSTALL)
    try:
        yield Witness()
    finally:
        with connections["owner"].cursor() as cursor:
            cursor.execute(REMOVE)


def at_work_in(folder: Path | None = None) -> list[int]:
    """Processes whose working directory is in the data directory: commands of runs."""
    place = str(folder or settings.DATA_DIR)
    found = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if str(entry.readlink()).startswith(place):
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found
