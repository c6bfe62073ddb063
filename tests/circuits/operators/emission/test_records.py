"""Records count what reached each key, however it cancels."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.operators.emission.records import Records
from dbsp.circuits.operators.operator import Context
from dbsp.circuits.traces.zset import ZSet
from dbsp.testing.bags import identity
from tests.generators.columns.zsets import listings, naive_of, schemas, zset_of

CASES = schemas.flatmap(lambda schema: st.tuples(st.just(schema), listings(schema)))


@given(CASES, st.integers(0, 2), st.sampled_from([0, FOUR_BITS]))
def test_a_key_has_as_many_records_as_reached_it(
    case: tuple[pa.Schema, list[tuple[tuple[object, ...], int]]], ragged: int, seed: int
) -> None:
    schema, listed = case
    counted = Records().step(Context(seed, 1, None, True), zset_of(schema, listed, ragged))
    assert isinstance(counted, ZSet)
    expected: Counter[object] = Counter()
    for row, weight in listed:
        expected[identity(row)] += abs(weight)
    assert naive_of(counted) == Counter({key: count for key, count in expected.items() if count})
    assert len(counted) == len(naive_of(counted)), "each key once"
