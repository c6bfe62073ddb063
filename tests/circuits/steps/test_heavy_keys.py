"""Of a key that many rows have no more rows move than its reader can tell apart; of others all do."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.top import TopOfAppends
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.steps import exchange
from dbsp.circuits.steps.exchange import receive, send
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import Engine, Options, source
from tests.generators.columns.zsets import naive_of

PAIRS = pa.schema([("k", pa.int64()), ("v", pa.int64())])
KEYS = pa.schema([("k", pa.int64())])
FIRST = TopOfAppends((0,), (SortKey(1),), "row_number", 2)


def read_by(schema: pa.Schema, *operators: Operator) -> tuple[Circuit, int, int]:
    """(circuit, the table's node, the exchange's)"""
    builder = CircuitBuilder()
    rows = source(builder, "t", schema)
    moved = builder.add(Exchange((0,)), rows)
    for n, operator in enumerate(operators):
        kept = builder.add(operator, moved)
        builder.output(f"v{n}", kept, kept)
    return builder.build(), rows, moved


def skewed(schema: pa.Schema, weights: np.ndarray | None = None) -> ZSet:
    """6,000 rows, every second of which has key 0."""
    numbers = np.arange(6_000)
    columns = [pa.array(np.where(numbers % 2 == 0, 0, numbers)), pa.array(numbers[::-1])]
    rows = pa.RecordBatch.from_arrays(columns[: len(schema)], schema=schema)
    return ZSet(rows, np.ones(6_000, dtype=np.int64) if weights is None else weights)


def moving(delta: ZSet, *operators: Operator) -> ZSet:
    circuit, rows, moved = read_by(delta.schema, *operators)
    messages = [message for _, _, message in send(circuit, {rows: delta}, 1, 0, 3)]
    return ZSet.sum(delta.schema, [receive(circuit, moved, [each], ()) for each in messages])  # type: ignore[misc]


def test_of_a_heavy_partition_its_first_rows_move() -> None:
    found = moving(skewed(PAIRS), FIRST)
    assert len(found) == 3_000 + 2
    assert sorted(found.rows.filter(pc.field("k") == 0).column(1).to_pylist()) == [1, 3]


def test_equal_rows_move_as_one() -> None:
    found = moving(skewed(KEYS), Integrate((0,)))
    assert len(found) == 3_000 + 1
    assert found.weights[found.column(0).to_numpy() == 0].tolist() == [3_000]


def test_rows_that_cancel_stay() -> None:
    numbers = np.arange(6_000)
    weights = np.where(numbers % 4 == 0, -1, 1)
    assert len(moving(skewed(KEYS, weights), Integrate((0,)))) == 3_000


def test_all_rows_move_where_a_reader_tells_them_apart() -> None:
    assert len(moving(skewed(PAIRS), Integrate((0,)))) == 6_000
    assert len(moving(skewed(PAIRS), FIRST, Integrate((0,)))) == 6_000


def test_few_rows_are_not_looked_at() -> None:
    few = skewed(PAIRS).take(np.arange(2_000))
    assert len(moving(few, FIRST)) == 2_000


pairs = st.tuples(st.integers(0, 2), st.integers(0, 5))


@given(
    st.lists(st.lists(pairs, max_size=12), min_size=1, max_size=3), st.sampled_from([FIRST, Integrate((0,))])
)
def test_tasks_put_out_what_one_does(tmp_path_factory, steps, operator) -> None:  # type: ignore[no-untyped-def]
    schema = PAIRS if operator is FIRST else KEYS
    circuit, _, _ = read_by(schema, operator)
    one, many = (
        Engine(circuit, tmp_path_factory.mktemp("engine"), options)
        for options in (Options(), Options(partitions=3, parts=2))
    )
    with patch.multiple(exchange, _FEW=0, _OFTEN=1):
        for rows in steps:
            columns = [pa.array([row[i] for row in rows], pa.int64()) for i in range(len(schema))]
            delta = ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), np.ones(len(rows), np.int64))
            assert naive_of(one.step({"t": delta})["v0"]) == naive_of(many.step({"t": delta})["v0"])
