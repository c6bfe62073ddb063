"""A batch that is read when somebody looks into it is that batch, and before it isn't read."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.stored import StoredBatch
from tests.circuits.traces.test_batch import same
from tests.generators.columns.zsets import zset_of

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string())])


def test_it_is_read_once_by_who_looks_into_it() -> None:
    layout = Layout(SCHEMA, (0,))
    batch = Batch.build(layout, zset_of(SCHEMA, [((n, f"row {n}"), n + 1) for n in range(9)]), 0)
    reads = []

    def read() -> Batch:
        reads.append(1)
        return batch

    stored = StoredBatch(len(batch), batch.first, batch.last, read)
    assert (len(stored), stored.first, stored.last) == (9, batch.first, batch.last)
    assert not reads
    middle = int(batch.keys[4])
    for found, expected in [
        (stored, batch),
        (stored.whole, batch),
        (-stored, -batch),
        (stored.slice(2, 5), batch.slice(2, 5)),
        (stored.take(batch.keys.argsort()[1:3]), batch.slice(1, 3)),
        (stored.between(middle, 1 << 64), batch.slice(4, 9)),
        (Batch.merge(layout, [stored, batch]), Batch.merge(layout, [batch, batch])),
    ]:
        assert same(found, expected)
    assert stored.column(1).equals(batch.column(1))
    assert stored.schema == SCHEMA
    assert not stored.is_narrow
    assert len(reads) == 1
