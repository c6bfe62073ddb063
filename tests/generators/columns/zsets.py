"""Random Z-sets over Arrow, and the naive ones they must agree with: a dict from rows to weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.traces.zset import ZSet
from dbsp.testing.bags import identity
from tests.generators.values import ARROW, DOMAINS

Row = tuple[Any, ...]
Naive = Counter[Any]

# every column type there is, with values that are alike: prefixes, signs, NULLs inside, one bit apart
VALUES: dict[pa.DataType, list[Any]] = {
    **{kind: DOMAINS[name] for name, kind in ARROW.items()},
    pa.int64(): [0, 1, -1, 2**63 - 1, -(2**63), 2**32],
    pa.string(): ["", "a", "ab", "aaaaaaaa", "aaaaaaaab", "a\0", "ä", "日本", "aaaaaaaaaaaaaaaaa"],
    pa.decimal128(38, 10): [
        Decimal(0),
        Decimal("1e-10"),
        Decimal("-1e-10"),
        Decimal(10) ** 27,
        Decimal(2) ** 64,
    ],
    MONTHS: [timedelta(0), timedelta(seconds=14), timedelta(seconds=-1)],
    pa.duration("us"): [timedelta(0), timedelta(microseconds=1), timedelta(days=-1)],
    pa.map_(pa.string(), pa.int32()): [[], [("a", 1)], [("a", None)], [("a", 1), ("b", 2)]],
    pa.list_(pa.string()): [[], [""], ["", ""], [None], ["a", "b"], ["ab"]],
    pa.list_(pa.struct([("x", pa.int64()), ("y", pa.list_(pa.float64()))])): [
        [],
        [None],
        [{"x": 1, "y": [float("nan")]}],
        [{"x": 1, "y": [0.0]}],
        [{"x": 1, "y": [-0.0]}, {"x": None, "y": None}],
    ],
    pa.struct([("l", pa.list_(pa.int32())), ("d", pa.float64())]): [
        {"l": [], "d": None},
        {"l": None, "d": None},
        {"l": [1], "d": float("nan")},
    ],
}
TYPES = list(VALUES)

kinds = st.sampled_from(TYPES)
# seeds: the usual one, another, and the one that leaves 16 hashes
seeds = st.sampled_from([0, 7, FOUR_BITS])


def schema_of(types: Sequence[pa.DataType]) -> pa.Schema:
    return pa.schema([pa.field(f"c{i}", data_type) for i, data_type in enumerate(types)])


schemas = st.lists(kinds, min_size=1, max_size=3).map(schema_of)


def values_of(data_type: pa.DataType) -> st.SearchStrategy[Any]:
    return st.one_of(st.sampled_from(VALUES[data_type]), st.none())


def rows_of(schema: pa.Schema) -> st.SearchStrategy[Row]:
    return st.tuples(*(values_of(field.type) for field in schema))


@st.composite
def listings(draw: st.DrawFn, schema: pa.Schema, size: int = 12) -> list[tuple[Row, int]]:
    """Rows with weights from -2 to 2, some of them listed twice, some with weight 0."""
    rows = draw(st.lists(rows_of(schema), max_size=size))
    return [(row, draw(st.integers(-2, 2))) for row in rows]


def array_of(values: Iterable[Any], data_type: pa.DataType, ragged: int = 0) -> pa.Array:
    """An array of these values. ragged: 1: inside a longer array; 2: with values left beneath the NULLs."""
    values = list(values)
    if ragged == 1:
        padding = VALUES[data_type][-1:]
        return pa.array(padding + values + padding, data_type).slice(1, len(values))
    if ragged == 2:
        return _veiled(values, data_type)
    return pa.array(values, data_type)


def _veiled(values: list[Any], data_type: pa.DataType) -> pa.Array:
    """NULLs that hide some other value of the domain."""
    shown = pa.array([VALUES[data_type][-1] if value is None else value for value in values], data_type)
    if shown.null_count or pa.types.is_map(data_type):
        return pa.array(values, data_type)
    hidden = pa.array([value is None for value in values], pa.bool_())
    if pa.types.is_struct(data_type):
        fields = [shown.field(i) for i in range(data_type.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(data_type), mask=hidden)
    if pa.types.is_list(data_type):
        return pa.ListArray.from_arrays(shown.offsets, shown.values, type=data_type, mask=hidden)
    valid = pa.array([value is not None for value in values], pa.bool_()).buffers()[1]
    return pa.Array.from_buffers(data_type, len(values), [valid, *shown.buffers()[1:]])


def zset_of(schema: pa.Schema, listing: Iterable[tuple[Row, int]], ragged: int = 0) -> ZSet:
    listing = list(listing)
    columns = [array_of([row[i] for row, _ in listing], field.type, ragged) for i, field in enumerate(schema)]
    weights = np.array([weight for _, weight in listing], dtype=np.int64)
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), weights)


@st.composite
def zsets(draw: st.DrawFn, schema: pa.Schema, size: int = 12) -> ZSet:
    return zset_of(schema, draw(listings(schema, size)), draw(st.integers(0, 2)))


def naive(rows: pa.RecordBatch, weights: Iterable[int]) -> Naive:
    """The Z-set as a function from rows to weights, zeros left out."""
    held: Naive = Counter()
    for row, weight in zip(
        zip(*(column.to_pylist() for column in rows.columns), strict=True), weights, strict=True
    ):
        held[identity(row)] += int(weight)
    return Counter({row: weight for row, weight in held.items() if weight})


def naive_of(zset: ZSet) -> Naive:
    return naive(zset.rows, zset.weights)


def plus(*parts: Naive) -> Naive:
    """Pointwise sum; zeros vanish (Counter.__add__ would drop negative weights)."""
    total: Naive = Counter()
    for part in parts:
        for row, weight in part.items():
            total[row] += weight
    return Counter({row: weight for row, weight in total.items() if weight})
