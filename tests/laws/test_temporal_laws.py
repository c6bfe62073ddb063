"""Temporal filters, random programs and clocks: every view is its query with the step's clock for NOW()."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.steps.next_wakeup import next_due
from dbsp.sql.compiler.load import compile_program
from dbsp.testing.choices import Seeded
from dbsp.testing.strategies import Drawn
from tests.effort import examples, pool_of
from tests.generators.lateness import draw_annotated, surviving
from tests.generators.programs import Program, View, table
from tests.generators.programs import program as program_of
from tests.generators.strategies import Change, Delta, Run, runs, split
from tests.generators.temporal import START, draw_clocks, draw_temporal_program
from tests.laws import laws
from tests.laws.laws import WAYS, Case, Running, Way
from tests.laws.test_lateness_laws import WAYS as LATE_WAYS
from tests.laws.test_lateness_laws import annotated_case, drifting_runs
from tests.oracles.emission import triggered
from tests.oracles.oracle import DuckDB, Spark

pytestmark = pytest.mark.spark

POOL = pool_of(40)


@pytest.fixture(scope="module")
def duckdb() -> DuckDB:
    return DuckDB()


def known_programs() -> st.SearchStrategy[Program]:
    return st.integers(0, POOL - 1).map(lambda seed: draw_temporal_program(Seeded(seed)))


@st.composite
def clocks(draw: st.DrawFn, run: Run) -> list[datetime]:
    return draw_clocks(Drawn(draw), len(run))


@examples(60)
@given(data=st.data())
def test_incremental_equals_batch(spark: Any, duckdb: DuckDB, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    run = [*data.draw(runs(program, steps=7)), {}, {}]
    way = data.draw(st.sampled_from([Way(), *WAYS.values()]))
    laws.incremental_equals_batch(Case.of(program, spark), run, duckdb, way, data.draw(clocks(run)))


@examples(4)
@given(data=st.data())
def test_incremental_equals_spark(spark: Any, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    run = [*data.draw(runs(program, steps=3)), {}]
    laws.incremental_equals_batch(Case.of(program, spark), run, Spark(spark), clocks=data.draw(clocks(run)))


@examples(20)
@given(data=st.data())
def test_splitting_changes_nothing(spark: Any, data: st.DataObject) -> None:
    """The parts of a step may have any clocks that end where the step's does."""
    program = data.draw(known_programs())
    run = data.draw(runs(program))
    parts = data.draw(split(run))
    of_run, of_parts = data.draw(clocks(run)), data.draw(clocks(parts))
    of_parts = [min(clock, of_run[-1]) for clock in of_parts[:-1]] + [of_run[-1]]
    laws.splitting_changes_nothing(Case.of(program, spark), run, parts, of_run, of_parts)


