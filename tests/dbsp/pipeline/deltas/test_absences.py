"""`excuse`: a step then takes back what is there, and tells of all that isn't."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import AbsentRow
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.late_rows import late_rows_view
from dbsp.sql.compiler.sources.bad_rows import bad_rows_view
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import ColumnLateness, Program
from tests.dbsp.build import VOTES, pipeline, program, table, view

VOTE = st.tuples(st.integers(0, 4), st.integers(0, 1))
DELTA = st.dictionaries(VOTE, st.integers(-2, 2).filter(bool), max_size=6)


def voting(*lateness: ColumnLateness) -> Program:
    votes = replace(table("votes", VOTES), format="json", keeps_bad_rows=True, lateness=lateness)
    views = [view("all_votes", Scan("votes", VOTES)), bad_rows_view()]
    return program([votes], [*views, late_rows_view()] if lateness else views)


def change(p: Pipeline, delta: dict[tuple[int, int], int]) -> None:
    columns = [pa.array([row[i] for row in delta], pa.int64()) for i in (0, 1)]
    rows = pa.RecordBatch.from_arrays(columns, names=["user_id", "story_id"])
    p.change("votes", rows, np.array([*delta.values()], np.int64))


def stepped(p: Pipeline) -> Any:
    """As a run of the table's source makes a step."""
    try:
        return p.step()
    except AbsentRow as error:
        assert error.table == "votes"
        for chunk in p.excuse("votes"):
            p.refuse(chunk)
        return p.step()


@given(st.lists(DELTA, max_size=4), st.integers(1, 4))
def test_each_retraction_takes_a_row_or_is_a_bad_one(deltas: list, partitions: int) -> None:
    held: Counter[Any] = Counter()
    with pipeline(program=voting(), partitions=partitions) as p:
        for delta in deltas:
            change(p, delta)
            changes = stepped(p)
            held.update(delta)
            bad = {row: -n for row, n in held.items() if n < 0}
            held = +held
            assert Counter((r["user_id"], r["story_id"]) for r in p["all_votes"].rows()) == held
            told = {row["text"]: weight for row, weight in changes[BAD_ROWS].rows()}
            assert told == {f'{{"user_id": {u}, "story_id": {s}}}': n for (u, s), n in bad.items()}
        assert not p.queued


def test_what_is_late_is_not_absent() -> None:
    with pipeline(program=voting(ColumnLateness(0, 0, None))) as p:
        change(p, {(5, 0): 1})
        p.step()
        change(p, {(4, 0): -1, (5, 1): -1, (5, 0): -1})
        changes = stepped(p)
        assert [row["text"] for row, _ in changes[BAD_ROWS].rows()] == ['{"user_id": 5, "story_id": 1}']
        assert [row["row"] for row, _ in changes["late_rows"].rows()] == ['{"user_id": 4, "story_id": 0}']
        assert not p["all_votes"].rows()


def test_without_an_excuse_it_is_an_error() -> None:
    with pipeline(program=voting()) as p:
        change(p, {(1, 1): -1})
        with pytest.raises(AbsentRow, match="it isn't there"):
            p.step()
        assert p.last_step == 0
