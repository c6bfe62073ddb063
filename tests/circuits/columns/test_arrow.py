"""Views of Arrow arrays: slices, NULLs and what lies beneath them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.arrow import concat, empty, every, fixed_values, is_true, spread, validity


@given(st.lists(st.sampled_from([True, False, None]), max_size=20), st.integers(0, 3))
def test_null_is_neither_true_nor_valid(values: list[bool | None], before: int) -> None:
    array = pa.array([True] * before + values, pa.bool_())[before:]
    assert is_true(array).tolist() == [value is True for value in values]
    assert fixed_values(array).tolist() == [value is True for value in values]
    assert validity(array).tolist() == [value is not None for value in values]


def test_rows_of_one_schema_are_put_together_whatever_their_columns_are_called() -> None:
    schema = pa.schema([pa.field("x", pa.int64(), nullable=False), pa.field("y", pa.string())])
    other = pa.schema([pa.field("p", pa.int64()), pa.field("q", pa.string(), metadata={"k": "v"})])
    columns = [pa.array([1, 2]), pa.array(["a", None])]
    same, differs = (pa.RecordBatch.from_arrays(columns, schema=each) for each in (schema, other))
    for parts in ([same], [differs], [same, same], [same, differs], [differs, same.slice(1)], []):
        found = concat(schema, parts)
        assert found.schema.equals(schema)
        assert found.to_pydict() == {
            "x": [x for part in parts for x in part.column(0).to_pylist()],
            "y": [y for part in parts for y in part.column(1).to_pylist()],
        }


def test_no_rows_have_the_nullability_that_was_asked() -> None:
    for nullable in (True, False):
        schema = pa.schema([pa.field("x", pa.int64(), nullable)])
        assert empty(schema).schema.equals(schema)
        assert empty(schema).num_rows == 0


@given(st.lists(st.booleans(), max_size=5))
def test_every_of_none_and_of_some(mask: list[bool]) -> None:
    assert every(np.array(mask, np.bool_)) == all(mask)


@given(st.lists(st.one_of(st.none(), st.integers(0, 9)), max_size=6))
def test_values_are_spread_to_their_places(values: list[int | None]) -> None:
    """Of each that isn't None its place is told."""
    at = np.array([i for i, value in enumerate(values) if value is not None], np.int64)
    there = pa.array([value for value in values if value is not None], pa.int64())
    assert spread(there, at, len(values)).to_pylist() == values
