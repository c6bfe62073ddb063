"""The question and its answer, of a program put together by hand: no JVM."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import DataError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.view import Contents
from tests.dbsp.build import pipeline


def test_the_question_in_words_and_the_step_that_made_it(p: Pipeline) -> None:
    p.insert("votes", [(1, 7), (2, 7)])
    p.step()
    p.insert("votes", [(3, 8)])
    p.step()
    why = p["counts"].why(7)
    assert (why.asked, why.step, why.made) == ("counts where story_id = 7", 2, 1)
    assert why.tables["votes"].to_pylist() == [{"user_id": 1, "story_id": 7}, {"user_id": 2, "story_id": 7}]
    assert p.why("counts", 8).made == 2
    p.insert("votes", [(4, 7)])
    p.step()
    assert p.why("counts", 7).made == 3 and p.why("counts", 7, as_of=2).made == 1


def test_none_is_there_before_the_first_step(p: Pipeline) -> None:
    why = p.why("counts", 7)
    assert (why.step, why.rows.num_rows) == (0, 0)
    assert [one.relation for one in why.lost] == ["votes"]


def test_steps_that_are_forgotten_are_not_looked_at(tmp_path) -> None:
    with pipeline(tmp_path / "s", keep_steps=1) as p:
        p.insert("votes", [(1, 7)])
        p.step()
        for _ in range(3):
            p.step()
        assert p.why("counts", 7).made is None


def test_only_a_view_of_a_pipeline_can_be_asked(p: Pipeline) -> None:
    contents = p["counts"]
    alone = Contents("counts", contents.schema, contents.parts)
    with pytest.raises(DataError, match="'counts' is no view of a pipeline"):
        alone.why({"story_id": 7})
    with pytest.raises(DataError, match="view 'counts' has no column 'story'"):
        contents.why({"story": 7})
