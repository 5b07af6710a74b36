"""From a source into the workspace: a look, a yes, exactly those bytes."""

import pytest

from tests.skills.life.conftest import TABLES, Stage


@pytest.mark.req("CC-35")
def test_a_skill_is_looked_at_held_accepted_and_written(stage: Stage) -> None:
    source = stage.source()
    assert (source.state, source.error) == ("ready", "")
    asked = stage.look(source, "skills/tables")
    assert (asked.state, asked.decision, asked.verdict) == ("previewed", "held", "pass"), asked
    assert not stage.folder().exists()
    done = stage.say_yes(asked)
    assert (done.state, done.error) == ("installed", "")
    assert stage.files() == {
        path.removeprefix("skills/tables/"): text
        for path, text in TABLES.items()
        if path.startswith("skills/tables/")
    }
