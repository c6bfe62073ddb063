"""Rows with a match, or without, by keys and a comparison: random programs with every comparison, of values
of every type, of rows that come and go.
"""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dbsp
import dbsp.sql.lowering.join
from dbsp.circuits.operators.joins.compared import ComparedSemiJoin
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program as Compiled
from dbsp.sql.rules import driver
from dbsp.sql.rules.semi_joins import semi_joins
from dbsp.testing.choices import Seeded
from tests.effort import examples, pool_of
from tests.generators.compared import draw_compared
from tests.generators.programs import Program
from tests.generators.strategies import runs, split
from tests.laws import laws
from tests.laws.laws import WAYS, Case, Way
from tests.laws.test_evolution_laws import goes_on_after
from tests.oracles.oracle import DuckDB, Spark

pytestmark = pytest.mark.spark

POOL = pool_of(40)
_BY_PAIRS: dict[str, Compiled] = {}


@pytest.fixture(scope="module")
def duckdb() -> DuckDB:
    return DuckDB()


def known_programs() -> st.SearchStrategy[Program]:
    return st.integers(0, POOL - 1).map(lambda seed: draw_compared(Seeded(seed)))


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
        rules = tuple(rule for rule in driver.RULES if rule is not semi_joins)
        with (
            patch.object(dbsp.sql.lowering.join, "compared", lambda *_: None),
            patch.object(driver, "RULES", rules),
        ):
            _BY_PAIRS[program.text] = compile_program(program.text, session=session)
    return _BY_PAIRS[program.text]


@examples(60)
@given(data=st.data())
def test_a_state_of_pairs_goes_on(spark: Any, data: st.DataObject) -> None:
    """What ends are looked up in is made of what the state holds, whatever its tables keep, and no view
    is but where what is compared is computed. Pairs with an aggregate's row were pairs of the plan, too.
    """
    program = data.draw(known_programs())
    before, after = by_pairs(program, spark), Case.of(program, spark).compiled
    aggregates = any(f"(SELECT {function}(" in program.text for function in ("avg", "min", "max"))
    assert aggregates or before.fingerprint == after.fingerprint
    tables = {table.name: table for table in program.tables}
    run = data.draw(runs(program, steps=6))
    at = data.draw(st.integers(1, len(run)))
    plan = goes_on_after(before, after, tables, run, at)
    assert not plan.of("back-filled") or aggregates or "coalesce" in program.text


def test_most_are_told_by_ends(spark: Any) -> None:
    """Of the programs that are drawn, by each of the ends and by both, of matches and of none."""
    drawn = [Case.of(draw_compared(Seeded(seed)), spark).compiled.circuit for seed in range(40)]
    made = [n.operator for c in drawn for n in c.nodes if isinstance(n.operator, ComparedSemiJoin)]
    assert {(one.least, one.greatest, one.anti) for one in made} == {
        (least, greatest, anti) for least, greatest in ((1, 0), (0, 1), (1, 1)) for anti in (False, True)
    }
