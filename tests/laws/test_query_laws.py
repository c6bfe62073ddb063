"""A query that is asked once gives what it would hold as a view, however its tables' rows are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.zset import ZSet
from dbsp.queries.answer import answer
from dbsp.queries.plans import Plans
from dbsp.testing.bags import arrow_values, same_rows
from dbsp.views.view import Contents as Held
from tests.dbsp.narrow import narrow_all
from tests.effort import examples, pool_of
from tests.generators.programs import Program, Table
from tests.generators.python_functions import declarations
from tests.generators.strategies import Contents, Row, pool, runs
from tests.oracles.oracle import DuckDB, declared

POOL = pool_of(60)


@pytest.mark.spark
@examples(60)
@given(data=st.data())
def test_a_query_gives_what_a_view_would_hold(spark: Any, data: st.DataObject) -> None:
    """Each view of a program is asked, of the tables and of the answers before it; also where rows are looked
    up of tables as small as these.
    """
    program = data.draw(pool(POOL).filter(is_plain))
    contents = Contents(program.tables)
    for delta in data.draw(runs(program)):
        contents.apply(delta)
    there = {table.name: contents.rows(table.name) for table in program.tables}
    plans = Plans(lambda: spark, "UTC")
    known = {table.name: stored(table, there[table.name], data) for table in program.tables}
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans()):
            narrow_all(patch)
        for view in program.views:
            known[view.name] = answer(plans, view.query, known)
    for name, expected in DuckDB().views(program, there).items():
        difference = same_rows(arrow_values(known[name].to_arrow()), expected)
        assert difference is None, f"{name}: {difference}\n{program.text}\n{there}"


def is_plain(program: Program) -> bool:
    """Whether its queries are whole: they call none of its functions, nor themselves."""
    views = program.views
    return not declarations(view.query for view in views) and not any(view.recursive for view in views)


def stored(table: Table, rows: list[Row], data: st.DataObject) -> Held:
    """The rows in some parts, beside others that are added in one and taken back in another."""
    batch = declared(table, rows)
    both = [batch.slice(0, len(rows) // 2), batch.slice(len(rows) // 2)]
    parts = [ZSet(part, np.ones(len(part), np.int64)) for part in both]
    again = batch.take(pa.array([i for i in range(len(rows)) if data.draw(st.booleans())], pa.int64()))
    noise = ZSet(again, np.full(len(again), data.draw(st.integers(1, 3)), np.int64))
    return Held(table.name, batch.schema, [noise, *parts, -noise])
