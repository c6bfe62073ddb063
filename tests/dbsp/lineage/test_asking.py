"""The question and its answer, of a program put together by hand: no JVM."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import DataError, StateError
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


def test_what_the_step_changed_of_the_rows_that_it_follows_from(p: Pipeline) -> None:
    p.insert("votes", [(1, 7), (2, 7), (9, 8)])
    p.step()
    p.insert("votes", [(3, 7), (4, 8), (5, 7)])
    p.delete("votes", [(1, 7)])
    p.step()
    p.step()
    why = p["counts"].why(7)
    assert (why.step, why.made) == (3, 2)
    assert why.changes["votes"].to_pylist() == [
        {"user_id": 1, "story_id": 7, "__weight": -1},
        {"user_id": 3, "story_id": 7, "__weight": 1},
        {"user_id": 5, "story_id": 7, "__weight": 1},
    ]
    assert str(why).splitlines()[-4:-1] == [
        "step 2 changed votes",
        '| -1 {"user_id": 1, "story_id": 7}',
        '| +1 {"user_id": 3, "story_id": 7}',
    ]
    assert why.to_json(1)["changes"] == {"votes": [{"user_id": 1, "story_id": 7, "__weight": -1}]}
    assert p["counts"].why(8).changes["votes"].to_pylist() == [{"user_id": 4, "story_id": 8, "__weight": 1}]
    assert p.why("counts", 7, as_of=1).changes["votes"].num_rows == 2


def test_what_a_step_changed_is_not_told_where_the_one_before_is_forgotten(tmp_path) -> None:
    with pipeline(tmp_path / "s", keep_steps=1) as p:
        for i in range(4):
            p.insert("votes", [(i, 7)])
            p.step()
        oldest = min(step for step in (2, 3, 4) if kept(p, step))
        assert p.why("counts", 7, as_of=oldest).changes == {}
        assert p.why("counts", 7).tables["votes"].num_rows == 4


def kept(p: Pipeline, step: int) -> bool:
    try:
        return bool(len(p.view("counts", step)))
    except StateError:
        return False
