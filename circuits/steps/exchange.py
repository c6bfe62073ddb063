"""What travels between the tasks of one level and those of the next: Arrow messages, each for one node.

Rows that an exchange moves go to the partition of their hash, or to all of them; what later levels read of a
node that isn't exchanged goes to the same partition again.

All rows of a key go to one task, which would take the longer the more there are. So of a key that many of a
task's rows have, no more move than its reader can tell apart:

    f(a + b) = f(r(a) + b)        r: `Operator.reduced`, such as the first k rows, or equal rows as one

A sample tells which keys are heavy, so that rows of others are looked at no more than without it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.columns.arrow import concat
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.operators.operator import Value, delta_of
from dbsp.circuits.operators.streams import Broadcast, Exchange, Remembered
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import WEIGHT, ZSet

Sent = tuple[int, int, bytes]  # node, partition, message

# of fewer rows a task's share isn't worth a look for heavy keys
_FEW = 4096
# rows that are looked at, and how many of them make a key heavy
_SAMPLE = 1024
_OFTEN = 16


def received_nodes(circuit: Circuit, level: int) -> list[int]:
    """The nodes whose values the tasks of `level` get from the level before."""
    if level == 0:
        return []
    return [
        i
        for i, node in enumerate(circuit.nodes)
        if (node.level < level or (node.level == level and isinstance(node.operator, Exchange)))
        and any(reader >= level for reader in circuit.consumers[i])
    ]


def receive(circuit: Circuit, i: int, messages: list[bytes], before: tuple[SortedRun, ...]) -> Value:
    """Node i's value from its messages: a delta, or a trace with the delta that was sent."""
    layout = circuit.layouts.get(i)
    schema = layout.stored_schema if layout is not None else _wire_schema(circuit, i)
    batches = [pa.ipc.read_record_batch(pa.py_buffer(message), schema) for message in messages]
    rows = concat(schema, batches)
    if layout is None:
        return ZSet.from_batch(rows)
    return Integral(layout, before, Batch.from_stored(rows, layout))


def send(
    circuit: Circuit, values: dict[int, Value], level: int, partition: int, partitions: int
) -> Iterator[Sent]:
    """The messages for the tasks of `level`, from the values of a task of the level before."""
    for i, node in enumerate(circuit.nodes):
        if isinstance(node.operator, Exchange) and node.level == level and i not in values:
            delta = delta_of(values[node.inputs[0]])
            yield from ((i, *part) for part in _scattered(circuit, i, node.operator, delta, partitions))
        elif i in values and _is_read_in_place(circuit, i, level):
            message = _message(i, values[i])
            if message is not None:
                yield i, partition, message


def _is_read_in_place(circuit: Circuit, i: int, level: int) -> bool:
    """Whether, from `level` on, anything but the exchanges into it reads node i."""
    return any(
        i in node.inputs and node.level >= level
        for node in circuit.nodes
        if not (isinstance(node.operator, Exchange) and node.level == level)
    )


def _message(i: int, value: Value) -> bytes | None:
    assert not isinstance(value, Remembered), f"node {i}: a delay can't be read across levels"
    batch = value.delta.to_stored(value.layout) if isinstance(value, Integral) else value.to_batch()
    return batch.serialize().to_pybytes() if batch.num_rows else None


def _scattered(
    circuit: Circuit, i: int, exchange: Exchange, delta: ZSet, partitions: int
) -> Iterator[tuple[int, bytes]]:
    """(partition, message) of the rows that belong to each partition."""
    if not len(delta):
        return
    if isinstance(exchange, Broadcast):
        message = delta.to_batch().serialize().to_pybytes()
        yield from ((p, message) for p in range(partitions))
        return
    hashes = _placed(delta, exchange, circuit.seed)
    needed = _without_heavy(circuit, i, delta, hashes)
    if needed is not delta:
        delta, hashes = needed, _placed(needed, exchange, circuit.seed)
    # a 32-bit half times the partitions, without overflow; 16 bits sort in linear time
    to = ((hashes >> np.uint64(32)) * np.uint64(partitions) >> np.uint64(32)).astype(np.uint16)
    order = np.argsort(to, kind="stable")
    ends = np.searchsorted(to[order], np.arange(partitions + 1))
    for p in range(partitions):
        if ends[p] < ends[p + 1]:
            yield p, delta.take(order[ends[p] : ends[p + 1]]).to_batch().serialize().to_pybytes()


def _without_heavy(circuit: Circuit, exchange: int, delta: ZSet, hashes: np.ndarray) -> ZSet:
    """What has to move of a delta. hashes: uint64[n], of the columns that its rows are placed by."""
    if len(delta) < _FEW:
        return delta
    readers = [node.operator for node in circuit.nodes if exchange in node.inputs]
    if len(readers) != 1:
        return delta
    values, often = np.unique(hashes[:: max(1, len(hashes) // _SAMPLE)], return_counts=True)
    keys = values[often >= _OFTEN]
    if not len(keys):
        return delta
    is_heavy = np.isin(hashes, keys)
    reduced = readers[0].reduced(delta, is_heavy.nonzero()[0], circuit.seed)
    return delta if reduced is None else delta.take((~is_heavy).nonzero()[0]) + reduced


def _placed(delta: ZSet, exchange: Exchange, seed: int) -> np.ndarray:
    return hash_rows([delta.column(c) for c in exchange.columns], len(delta), seed)


def _wire_schema(circuit: Circuit, i: int) -> pa.Schema:
    return circuit.nodes[i].schema.append(pa.field(WEIGHT, pa.int64(), nullable=False))
