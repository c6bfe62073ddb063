"""What travels between levels: each row once, to the partition of its hash or to all, and is read back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.columns.hashing import FOUR_BITS, hash_rows
from dbsp.circuits.operators.linear import Union
from dbsp.circuits.operators.operator import Value
from dbsp.circuits.operators.streams import Broadcast, Delay, Exchange, Integrate, Remembered
from dbsp.circuits.steps.exchange import receive, received_nodes, send
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet
from tests.circuits.engine import source
from tests.generators.columns.zsets import naive_of, plus, zsets

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string())])
partitions = st.integers(1, 4)
hash_seeds = st.sampled_from([0, FOUR_BITS])


def moved_by(operator: Exchange, seed: int = 0) -> tuple[Circuit, int, int]:
    builder = CircuitBuilder(seed)
    rows = source(builder, "r", SCHEMA)
    moved = builder.add(operator, rows)
    builder.add(Integrate((0,)), builder.placed(moved, (0,)) if operator.columns else moved)
    return builder.build(), rows, moved


@given(zsets(SCHEMA), partitions, hash_seeds)
def test_each_row_goes_to_the_partition_of_its_hash(delta: ZSet, count: int, seed: int) -> None:
    circuit, rows, moved = moved_by(Exchange((0,)), seed)
    sent = list(send(circuit, {rows: delta}, 1, 0, count))
    assert {node for node, _, _ in sent} <= {moved}
    parts = []
    for _, to, message in sent:
        part = receive(circuit, moved, [message], ())
        assert isinstance(part, ZSet)
        parts.append(part)
        for hashed in hash_rows([part.rows.column(0)], len(part), seed).tolist():
            assert (hashed >> 32) * count >> 32 == to
    assert plus(*map(naive_of, parts)) == naive_of(delta)
    assert sum(map(len, parts)) == len(delta)


@given(zsets(SCHEMA), partitions)
def test_a_broadcast_goes_everywhere(delta: ZSet, count: int) -> None:
    circuit, rows, moved = moved_by(Broadcast())
    sent = list(send(circuit, {rows: delta}, 1, 0, count))
    assert [to for _, to, _ in sent] == (list(range(count)) if len(delta) else [])
    assert all(naive_of(receive(circuit, moved, [m], ())) == naive_of(delta) for _, _, m in sent)  # type: ignore[arg-type]


@given(st.lists(zsets(SCHEMA), max_size=3))
def test_messages_of_several_tasks_are_one_delta(deltas: list[ZSet]) -> None:
    circuit, rows, moved = moved_by(Broadcast())
    messages = [m for delta in deltas for _, _, m in send(circuit, {rows: delta}, 1, 0, 1)]
    assert naive_of(receive(circuit, moved, messages, ())) == plus(*map(naive_of, deltas))  # type: ignore[arg-type]


@given(zsets(SCHEMA))
def test_a_trace_that_a_later_level_reads_arrives_with_its_delta(delta: ZSet) -> None:
    """It stays in its partition, and what it had before is there already."""
    builder = CircuitBuilder()
    rows = source(builder, "r", SCHEMA)
    kept = builder.add(Integrate((0,)), builder.placed(rows, (0,)))
    elsewhere = builder.add(Exchange((1,)), kept)
    builder.add(Broadcast(), elsewhere)
    circuit = builder.build()
    layout = circuit.layouts[kept]
    built = Batch.build(layout, delta, 0)
    values: dict[int, Value] = {kept: Integral(layout, (), built)}
    moved = [s for s in send(circuit, values, 2, 1, 3) if s[0] == elsewhere]
    got = [receive(circuit, elsewhere, [m], ()) for _, _, m in moved]
    assert plus(*(naive_of(part) for part in got)) == naive_of(built.zset)  # type: ignore[arg-type]
    back = receive(circuit, kept, [built.to_stored(layout).serialize().to_pybytes()], ())
    assert isinstance(back, Integral)
    assert naive_of(back.zset) == naive_of(built.zset)
    assert np.array_equal(back.delta.keys, built.keys)
    assert received_nodes(circuit, 0) == []
    assert elsewhere in received_nodes(circuit, 2)


def test_a_delay_cannot_be_read_across_levels() -> None:
    builder = CircuitBuilder()
    rows = source(builder, "r", SCHEMA)
    late = builder.add(Delay(), rows)
    moved = builder.add(Exchange((0,)), rows)
    builder.add(Union(SCHEMA), builder.add(Exchange((1,)), moved), late)
    circuit = builder.build()
    layout = circuit.layouts[late]
    nothing = Batch.empty(layout)
    with pytest.raises(AssertionError, match=f"node {late}: a delay can't be read across levels"):
        list(send(circuit, {late: Remembered(layout, (), nothing, nothing.zset)}, 1, 0, 2))
