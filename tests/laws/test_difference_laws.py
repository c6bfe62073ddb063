"""Joins by a difference: what is within the bounds is what every pair would say, and a step fails of just the
pairs of which it would fail.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbsp
import dbsp.sql.plans.expressions.bands
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.joins.join import Join
from dbsp.circuits.traces.band import ValueBand
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program as Compiled
from dbsp.testing.choices import Seeded
from tests.effort import examples, pool_of
from tests.generators.differences import draw_differences, far_apart
from tests.generators.programs import Program, table
from tests.generators.programs import program as program_of
from tests.generators.strategies import Change, Row, runs, split
from tests.laws import laws
from tests.laws.laws import WAYS, Case, Way
from tests.laws.test_evolution_laws import goes_on_after, opened, step
from tests.oracles.oracle import DuckDB, Spark

pytestmark = pytest.mark.spark

POOL = pool_of(40)
_BY_PAIRS: dict[str, Compiled] = {}


@pytest.fixture(scope="module")
def duckdb() -> DuckDB:
    return DuckDB()


def known_programs() -> st.SearchStrategy[Program]:
    return st.integers(0, POOL - 1).map(lambda seed: draw_differences(Seeded(seed)))


def failing_programs() -> st.SearchStrategy[Program]:
    return st.integers(0, POOL - 1).map(lambda seed: draw_differences(Seeded(seed), fails=True))


@examples(200)
@given(data=st.data())
def test_incremental_equals_batch(spark: Any, duckdb: DuckDB, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    way = data.draw(st.sampled_from([Way(), *WAYS.values()]))
    laws.incremental_equals_batch(Case.of(program, spark), data.draw(runs(program, steps=8)), duckdb, way)


@examples(6)
@given(data=st.data())
def test_incremental_equals_spark(spark: Any, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    laws.incremental_equals_batch(Case.of(program, spark), data.draw(runs(program, steps=3)), Spark(spark))


@examples(20)
@given(data=st.data())
def test_splitting_changes_nothing(spark: Any, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    run = data.draw(runs(program))
    laws.splitting_changes_nothing(Case.of(program, spark), run, data.draw(split(run)))


@examples(20)
@given(data=st.data())
def test_retracting_all_leaves_nothing(spark: Any, data: st.DataObject) -> None:
    program = data.draw(known_programs())
    laws.retracting_all_leaves_nothing(Case.of(program, spark), data.draw(runs(program)))


def by_pairs(program: Program, session: Any) -> Compiled:
    """As an earlier release has compiled it."""
    if program.text not in _BY_PAIRS:
        with patch.object(dbsp.sql.plans.expressions.bands, "difference", lambda _: None):
            _BY_PAIRS[program.text] = compile_program(program.text, session=session)
    return _BY_PAIRS[program.text]


@examples(200)
@given(data=st.data())
def test_a_step_fails_where_it_does_by_pairs(spark: Any, data: st.DataObject) -> None:
    program = data.draw(failing_programs())
    tables = {table.name: table for table in program.tables}
    run = far_apart(program, data.draw(runs(program, steps=6, most=3)))
    with tempfile.TemporaryDirectory() as root:
        compiled = {"pairs": by_pairs(program, spark), "bounds": Case.of(program, spark).compiled}
        outcomes = []
        for name, one in compiled.items():
            told: list[object] = []
            with opened(one, Path(root) / name) as p:
                for delta in run:
                    try:
                        told.append(step(p, tables, delta))
                    except EvaluationError as error:
                        told.append(error.condition)
                        break
            outcomes.append(told)
    assert outcomes[0] == outcomes[1]


@examples(40)
@given(data=st.data())
def test_a_state_of_pairs_goes_on(spark: Any, data: st.DataObject) -> None:
    """Traces in another order are made of what the state holds, whatever its tables keep."""
    program = data.draw(known_programs())
    before, after = by_pairs(program, spark), Case.of(program, spark).compiled
    tables = {table.name: table for table in program.tables}
    run = data.draw(runs(program, steps=6))
    at = data.draw(st.integers(1, len(run)))
    goes_on_after(before, after, tables, run, at)


def test_most_have_bounds(spark: Any) -> None:
    """Of the programs that are drawn: from both sides and from one, of what may fail and of what doesn't."""
    drawn = [Case.of(draw_differences(Seeded(seed)), spark).compiled.circuit for seed in range(40)]
    joins = [node.operator for circuit in drawn for node in circuit.nodes if isinstance(node.operator, Join)]
    bands = [join.right_band for join in joins if isinstance(join.right_band, ValueBand)]
    assert {(band.is_closed, bool(band.under)) for band in bands} == {
        (closed, fails) for closed in (False, True) for fails in (False, True)
    }
    assert len(bands) > len(joins) / 2


