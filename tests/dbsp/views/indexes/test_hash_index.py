"""Hashes of chunks find what a search finds, and are of the chunks that are asked."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.zset import ZSet
from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.indexes import hash_index
from dbsp.views.indexes.hash_index import HashIndexes, hashes_of
from tests.dbsp.views.held import contents
from tests.dbsp.views.test_searched import PARTS, SCHEMA, A, B, C


@given(PARTS, A, B, C)
def test_rows_are_those_that_duckdb_finds(parts: Any, a: Any, b: Any, c: Any) -> None:
    """Asked three times: by a search, by hashes that are made, by hashes that are there."""
    held = contents(SCHEMA, parts)
    with pytest.MonkeyPatch.context() as patch, duckdb.connect() as connection:
        patch.setattr(hash_index, "LARGE", 0)
        connection.register("held", held.to_arrow())
        for values in ({"a": a}, {"b": b}, {"c": c, "a": a}):
            condition = " AND ".join(f"{name} IS NOT DISTINCT FROM ?" for name in values)
            expected = connection.execute(f"FROM held WHERE {condition}", [*values.values()]).fetchall()
            for asked in range(3):
                assert held.has_index(values) == (asked == 2 or not parts)
                found = [tuple(row.values()) for row in held.where(values).rows()]
                assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("of", [pa.float32(), pa.float64(), pa.list_(pa.int32())])
def test_what_is_equal_under_two_hashes_is_searched(of: pa.DataType) -> None:
    rows = pa.RecordBatch.from_arrays([pa.nulls(hash_index.LARGE, of)], names=["x"])
    indexes = HashIndexes()
    for _ in range(3):
        chunk, held = Chunk("1", 0, 0, len(rows)), ZSet(rows, np.ones(len(rows), np.int64))
        assert indexes.candidates(chunk, held, [0], hashes_of(held.take(np.array([0])), [0])) is None


def test_what_was_asked_first_is_given_up_first(monkeypatch: pytest.MonkeyPatch) -> None:
    size = hash_index.LARGE
    monkeypatch.setattr(hash_index, "_KEPT", 2 * size)
    indexes = HashIndexes()
    rows = pa.RecordBatch.from_pydict({"x": np.arange(size)})
    held = ZSet(rows, np.ones(size, np.int64))
    chunks = [Chunk(str(i), 0, 0, size) for i in range(3)]
    seven, some = (hashes_of(held.take(np.array(rows)), [0]) for rows in ([7], [9, 7]))

    def is_known(chunk: Chunk) -> bool:
        return indexes.candidates(chunk, held, [0], seven) is not None

    assert [is_known(chunk) for chunk in chunks for _ in range(2)] == [False, True] * 3
    assert len(indexes._kept) == 2 and (chunks[0], (0,)) not in indexes._kept
    for wanted, expected in ((seven, [7]), (some, [7, 9]), (some[:0], [])):
        found = indexes.candidates(chunks[2], held, [0], wanted)
        assert found is not None and found.tolist() == expected


def test_a_large_view_is_followed_from_step_to_step() -> None:
    program = """
    CREATE TABLE given (id BIGINT PRIMARY KEY, word STRING);
    CREATE VIEW held AS SELECT * FROM given;
    """
    with Pipeline(sql=program, runner="inline") as p:
        p.insert("given", pa.table({"id": np.arange(100_000), "word": ["a"] * 100_000}))
        for step in range(8):
            p.step()
            for _ in range(2):
                assert p["held"].lookup(77_777) == [
                    {"id": 77_777, "word": "a" if step == 0 else f"{step - 1}"}
                ]
                assert p["held"].lookup(200_000) == []
            p.upsert("given", [{"id": 77_777, "word": f"{step}"}, {"id": 5, "word": "b"}])
