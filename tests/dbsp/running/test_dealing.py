"""Every task has as many rows as any other, and every row is some task's, once and in its place."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.task import Input
from dbsp.running.dealing import dealt


def held(rows: int, ordinal: int = 0) -> Input:
    return Input(ordinal, pa.record_batch({"x": pa.array(range(ordinal, ordinal + rows), pa.int64())}))


def staged(rows: int, ordinal: int = 0) -> Input:
    return Input(ordinal, Chunk("a.seg", 64 * ordinal, 8, rows))


def loads(shares: list[dict[str, list[Input]]]) -> list[int]:
    return [sum(part.rows for given in share.values() for part in given) for share in shares]


@pytest.mark.parametrize("tasks", [1, 2, 8, 64])
def test_tables_of_an_auction_site_are_cut_evenly(tasks: int) -> None:
    found = loads(dealt({"person": [held(2_000)], "auction": [held(6_000)], "bid": [held(92_000)]}, tasks))
    assert max(found) <= 1.01 * 100_000 / tasks


def test_what_the_driver_holds_fills_up_beside_chunks() -> None:
    inputs = {"a": [staged(500), staged(100, 1), staged(100, 2)], "b": [held(200)]}
    assert loads(dealt(inputs, 3)) == [500, 200, 200]


parts = st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=6)


@given(tables=st.dictionaries(st.sampled_from("abc"), parts, min_size=1), tasks=st.integers(1, 9))
def test_each_row_once_in_its_place(tables: dict[str, list[tuple[bool, int]]], tasks: int) -> None:
    inputs: dict[str, list[Input]] = {}
    for table, sizes in tables.items():
        at = 0
        for is_staged, rows in sizes:
            inputs.setdefault(table, []).append((staged if is_staged else held)(rows, at))
            at += rows
    shares = dealt(inputs, tasks)
    for table, given_ in inputs.items():
        found = [part for share in shares for part in share.get(table, [])]
        values = [
            value
            for part in found
            if not isinstance(part.batch, Chunk)
            for value in part.batch["x"].to_pylist()
        ]
        assert sorted(values) == [
            v for part in given_ if not isinstance(part.batch, Chunk) for v in part.batch["x"].to_pylist()
        ]
        assert all(p.batch["x"][0].as_py() == p.ordinal for p in found if not isinstance(p.batch, Chunk))
        chunks = [part for part in given_ if isinstance(part.batch, Chunk)]
        assert sorted((p.ordinal, p.batch.rows) for p in found if isinstance(p.batch, Chunk)) == sorted(
            (p.ordinal, p.batch.rows) for p in chunks
        )
    least = -(-sum(loads(shares)) // tasks)
    for share, load in zip(shares, loads(shares), strict=True):
        own = [p.rows for given_ in share.values() for p in given_ if isinstance(p.batch, Chunk)]
        assert load <= max(least, sum(own))
