"""WATERMARK over random programs: views are their queries over the rows that are released, and no others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program as Compiled
from dbsp.testing.bags import same_rows
from dbsp.testing.choices import Seeded
from dbsp.testing.strategies import Drawn
from tests.effort import examples, pool_of
from tests.generators.lateness import Advances, Annotated
from tests.generators.programs import Column, Program, Table, View
from tests.generators.strategies import Change, Run, seeded_program, split
from tests.generators.watermarks import (
    Watermarked,
    draw_advances_of,
    draw_waiting_run,
    draw_watermarked,
    released,
)
from tests.laws import laws
from tests.laws.laws import ALWAYS, WAYS, Case, Oracle, Running, Way
from tests.oracles.oracle import DuckDB, Spark

pytestmark = pytest.mark.spark

POOL = pool_of(40)
_COMPILED: dict[str, Compiled] = {}


def watermarked(seed: int) -> Watermarked:
    return draw_watermarked(Seeded(seed), seeded_program(seed))


def case_of(program: Watermarked, session: Any) -> Case:
    text = program.text
    if text not in _COMPILED:
        _COMPILED[text] = compile_program(text, session=session)
    return Case(program.program, _COMPILED[text])


@st.composite
def waiting_runs(draw: st.DrawFn, program: Watermarked) -> Run:
    return draw_waiting_run(Drawn(draw), program, draw(st.integers(6, 10)))


def views_are_of_what_is_released(
    program: Watermarked,
    case: Case,
    run: Run,
    oracle: Oracle,
    way: Way,
    end: int = 0,
    advances: Advances = (),
) -> None:
    """After every step; at the end of input, and after it."""
    with Running(case, way) as running:
        held = released(program, run, end, advances)
        for number, (delta, there) in enumerate(zip(run, held, strict=True), 1):
            running.step(delta, advanced=advances[number - 1] if advances else {})
            if number == end:
                running.finish()
            told = f"step {number}, the input ends after {end}\n{program.text}\n{run}\n{advances}"
            _same(running, oracle.views(program.program, there), told)


def _same(running: Running, expected: dict[str, Any], told: str) -> None:
    for view, rows in expected.items():
        difference = same_rows(running.rows(view), rows)
        assert difference is None, f"{view}: {difference}\n{told}"


@examples(40)
@given(data=st.data())
def test_views_are_of_what_is_released(spark: Any, data: st.DataObject) -> None:
    program = watermarked(data.draw(st.integers(0, POOL - 1)))
    run = data.draw(waiting_runs(program))
    way, end = data.draw(st.sampled_from(list(WAYS.values()))), data.draw(st.integers(0, len(run)))
    advances = draw_advances_of(Drawn(data.draw), program, len(run))
    views_are_of_what_is_released(program, case_of(program, spark), run, DuckDB(), way, end, advances)


# what is kept of a group, a pair or a frame goes when a waterline has passed it: of what waited, too
EVENT = Table("event", (Column("k", "INT"), Column("ts", "BIGINT"), Column("x", "INT")))
_QUERIES = {
    "groups": "SELECT n, count(*) AS c, sum(top) AS s FROM hours GROUP BY n",
    "pairs": "SELECT a.k, count(*) AS c FROM event a JOIN event b ON a.ts = b.ts GROUP BY a.k",
    "different": "SELECT count(*) AS c FROM (SELECT DISTINCT k, ts FROM event)",
    "running": "SELECT k, sum(s) AS s FROM (SELECT k, sum(x) OVER (PARTITION BY k ORDER BY ts "
    "RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS s FROM event) GROUP BY k",
}
_HOURS = "SELECT ts, max(x) AS top, count(*) AS n FROM event GROUP BY ts"
COLLECTING = Program(
    (EVENT,),
    (View("hours", _HOURS, _HOURS, local=True), *(View(name, q, q) for name, q in _QUERIES.items())),
)


@st.composite
def dense_runs(draw: st.DrawFn) -> Run:
    """Of rows that have others near them, before and after; some are taken back in the step after."""
    row = st.tuples(st.integers(0, 1), st.integers(-2, 2), st.integers(1, 9))
    run: Run = []
    came: list[Change] = []
    for step, rows in enumerate(
        draw(st.lists(st.lists(row, min_size=1, max_size=3), min_size=5, max_size=8))
    ):
        gone = [Change("retract", change.row) for change in came if draw(st.integers(0, 3)) == 3]
        came = [Change("insert", (k, step + ahead, x)) for k, ahead, x in rows]
        run.append({"event": [*came, *gone]})
    return run


@examples(25)
@given(data=st.data())
def test_what_waited_meets_all_that_it_would_have(spark: Any, data: st.DataObject) -> None:
    """State is collected by LATENESS, though rows come out of waiting that it would call late."""
    late, waits = data.draw(st.sampled_from([(0, 3), (2, 3), (3, 1), (0, 0), (1, 1)]))
    lateness = {("event", "ts"): (str(late), late)}
    program = Watermarked(Annotated(COLLECTING, lateness), {("event", "ts"): (str(waits), waits)})
    run = data.draw(dense_runs())
    way = Way(small=ALWAYS, partitions=data.draw(st.integers(1, 2)))
    views_are_of_what_is_released(program, case_of(program, spark), run, DuckDB(), way)


@examples(3)
@given(data=st.data())
def test_as_spark_has_them(spark: Any, data: st.DataObject) -> None:
    program = watermarked(data.draw(st.integers(0, POOL - 1)))
    run = data.draw(waiting_runs(program))
    views_are_of_what_is_released(program, case_of(program, spark), run, Spark(spark), Way())


@given(data=st.data())
def test_splitting_changes_nothing_where_nothing_is_late(spark: Any, data: st.DataObject) -> None:
    program = watermarked(data.draw(st.integers(0, POOL - 1)))
    program = Watermarked(Annotated(program.program, {}), program.watermarks)
    run = data.draw(waiting_runs(program))
    laws.splitting_changes_nothing(case_of(program, spark), run, data.draw(split(run)))


@examples(10)
@given(data=st.data())
def test_the_way_changes_no_byte(spark: Any, data: st.DataObject) -> None:
    program = watermarked(data.draw(st.integers(0, POOL - 1)))
    run = data.draw(waiting_runs(program))
    way = data.draw(st.sampled_from(list(WAYS.values())))
    laws.the_way_changes_no_byte(case_of(program, spark), run, way)
