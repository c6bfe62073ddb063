"""A circuit that is evaluated once gives what stepping it comes to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.operators.linear import Map
from dbsp.circuits.steps.evaluation import evaluate
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import output, source, trace
from tests.circuits.steps.test_step import HALF, MADE, SCHEMA
from tests.effort import examples
from tests.generators.columns.zsets import zset_of
from tests.generators.strategies import pool, runs
from tests.laws.laws import Running, naive
from tests.laws.test_quick_laws import case_of
from tests.oracles.oracle import declared
from tests.oracles.recorded_catalyst import KNOWN


@pytest.mark.slow
@examples(30)
@given(data=st.data())
def test_one_evaluation_of_all_deltas_is_their_steps(data: st.DataObject) -> None:
    """Of bags: what the steps changed in their tables, all at once and in parts."""
    drawn = data.draw(pool(KNOWN).filter(lambda known: not any(one.key for one in known.tables)))
    case = case_of(drawn)
    tables: dict[str, list[ZSet]] = {one.name: [] for one in drawn.tables}
    with Running(case) as running:
        for delta in data.draw(runs(drawn)):
            running.step(delta)
            for name, changes in delta.items():
                rows = declared(drawn.table(name), [change.row for change in changes])
                signs = [change.weight if change.kind == "insert" else -change.weight for change in changes]
                tables[name].append(ZSet(rows, np.array(signs, np.int64)))
        found = evaluate(case.compiled.circuit, tables)
        for view in drawn.outputs:
            assert naive(found[view].consolidate()) == naive(running.pipeline[view].zset), view


def test_the_rows_of_a_view_are_not_put_in_order() -> None:
    """Its trace is nobody's here: what it would have cancelled is still there."""
    builder = CircuitBuilder()
    output(builder, "v", trace(builder, source(builder, "t", SCHEMA)))
    both = zset_of(SCHEMA, [((1, 2), 1), ((1, 2), -1), ((3, 4), 2)])
    found = evaluate(builder.build(), {"t": [both]})["v"]
    assert len(found) == 3
    assert found == zset_of(SCHEMA, [((3, 4), 2)])


def test_a_row_without_a_value_names_the_view() -> None:
    builder = CircuitBuilder()
    output(builder, "v", trace(builder, builder.add(Map((HALF,), MADE), source(builder, "t", SCHEMA))))
    with pytest.raises(EvaluationError, match=r"view 'v'.*DIVIDE_BY_ZERO"):
        evaluate(builder.build(), {"t": [zset_of(SCHEMA, [((1, 0), 1)])]})
