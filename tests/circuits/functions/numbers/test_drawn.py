"""What is drawn for rows: the same each time, another for each row, and as even as it should be."""

from __future__ import annotations

import uuid

import numpy as np
import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.progress.waterline import CLOCK

ROWS = 100_000
PLACES = pa.RecordBatch.from_arrays(
    [pa.repeat(pa.scalar(1_700_000_000_000_000, pa.int64()).cast(CLOCK.type), ROWS), pa.array(range(ROWS))],
    names=["clock", "arrival"],
)


def drawn(function: str, data_type: pa.DataType, salt: int = 1, rows: pa.RecordBatch = PLACES) -> pa.Array:
    columns = (Column(0, CLOCK.type, False), Column(1, pa.int64(), False))
    return evaluate(Call(function, columns, data_type, False, (("salt", salt),)), rows)


def test_doubles_are_spread_evenly_from_zero_to_one() -> None:
    found = drawn("drawn_double", pa.float64()).to_numpy()
    assert len(set(found.tolist())) == ROWS
    counts, _ = np.histogram(found, bins=100, range=(0, 1))
    assert counts.sum() == ROWS
    # chi-squared of 99 degrees of freedom: beyond 180 once in a million
    assert ((counts - ROWS / 100) ** 2 / (ROWS / 100)).sum() < 180
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 0.02


def test_uuids_are_of_version_four() -> None:
    found = drawn("drawn_uuid", pa.string()).to_pylist()
    assert len(set(found)) == ROWS
    for text in found[:1000]:
        one = uuid.UUID(text)
        assert (str(one), one.version, one.variant) == (text, 4, uuid.RFC_4122)
    bits = np.array([list(uuid.UUID(text).bytes) for text in found[:10_000]], np.uint8)
    ones = np.unpackbits(bits, axis=1).mean(axis=0)
    fixed = [*range(48, 52), 64, 65]
    assert np.abs(np.delete(ones, fixed) - 0.5).max() < 0.03


def test_the_column_the_moment_and_the_place_decide() -> None:
    first = drawn("drawn_uuid", pa.string()).slice(0, 1000)
    assert first == drawn("drawn_uuid", pa.string(), rows=PLACES.slice(0, 1000))
    later = pa.RecordBatch.from_arrays(
        [pa.repeat(pa.scalar(1_700_000_000_000_001, pa.int64()).cast(CLOCK.type), ROWS), PLACES.column(1)],
        names=PLACES.schema.names,
    )
    others = drawn("drawn_uuid", pa.string(), salt=2), drawn("drawn_uuid", pa.string(), rows=later)
    for other in others:
        assert not set(first.to_pylist()) & set(other.to_pylist())
