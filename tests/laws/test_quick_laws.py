"""The laws over the known random programs, in this process: no JVM, the oracle is DuckDB.

Of each law a few examples; test_laws.py draws many, and new programs.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.generators.programs import Program
from tests.generators.strategies import pool, runs, split
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import DuckDB
from tests.oracles.recorded_catalyst import KNOWN, compile_recorded

_CASES: dict[Program, Case] = {}


def case_of(program: Program) -> Case:
    if program not in _CASES:
        _CASES[program] = Case(program, compile_recorded(program.text))
    return _CASES[program]


@pytest.fixture(scope="module")
def duckdb() -> DuckDB:
    return DuckDB()


@examples(60)
@given(data=st.data())
def test_incremental_equals_batch(duckdb: DuckDB, data: st.DataObject) -> None:
    program = data.draw(pool(KNOWN))
    laws.incremental_equals_batch(case_of(program), data.draw(runs(program)), duckdb)


@examples(30)
@given(data=st.data())
def test_incremental_equals_batch_in_any_way(duckdb: DuckDB, data: st.DataObject) -> None:
    program = data.draw(pool(KNOWN))
    way = data.draw(st.sampled_from(list(WAYS.values())))
    laws.incremental_equals_batch(case_of(program), data.draw(runs(program)), duckdb, way)


@examples(15)
@given(data=st.data())
def test_splitting_changes_nothing(data: st.DataObject) -> None:
    program = data.draw(pool(KNOWN))
    run = data.draw(runs(program))
    laws.splitting_changes_nothing(case_of(program), run, data.draw(split(run)))


@examples(15)
@given(data=st.data())
def test_empty_gives_empty(data: st.DataObject) -> None:
    program = data.draw(pool(KNOWN))
    laws.empty_gives_empty(case_of(program), data.draw(runs(program)))


@examples(15)
@given(data=st.data())
def test_retracting_all_leaves_nothing(data: st.DataObject) -> None:
    program = data.draw(pool(KNOWN))
    laws.retracting_all_leaves_nothing(case_of(program), data.draw(runs(program)))


@pytest.mark.parametrize("way", ["seven partitions", "reopened", "merges in pieces", "four-bit hashes"])
@examples(8)
@given(data=st.data())
def test_the_way_changes_no_byte(way: str, data: st.DataObject) -> None:
    program = data.draw(pool(KNOWN))
    laws.the_way_changes_no_byte(case_of(program), data.draw(runs(program)), WAYS[way])
