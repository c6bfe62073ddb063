"""Why a row is there: it follows from what is told of the tables, and all that is told is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.outside import batch_to_outside
from dbsp.circuits.traces.zset import ZSet
from dbsp.lineage.explaining import Explaining
from dbsp.lineage.held import Held
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Program as Compiled
from dbsp.testing.bags import arrow_values, identity, same_rows
from dbsp.views.derivation import Derivation, most, repeated
from dbsp.views.traces import Traces
from tests.effort import examples
from tests.generators.programs import Program, Table
from tests.generators.strategies import Contents, Row, pool, runs
from tests.laws.laws import WAYS, Case, Running
from tests.oracles.oracle import DuckDB, declared

POOL = 120
ROWS = 3


@pytest.mark.spark
@examples(60)
@given(data=st.data())
def test_a_row_follows_from_what_is_told_of_the_tables(spark: Any, data: st.DataObject) -> None:
    program = data.draw(pool(POOL))
    case = Case.of(program, spark)
    contents = Contents(program.tables)
    way = data.draw(st.sampled_from([*WAYS.values()]))
    with Running(case, way) as running:
        for delta in data.draw(runs(program)):
            running.step(delta)
            contents.apply(delta)
        there = {table.name: contents.rows(table.name) for table in program.tables}
        for view in program.outputs:
            rows = running.pipeline[view].zset
            for i in range(min(len(rows), ROWS)):
                told = f"{view}, row {i} of {rows.rows.to_pylist()}\n{program.text}\n{there}"
                explained(running, program, there, view, rows.take(np.array([i])), told)


def explained(
    running: Running, program: Program, there: Mapping[str, list[Row]], view: str, row: ZSet, told: str
) -> None:
    """What is told of one row, which is there some times."""
    pipeline, compiled = running.pipeline, running._program
    explaining = Explaining(
        compiled, Held(Traces(compiled), pipeline._position.state, pipeline.store.segments)
    )
    derivation = explaining.view(view, row)
    tables = {table.name: There(table, there[table.name]) for table in program.tables}
    leaves = {name: tables[name].those(rows, told) for name, rows in of_tables(derivation).items()}
    if any(one.note for one in derivation.walk()):
        return  # an append-only table is kept by nobody
    wanted, plans = values(row), plans_of(compiled, view)
    if not any(compiled.views[name].component for name in plans):
        sufficient = explaining.sufficient(view, row)
        alone = {name: table.those(sufficient.get(name), told) for name, table in tables.items()}
        like_it = times(running.rows(view), wanted[0])  # 0.0 and -0.0 are the same to the oracle
        found = times(DuckDB().views(program, alone)[view], wanted[0])
        assert len(wanted) <= found <= like_it, f"{alone}: {told}"
    if all(map(is_positive, plans.values())):
        alone = {name: leaves.get(name, []) for name in tables}
        assert times(DuckDB().views(program, alone)[view], wanted[0]), f"{alone}: {told}"


def times(rows: list[Row], wanted: Row) -> int:
    """How often the row is among them."""
    return sum(same_rows([each], [wanted]) is None for each in rows)


class There:
    """The rows of a table, to be found by what Arrow has of them."""

    def __init__(self, table: Table, rows: list[Row]) -> None:
        shown = arrow_values(pa.Table.from_batches([batch_to_outside(declared(table, rows))]))
        self.rows = [(identity(one), row) for one, row in zip(shown, rows, strict=True)]

    def those(self, wanted: ZSet | None, told: str) -> list[Row]:
        """Each of them is there, as often."""
        left, found = list(self.rows), []
        for row in map(identity, [] if wanted is None else values(wanted)):
            match = next((one for one in left if one[0] == row), None)
            assert match is not None, f"{row} isn't there: {told}"
            left.remove(match)
            found.append(match[1])
        return found


def of_tables(derivation: Derivation) -> dict[str, ZSet]:
    parts: dict[str, list[ZSet]] = {}
    for one in derivation.walk():
        if one.is_table:
            parts.setdefault(one.relation, []).append(one.rows)
    return {name: most(found) for name, found in parts.items()}


def values(rows: ZSet) -> list[Row]:
    return arrow_values(pa.Table.from_batches([batch_to_outside(repeated(rows))]))


def plans_of(compiled: Compiled, view: str) -> dict[str, Plan]:
    """Of the view and of all that it reads."""
    found: dict[str, Plan] = {}
    left = [view]
    while left:
        name = left.pop()
        if name in compiled.views and name not in found:
            found[name] = compiled.views[name].plan
            left += found[name].scanned()
    return found


def is_positive(plan: Plan) -> bool:
    """Whether nothing in it asks what isn't there: then it needs but the rows that count."""
    if isinstance(plan, p.Join | p.AsOf) and plan.kind not in ("inner", "semi"):
        return False
    if isinstance(plan, p.SetOperation) and plan.kind.startswith("except"):
        return False
    return all(map(is_positive, plan.inputs))