@examples(20)
@given(data=st.data())
def test_nothing_happens_while_the_clock_stands_still(spark: Any, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    run = data.draw(runs(program))
    laws.empty_gives_empty(Case.of(program, spark), run, data.draw(clocks(run)))


@examples(20)
@given(data=st.data())
def test_retracting_all_leaves_nothing(spark: Any, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    run = data.draw(runs(program))
    laws.retracting_all_leaves_nothing(Case.of(program, spark), run, data.draw(clocks(run)))


@pytest.mark.parametrize("way", WAYS)
@examples(15)
@given(data=st.data())
def test_the_way_changes_no_byte(spark: Any, way: str, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    run = [*data.draw(runs(program)), {}]
    laws.the_way_changes_no_byte(Case.of(program, spark), run, WAYS[way], data.draw(clocks(run)))


@examples(3)
@given(data=st.data())
def test_the_spark_runner_gives_the_same_bytes(spark: Any, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    run = data.draw(runs(program, steps=3))
    way = Way("spark", 3, reopened=True, spark=spark)
    laws.the_way_changes_no_byte(Case.of(program, spark), run, way, data.draw(clocks(run)))


@pytest.mark.parametrize("emitting", [False, True])
@examples(20)
@given(data=st.data())
def test_nothing_happens_before_it_is_due(spark: Any, emitting: bool, data: st.DataObject) -> None:
    """Nothing but the clock moves: no step changes anything until the moment that was foretold."""
    program = data.draw(known_programs())
    if emitting:
        program = triggered(Seeded(0), program)
    case = Case.of(program, spark)
    run = data.draw(runs(program, steps=4))
    with Running(case, data.draw(st.sampled_from(list(WAYS.values())))) as running:
        for _, delta, clock in laws.clocked(run, data.draw(clocks(run))):
            running.step(delta, clock)
        for _ in range(3):
            pipeline = running.pipeline
            due = next_due(case.compiled.circuit, pipeline._position.state, pipeline.store.segments)
            if due is None:
                assert running.step({}, pipeline.clock + timedelta(days=300_000)) == ""
                break
            assert due > pipeline.clock
            assert running.step({}, due - timedelta(microseconds=1)) == "", f"due at {due}: {program.text}"
            running.step({}, due)


def test_something_happens_when_it_is_due(spark: Any) -> None:
    """Where no row is retracted, what is due is exactly when the next row comes or goes."""
    query = (
        "SELECT id FROM t WHERE ts <= now() AND ts > now() - INTERVAL 5 MINUTES "
        "AND CAST(ts AS DATE) = current_date()"
    )
    case = Case.of(program_of([table("t", "id INT, ts TIMESTAMP")], v=query), spark)
    times = [START + timedelta(minutes=m) for m in (7, 3, 857, 14 * 60 + 15)]
    changes = [Change("insert", (n, at)) for n, at in enumerate(times)]
    with Running(case) as running:
        running.step({"t": changes}, START)
        for minutes in (3, 7, 8, 12, 855, 857, 860, 862):
            pipeline = running.pipeline
            due = next_due(case.compiled.circuit, pipeline._position.state, pipeline.store.segments)
            assert due == START + timedelta(minutes=minutes)
            assert running.step({}, due) != ""


@pytest.mark.parametrize("way", LATE_WAYS)
@examples(20)
@given(data=st.data())
def test_lateness_leaves_out_late_rows_and_nothing_else(spark: Any, way: str, data: st.DataObject) -> None:
    """Whatever waterlines and the clock collect together: rows that leave do so though they are long late."""
    seed = data.draw(st.integers(0, POOL - 1))
    program = draw_temporal_program(Seeded(seed))
    annotated = draw_annotated(Seeded(seed), program)
    run = [*data.draw(drifting_runs(annotated)), {}, {}]
    kept = surviving(annotated, run)
    late, plain = annotated_case(annotated, spark), Case.of(program, spark)
    with Running(late, LATE_WAYS[way]) as one, Running(plain) as other:
        for number, delta, clock in laws.clocked(run, data.draw(clocks(run))):
            found, expected = one.changes(delta, clock), other.changes(kept[number - 1], clock)
            assert found == expected, f"step {number} of\n{annotated.text}\n{run}\nsurviving: {kept}"


ARRIVING = """
CREATE TABLE a (k BIGINT, i INT, arrived TIMESTAMP{0}) WITH (append_only = true);
CREATE TABLE u (k BIGINT, i INT, arrived TIMESTAMP{0}, PRIMARY KEY (k));
CREATE VIEW per_window AS
SELECT i, count(*) AS n, window.start AS starts FROM a GROUP BY i, window(arrived, '10 minutes');
CREATE VIEW recent AS SELECT k, i, arrived FROM u WHERE arrived > now() - INTERVAL 10 MINUTES;
CREATE VIEW paired AS SELECT a.k, u.arrived FROM a JOIN u ON a.k = u.k AND a.arrived <= u.arrived;
"""


def arriving(default: str, session: Any) -> Case:
    columns = "k BIGINT, i INT, arrived TIMESTAMP"
    tables = (table("a", columns, append_only=True), table("u", columns, key=("k",)))
    views = tuple(View(name, "", None) for name in ("per_window", "recent", "paired"))
    return Case(Program(tables, views), compile_program(ARRIVING.format(default), session=session))


def with_arrivals(delta: Delta, arrived: datetime | None) -> Delta:
    return {
        name: [c if c.kind == "delete" else replace(c, row=(*c.row[:2], arrived)) for c in changes]
        for name, changes in delta.items()
    }


@examples(25)
@given(data=st.data())
def test_a_default_is_the_step_clock_given_as_a_value(spark: Any, data: st.DataObject) -> None:
    """However it is run, and in a replay."""
    defaulted, plain = arriving(" NOT NULL DEFAULT now()", spark), arriving(" NOT NULL", spark)
    run = data.draw(runs(plain.program))
    way = data.draw(st.sampled_from(list(WAYS.values())))
    with Running(defaulted, way) as one, Running(defaulted) as again, Running(plain) as other:
        for number, delta, clock in laws.clocked(run, data.draw(clocks(run))):
            found = one.step(with_arrivals(delta, None), clock)
            assert found == other.step(with_arrivals(delta, clock), clock), f"step {number}: {delta}"
            assert found == again.step(with_arrivals(delta, None), one.pipeline.clock)
