from django.db import migrations

# One statement whose plans PostgreSQL keeps: an event is stored a thousand times more often than
# anything else, and planning it anew cost more than storing it. It runs with its caller's rights.
APPEND = """
CREATE FUNCTION runs_append(
    its_workspace uuid, its_run uuid, its_fence bigint, its_attempt int, is_output boolean,
    entries jsonb
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    many int := jsonb_array_length(entries);
    last bigint;
BEGIN
    UPDATE runs_runcursor SET last_seq = last_seq + many,
        last_output_at = CASE WHEN is_output THEN clock_timestamp() ELSE last_output_at END
    WHERE run_id = its_run AND (its_fence IS NULL OR fence = its_fence)
    RETURNING last_seq INTO last;
    IF last IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO runs_runevent (id, workspace_id, run_id, seq, kind, attempt, data, at)
    SELECT (e.value ->> 'id')::uuid, its_workspace, its_run, last - many + e.ordinality,
           e.value ->> 'kind', its_attempt, e.value -> 'data', clock_timestamp()
    FROM jsonb_array_elements(entries) WITH ORDINALITY AS e;
    RETURN last;
END
$$
"""


class Migration(migrations.Migration):
    """The way in which events enter the journal."""

    dependencies = [("runs", "0004_approvals_quickly")]

    operations = [
        migrations.RunSQL(
            APPEND, "DROP FUNCTION runs_append(uuid, uuid, bigint, int, boolean, jsonb)"
        )
    ]
