"""Rows of a key, of some values, of a range: those that DuckDB finds."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError
from dbsp.views import searched
from dbsp.views.indexes import hash_index
from dbsp.views.view import Contents
from tests.dbsp.views.held import contents

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.decimal128(5, 2))])
A = st.none() | st.integers(-2, 2)
B = st.none() | st.sampled_from(["", "x", "é"])
C = st.none() | st.sampled_from([Decimal("-1.50"), Decimal(0), Decimal("7.25")])
PARTS = st.lists(st.lists(st.tuples(st.tuples(A, B, C), st.integers(1, 2)), max_size=6), max_size=3)


@pytest.mark.slow
@pytest.mark.parametrize("few", [searched.FEW, -1])
@given(PARTS, A, B, st.tuples(A, A))
def test_rows_are_those_that_duckdb_finds(few: int, parts: Any, a: Any, b: Any, ends: Any) -> None:
    held = contents(SCHEMA, parts)
    same = "a IS NOT DISTINCT FROM ?"
    with pytest.MonkeyPatch.context() as patch, duckdb.connect() as connection:
        patch.setattr(searched, "FEW", few)
        connection.register("held", held.to_arrow())

        def found(condition: str, *values: Any) -> list[tuple[Any, ...]]:
            query = f"FROM held WHERE {condition} ORDER BY a NULLS FIRST, b NULLS FIRST, c NULLS FIRST"
            return connection.execute(query, values).fetchall()

        assert tuples(held.lookup({"A": a})) == found(same, a)
        assert tuples(held.lookup({"b": b, "a": a})) == found(f"{same} AND b IS NOT DISTINCT FROM ?", a, b)
        low, high = ends
        conditions = [f"a {op} {end}" for op, end in ((">=", low), ("<=", high)) if end is not None]
        assert tuples(held.between(low, high, by="a")) == found(" AND ".join(conditions) or "true")


@pytest.mark.parametrize("large", [hash_index.LARGE, 0])
@given(PARTS, st.lists(st.tuples(B, A), max_size=3))
def test_rows_among_many_are_those_that_duckdb_finds(large: int, parts: Any, wanted: Any) -> None:
    """Asked three times, as `where` is; hashes of so few values are different."""
    held = contents(SCHEMA, parts)
    asked = pa.RecordBatch.from_arrays(
        [pa.array([b for b, _ in wanted], pa.string()), pa.array([a for _, a in wanted], pa.int32())],
        names=["b", "a"],
    )
    with pytest.MonkeyPatch.context() as patch, duckdb.connect() as connection:
        patch.setattr(hash_index, "LARGE", large)
        connection.register("held", held.to_arrow())
        connection.register("asked", asked)
        same = "held.a IS NOT DISTINCT FROM asked.a AND held.b IS NOT DISTINCT FROM asked.b"
        query = f"FROM held WHERE EXISTS (FROM asked WHERE {same})"
        expected = sorted(connection.execute(query).fetchall(), key=repr)
        rows = sum(map(len, held.parts))
        for _ in range(3):
            found = held.among([1, 0], asked, rows)
            assert found is not None
            listed = tuples(Contents("v", SCHEMA, found).rows())
            assert sorted(listed, key=repr) == expected
            count = sum(map(len, found))
            assert count == 0 or held.among([1, 0], asked, count - 1) is None


def test_what_hashes_don_t_tell_isn_t_looked_up() -> None:
    schema = pa.schema([("x", pa.float64()), ("n", pa.int64())])
    held = contents(schema, [[((0.0, 1), 1)]])
    assert held.among([0], pa.record_batch({"x": [-0.0]}), 9) is None
    assert held.among([0, 1], pa.record_batch({"x": [-0.0], "n": [1]}), 9) is None
    assert held.among([], pa.record_batch({"x": [-0.0]}), 9) is None
    found = held.among([1], pa.record_batch({"n": [1, 1]}), 9)
    assert found is not None and [len(part) for part in found] == [1]


def tuples(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in rows]


def test_fewer_than_no_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    held = contents(SCHEMA, [[((1, "x", None), -1)]])
    for few in (searched.FEW, -1):
        monkeypatch.setattr(searched, "FEW", few)
        with pytest.raises(DataError, match=r"has the row .* -1 times"):
            held.lookup({"a": 1})
