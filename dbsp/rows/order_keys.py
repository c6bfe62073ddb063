"""The order of `dbsp.rows.sorting` as Python values, one a row, whatever other rows there are.

    x before y  ⇔  key(x) < key(y)        key(x) == key(y)  ⇔  x and y are the same row

So rows of several steps stay comparable, as whoever keeps them sorted needs. It is a loop over rows: for what
a person looks at, never for a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import total_ordering
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, validity
from dbsp.circuits.columns.hashing import list_ranges
from dbsp.circuits.columns.sorting import sort_keys
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.sql.plans.calls import SortOrder


def order_keys(rows: pa.RecordBatch, order: Sequence[SortOrder] = ()) -> list[tuple[Any, ...]]:
    """A key a row: an order over the columns, then the columns.

    Raises EvaluationError where a row has no value to be ordered by, as in ORDER BY 1 / x.
    """
    columns = [_ordered(evaluate(by.expression, rows), by) for by in order]
    columns += [_with_nulls(column, True, exact=True) for column in rows.columns]
    return list(zip(*columns, strict=True))


@total_ordering
class _Falling:
    """The other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Falling) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Falling) and bool(self.value == other.value)

    def __hash__(self) -> int:
        return hash(self.value)


def _ordered(array: pa.Array, by: SortOrder) -> list[Any]:
    keys = _with_nulls(array, not by.nulls_last, exact=False)
    return [(first, _Falling(value)) for first, value in keys] if by.descending else keys


def _with_nulls(array: pa.Array, nulls_first: bool, exact: bool) -> list[Any]:
    """(whether it comes after, the value's key) of each; of NULL the key is ()."""
    values = _values(array, exact)
    valid = validity(array).tolist()
    return [
        (is_there == nulls_first, value if is_there else ())
        for is_there, value in zip(valid, values, strict=True)
    ]


def _values(array: pa.Array, exact: bool) -> list[Any]:
    """Anything where NULL."""
    data_type = array.type
    if pt.is_null(data_type):
        return [()] * len(array)
    if pt.is_struct(data_type):
        return list(zip(*(_with_nulls(child, True, exact) for child in child_arrays(array)), strict=True))
    if pt.is_list(data_type) or pt.is_large_list(data_type) or pt.is_map(data_type):
        starts, lengths, elements = list_ranges(array)
        keys = _with_nulls(elements, True, exact)
        ranges = zip(starts.tolist(), lengths.tolist(), strict=True)
        return [tuple(keys[start : start + length]) for start, length in ranges]
    if pt.is_string(data_type) or pt.is_large_string(data_type):
        return list(array.cast(pa.binary()).to_pylist())  # as bytes, which need not be UTF-8
    if pt.is_binary(data_type) or pt.is_large_binary(data_type):
        return list(array.to_pylist())
    numbers = sort_keys(array, exact=exact)[bool(array.null_count) :]
    return list(zip(*(number.tolist() for number in numbers), strict=True))
