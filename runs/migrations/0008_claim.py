from django.db import migrations

# As with the journal: planning the claim took longer than making it, and a run waits for it.
CLAIM = """
CREATE FUNCTION runs_claim(its_run uuid, its_owner text, lease_seconds double precision)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    claimed bigint;
BEGIN
    UPDATE runs_run SET state = 'running', attempt = attempt + 1, fence = fence + 1,
        lease_owner = its_owner,
        lease_until = clock_timestamp() + make_interval(secs => lease_seconds),
        started_at = coalesce(started_at, clock_timestamp()), waiting_for = '', waiting_on = NULL
    WHERE id = its_run AND state = 'queued' RETURNING fence INTO claimed;
    IF claimed IS NOT NULL THEN
        UPDATE runs_runcursor SET fence = claimed, began_at = clock_timestamp(),
            last_output_at = NULL
        WHERE run_id = its_run;
    END IF;
    RETURN claimed;
END
$$
"""


class Migration(migrations.Migration):
    """The way in which a worker gets a run."""

    dependencies = [("runs", "0007_roster_quickly")]

    operations = [
        migrations.RunSQL(CLAIM, "DROP FUNCTION runs_claim(uuid, text, double precision)")
    ]