FAR = table("t", "k INT NOT NULL, i BIGINT, n INT NOT NULL")
LEAST, MOST = -(2**63), 2**63 - 1
MAX = 2**31 - 1
FAILS = {
    "far below": ("l.k = r.k AND r.i - l.i BETWEEN 1 AND 20", (1, MOST, 0), (1, -2, 0), True),
    "far above": ("l.k = r.k AND r.i - l.i BETWEEN 1 AND 20", (1, -2, 0), (1, MOST, 0), True),
    "as far as goes": ("l.k = r.k AND r.i - l.i BETWEEN 1 AND 20", (1, 0, 0), (1, MOST, 0), False),
    "of another key": ("l.k = r.k AND r.i - l.i BETWEEN 1 AND 20", (1, MOST, 0), (2, -2, 0), False),
    "without a key": ("r.i - l.i BETWEEN 1 AND 20", (1, MOST, 0), (2, -2, 0), True),
    "its absolute value": ("abs(r.i - l.i) <= 2", (1, 0, 0), (1, LEAST, 0), True),
    "what comes before": ("l.n + r.n > 0 AND r.i - l.i < 2", (1, 0, MAX), (1, 9, MAX), True),
    "what comes after": ("r.i - l.i < 2 AND l.n + r.n > 0", (1, 0, MAX), (1, 9, MAX), False),
    "what comes after NULL": (
        "r.i - l.i < 2 AND l.n + r.n > 0",
        (1, 0, MAX),
        (1, None, MAX),
        False,
    ),
}


@pytest.mark.parametrize("name", FAILS)
@pytest.mark.parametrize("turned", [False, True])
def test_a_step_fails_where_spark_does(spark: Any, name: str, turned: bool) -> None:
    condition, *two, fails = FAILS[name]
    program = program_of(
        [FAR, table("u", "k INT NOT NULL, i BIGINT, n INT NOT NULL")],
        v=f"SELECT l.k FROM t l JOIN u r ON {condition}",
    )
    contents: dict[str, list[Row]] = {"t": [two[0]], "u": [two[1]]}
    fails_as_spark(spark, program, contents, turned, fails)


@pytest.mark.parametrize("kind", ["JOIN", "LEFT SEMI JOIN", "LEFT JOIN", "LEFT ANTI JOIN"])
@pytest.mark.parametrize("condition", ["l.j >= r.j AND l.i - r.i < 5", "l.i - r.i < 5 AND l.j <> r.j"])
def test_nothing_is_computed_of_rows_that_a_null_leaves_out(spark: Any, kind: str, condition: str) -> None:
    """Of both sides, or where left rows without a match count, of the right one."""
    columns = "i BIGINT NOT NULL, j INT"
    program = program_of(
        [table("t", columns), table("u", columns)], v=f"SELECT l.i FROM t l {kind} u r ON {condition}"
    )
    cases: list[dict[str, list[Row]]] = [{"t": [(MOST, 1)], "u": [(-9, None)]}]
    if kind in ("JOIN", "LEFT SEMI JOIN"):
        cases.append({"t": [(MOST, None)], "u": [(-9, 1)]})
    for contents in cases:
        for turned in (False, True):
            fails_as_spark(spark, program, contents, turned, fails=False)


def test_what_a_null_equals_is_met(spark: Any) -> None:
    """A computed key is none of the other side's columns."""
    columns = "i BIGINT NOT NULL, j INT"
    program = program_of(
        [table("t", columns), table("u", columns)],
        v="SELECT l.i, r.i AS k FROM t l JOIN u r ON l.j + 1 <=> r.j + 1 AND r.i >= l.i AND r.i - l.i < 5",
    )
    run = [{"t": [Change("insert", (1, None))]}, {"u": [Change("insert", (2, None))]}]
    laws.incremental_equals_batch(Case.of(program, spark), run, Spark(spark))


def fails_as_spark(
    spark: Any, program: Program, contents: dict[str, list[Row]], turned: bool, fails: bool
) -> None:
    """turned: the right row comes first."""
    tables = {table.name: table for table in program.tables}

    def failing(run: Any) -> bool:
        try:
            run()
        except Exception as error:
            assert "OVERFLOW" in str(error)
            return True
        return False

    assert failing(lambda: Spark(spark).views(program, contents)) == fails
    first, second = ("u", "t") if turned else ("t", "u")
    with tempfile.TemporaryDirectory() as root, opened(Case.of(program, spark).compiled, Path(root)) as p:
        step(p, tables, {first: [Change("insert", contents[first][0])]})
        assert failing(lambda: step(p, tables, {second: [Change("insert", contents[second][0])]})) == fails
