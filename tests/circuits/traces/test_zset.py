"""Z-sets are an abelian group, and `consolidate` is its normal form."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.traces.zset import ZSet
from tests.generators.columns.zsets import naive_of, plus, schemas, seeds, zsets

some = schemas.flatmap(zsets)
pairs = schemas.flatmap(lambda schema: st.tuples(zsets(schema), zsets(schema)))
triples = schemas.flatmap(lambda schema: st.tuples(zsets(schema), zsets(schema), zsets(schema)))


@given(triples)
def test_addition_is_associative(abc: tuple[ZSet, ZSet, ZSet]) -> None:
    a, b, c = abc
    assert (a + b) + c == a + (b + c)


@given(pairs)
def test_addition_is_pointwise_and_commutative(ab: tuple[ZSet, ZSet]) -> None:
    a, b = ab
    assert naive_of(a + b) == plus(naive_of(a), naive_of(b))
    assert a + b == b + a


@given(some)
def test_zero_and_inverse(a: ZSet) -> None:
    assert a + ZSet.empty(a.schema) == a
    assert (a - a).is_empty
    assert naive_of(-a) == {row: -weight for row, weight in naive_of(a).items()}


@given(some, seeds)
def test_consolidate_lists_each_row_once_and_no_zero(a: ZSet, seed: int) -> None:
    b = a.consolidate(seed)
    assert naive_of(b) == naive_of(a)
    assert len(b) == len(naive_of(a))
    assert b.schema == a.schema
    again = b.consolidate(seed)
    assert len(again) == len(b) and again == b


@given(pairs)
def test_equality_is_equality_of_functions(ab: tuple[ZSet, ZSet]) -> None:
    a, b = ab
    assert (a == b) == (naive_of(a) == naive_of(b))
    assert a.is_empty == (not naive_of(a))


@given(some)
def test_as_a_batch_and_back(a: ZSet) -> None:
    b = ZSet.from_batch(a.to_batch())
    assert b.schema == a.schema
    assert b.rows.equals(a.rows) or naive_of(b) == naive_of(a)  # NaN is not itself to Arrow
    assert list(b.weights) == list(a.weights)


def test_rows_in_another_order_of_columns_are_other_rows() -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    one = ZSet.from_batch(pa.RecordBatch.from_pydict({"a": [1], "b": [2], "__weight": [1]}))
    two = ZSet.from_batch(pa.RecordBatch.from_pydict({"a": [2], "b": [1], "__weight": [1]}))
    assert one.schema == schema
    assert one != two


def test_under_other_names_they_are_the_same_rows() -> None:
    a = ZSet.from_batch(pa.RecordBatch.from_pydict({"a": [1, 1], "__weight": [2, -1]}))
    schema = pa.schema([pa.field("b", pa.int64(), nullable=False)])
    assert a.under(schema).schema == schema
    assert naive_of(a.under(schema)) == naive_of(a)
