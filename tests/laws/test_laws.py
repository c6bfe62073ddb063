"""Random programs, random deltas: every law, over everything the engine has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples, pool_of
from tests.generators.strategies import pool, programs, runs, split
from tests.laws import laws
from tests.laws.laws import WAYS, Case, Way
from tests.oracles.oracle import DuckDB, Spark

pytestmark = pytest.mark.spark

POOL = pool_of(60)


@pytest.fixture(scope="module")
def duckdb() -> DuckDB:
    return DuckDB()


@examples(40)
@given(data=st.data())
def test_incremental_equals_batch(spark: Any, duckdb: DuckDB, data: st.DataObject) -> None:
    program = data.draw(programs())
    laws.incremental_equals_batch(Case.of(program, spark), data.draw(runs(program)), duckdb)


@examples(60)
@given(data=st.data())
def test_incremental_equals_batch_over_known_programs(
    spark: Any, duckdb: DuckDB, data: st.DataObject
) -> None:
    program = data.draw(pool(POOL))
    way = data.draw(st.sampled_from(list(WAYS.values())))
    laws.incremental_equals_batch(Case.of(program, spark), data.draw(runs(program)), duckdb, way)


@examples(4)
@given(data=st.data())
def test_incremental_equals_spark(spark: Any, data: st.DataObject) -> None:
    program = data.draw(pool(POOL))
    run = data.draw(runs(program, steps=3))
    laws.incremental_equals_batch(Case.of(program, spark), run, Spark(spark))


@given(data=st.data())
def test_splitting_changes_nothing(spark: Any, data: st.DataObject) -> None:
    program = data.draw(pool(POOL))
    run = data.draw(runs(program))
    laws.splitting_changes_nothing(Case.of(program, spark), run, data.draw(split(run)))


@given(data=st.data())
def test_empty_gives_empty(spark: Any, data: st.DataObject) -> None:
    program = data.draw(pool(POOL))
    laws.empty_gives_empty(Case.of(program, spark), data.draw(runs(program)))


@given(data=st.data())
def test_retracting_all_leaves_nothing(spark: Any, data: st.DataObject) -> None:
    program = data.draw(pool(POOL))
    laws.retracting_all_leaves_nothing(Case.of(program, spark), data.draw(runs(program)))


@pytest.mark.parametrize("way", WAYS)
@examples(15)
@given(data=st.data())
def test_the_way_changes_no_byte(spark: Any, way: str, data: st.DataObject) -> None:
    program = data.draw(pool(POOL))
    laws.the_way_changes_no_byte(Case.of(program, spark), data.draw(runs(program)), WAYS[way])


@given(data=st.data())
def test_a_failing_step_changes_nothing(spark: Any, data: st.DataObject) -> None:
    program = data.draw(pool(POOL))
    laws.a_failing_step_changes_nothing(Case.of(program, spark), data.draw(runs(program)))


@examples(6)
@given(data=st.data())
def test_the_spark_runner_gives_the_same_bytes(spark: Any, data: st.DataObject) -> None:
    """One task a step, and a stage a level."""
    program = data.draw(pool(POOL))
    case, run = Case.of(program, spark), data.draw(runs(program, steps=3))
    for partitions in (1, 3):
        laws.the_way_changes_no_byte(
            case, run, Way("spark", partitions, reopened=partitions > 1, spark=spark)
        )
