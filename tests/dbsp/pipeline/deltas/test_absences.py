"""`excuse`: a step then takes back what is there, and tells of all that isn't."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import AbsentRow
from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.operators.inputs.defaults import Default
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.late_rows import late_rows_view
from dbsp.sql.compiler.sources.bad_rows import bad_rows_view
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import ColumnLateness, Program
from dbsp.sql.plans.schemas import Field
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
        for chunk in p.excuse(error.table):
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


NOON = datetime(2024, 1, 1, 12, tzinfo=UTC)
VISITS = (
    Field("user_id", pa.int64()),
    Field("page", pa.int64(), nullable=False),
    Field("at", CLOCK.type, nullable=False),
)
COMES = st.tuples(st.integers(0, 1), st.sampled_from([None, 0, 1]), st.sampled_from([None, NOON]))
GOES = st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from([NOON, NOON + timedelta(hours=1)]))


def visiting() -> Program:
    """page: 1 unless it is given; at: when the row arrived."""
    defaults = (Default(1, Literal(1, pa.int64())), Default(2, Column(0, CLOCK.type)))
    visits = replace(table("visits", VISITS), format="json", keeps_bad_rows=True, defaults=defaults)
    return program([visits], [view("all_visits", Scan("visits", VISITS)), bad_rows_view()])


def visit(p: Pipeline, rows: list[tuple[Any, ...]]) -> None:
    """rows: their values, and their weights."""
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(VISITS)]
    batch = pa.RecordBatch.from_arrays(columns, names=[field.name for field in VISITS])
    p.change("visits", batch, np.array([row[-1] for row in rows], np.int64))


@given(
    st.lists(
        st.tuples(st.lists(COMES, max_size=3), st.lists(GOES, max_size=3)).filter(any), min_size=1, max_size=4
    ),
    st.integers(1, 3),
)
def test_defaults_are_taken_back_by_what_they_are(deltas: list, partitions: int) -> None:
    """Those of the step itself, too."""
    held: Counter[Any] = Counter()
    with pipeline(program=visiting(), partitions=partitions) as p:
        clock = NOON
        p.step(clock)  # which the steps after it have, until they are given another
        for number, (come, gone) in enumerate(deltas):
            visit(p, [(*row, 1) for row in come] + [(*row, -1) for row in gone])
            changes = stepped(p)
            held.update((user, 1 if page is None else page, at or clock) for user, page, at in come)
            held.subtract(gone)
            absent = Counter({row: -count for row, count in held.items() if count < 0})
            held = +held
            assert Counter(tuple(row.values()) for row in p["all_visits"].rows()) == held
            assert sum(weight for _, weight in changes[BAD_ROWS].rows()) == absent.total()
            assert len(changes[BAD_ROWS].rows()) == len(absent)
            if number == 1:
                clock = NOON + timedelta(hours=1)
                p.step(clock)


def test_rows_are_compared_and_made_by_one_reading_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A default that hangs on the time is the same when a row is found to be there and when it is taken."""
    read = [NOON + timedelta(seconds=i) for i in range(5)]
    monkeypatch.setattr("dbsp.running.clock.now", lambda _: read.pop(0))
    with pipeline(program=visiting()) as p:
        visit(p, [(1, None, None, 1), (1, 1, NOON + timedelta(seconds=1), -1), (2, 0, NOON, -1)])
        assert stepped(p).clock == NOON + timedelta(seconds=1)
        assert [row["text"][:12] for row in p[BAD_ROWS].rows()] == ['{"user_id": ']
        assert not p["all_visits"].rows()
        visit(p, [(1, None, None, 1)])
        assert p.step().clock == NOON + timedelta(seconds=3)  # the second was of the attempt


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
