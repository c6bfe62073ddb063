"""Row equality is bit equality, save that NaN is NaN and NULL is NULL; equal rows have equal hashes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.hashing import FOUR_BITS, hash_rows
from dbsp.testing.bags import identity
from tests.generators.columns.zsets import TYPES, VALUES, Row, array_of, rows_of, schemas


@st.composite
def two_listings(draw: st.DrawFn) -> tuple[pa.Schema, list[Row], list[Row], int, int]:
    schema = draw(schemas)
    rows = st.lists(rows_of(schema), max_size=8)
    return schema, draw(rows), draw(rows), draw(st.integers(0, 2)), draw(st.integers(0, 2))


def columns(schema: pa.Schema, rows: list[Row], ragged: int) -> list[pa.Array]:
    return [array_of([row[i] for row in rows], field.type, ragged) for i, field in enumerate(schema)]


@given(two_listings())
def test_equal_rows_is_identity_of_values(case: tuple[pa.Schema, list[Row], list[Row], int, int]) -> None:
    schema, left, right, ragged_left, ragged_right = case
    a, b = columns(schema, left, ragged_left), columns(schema, right, ragged_right)
    i, j = (x.ravel() for x in np.indices((len(left), len(right))))
    found = equal_rows(a, i, b, j)
    expected = [identity(left[x]) == identity(right[y]) for x, y in zip(i, j, strict=True)]
    assert found.tolist() == expected


@given(two_listings())
def test_equal_rows_have_equal_hashes(case: tuple[pa.Schema, list[Row], list[Row], int, int]) -> None:
    schema, left, right, ragged_left, ragged_right = case
    a = hash_rows(columns(schema, left, ragged_left), len(left), 7)
    b = hash_rows(columns(schema, right, ragged_right), len(right), 7)
    for x, one in zip(left, a, strict=True):
        for y, other in zip(right, b, strict=True):
            # 64 bits over such domains don't collide: this is the other direction as well
            assert (one == other) == (identity(x) == identity(y)), (x, y)


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_every_value_is_itself_and_no_other(data_type: pa.DataType) -> None:
    values: list[Any] = [*VALUES[data_type], None]
    array = pa.array(values, data_type)
    i, j = (x.ravel() for x in np.indices((len(values), len(values))))
    expected = [identity(values[x]) == identity(values[y]) for x, y in zip(i, j, strict=True)]
    assert equal_rows([array], i, [array], j).tolist() == expected
    assert sum(expected) == len(values), "the domain lists a value twice"
    assert len(set(hash_rows([array], len(values)))) == len(values)


@given(st.lists(st.integers(), max_size=200))
def test_four_bits_leave_sixteen_hashes(values: list[int]) -> None:
    array = pa.array([value % 2**63 for value in values], pa.int64())
    assert len(set(hash_rows([array], len(values), FOUR_BITS))) <= 16


def test_the_seed_and_the_order_of_columns_matter() -> None:
    a, b = pa.array([1, 2]), pa.array([2, 1])
    one, other = hash_rows([a, b], 2)
    assert one != other
    assert hash_rows([a], 2, 1).tolist() != hash_rows([a], 2, 2).tolist()


@given(st.lists(st.text(max_size=40), max_size=30), st.integers(0, 3))
def test_strings_of_any_length_hash_by_their_bytes(values: list[str], skipped: int) -> None:
    whole = pa.array(values, pa.string())
    hashes = hash_rows([whole], len(whole))
    assert len(set(hashes)) == len(set(values))
    part = whole.slice(skipped)
    assert hash_rows([part], len(part)).tolist() == hashes[skipped:].tolist()
