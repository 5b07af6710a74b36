"""How healthy a run is: the table."""

import pytest

from runs.liveness import Health, liveness


@pytest.mark.req("CC-84")
@pytest.mark.parametrize(
    ("health", "expected"),
    [
        (Health("queued"), "alive"),
        (Health("running"), "alive"),
        (Health("running", has_output=True), "productive"),
        (Health("running", has_output=True, silent_seconds=899), "productive"),
        (Health("running", has_output=True, silent_seconds=900), "stalled"),
        (Health("running", silent_seconds=60, silence_limit_seconds=60), "stalled"),
        (Health("running", identical_calls=4, has_output=True), "productive"),
        (Health("running", identical_calls=5, has_output=True), "looping"),
        (Health("running", identical_calls=5, silent_seconds=9999), "looping"),
        (Health("running", lease_is_gone=True, identical_calls=9), "dead"),
        (Health("parked", waiting_for="approval"), "blocked"),
        (Health("parked", waiting_for="person"), "blocked"),
        (Health("parked", waiting_for="child"), "alive"),
        (Health("parked", waiting_for="pause"), "alive"),
        (Health("parked", waiting_for="child", silent_seconds=99999), "alive"),
        (Health("parked", waiting_for="approval", silent_seconds=99999), "blocked"),
        (Health("succeeded", has_output=True), "completed"),
        (Health("succeeded"), "empty"),
        (Health("cancelled"), "completed"),
        (Health("cancelled", terminal_reason="stopped_by_model"), "completed"),
        (Health("failed", terminal_reason="error"), "failed"),
        (Health("failed", terminal_reason="api_error", has_output=True), "failed"),
        (Health("failed", terminal_reason="loop"), "looping"),
        (Health("failed", terminal_reason="silence"), "stalled"),
        (Health("failed", terminal_reason="worker_lost"), "dead"),
    ],
)
def test_the_word_for_it(health: Health, expected: str) -> None:
    assert liveness(health) == expected
