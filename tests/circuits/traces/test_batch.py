"""Batches are Z-sets in another form: building, merging, cutting and storing change no weight."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.segments.writing import SegmentWriter
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.zset import ZSet
from dbsp.testing.bags import identity
from tests.generators.columns.zsets import Naive, naive_of, plus, schemas, seeds, zset_of, zsets


@st.composite
def layouts_with(draw: st.DrawFn, count: int) -> tuple[Layout, list[ZSet]]:
    schema = draw(schemas)
    places = draw(st.sets(st.integers(0, len(schema) - 1)))
    return Layout(schema, tuple(sorted(places))), [draw(zsets(schema)) for _ in range(count)]


def same(a: Batch, b: Batch) -> bool:
    """Equal, listed alike."""
    listed = [[*map(identity, zip(*(c.to_pylist() for c in x.rows.columns), strict=True))] for x in (a, b)]
    return listed[0] == listed[1] and (a.keys == b.keys).all() and (a.weights == b.weights).all()


@given(layouts_with(1), seeds)
def test_build_is_the_zset_sorted(case: tuple[Layout, list[ZSet]], seed: int) -> None:
    layout, (delta,) = case
    batch = Batch.build(layout, delta, seed)
    assert naive_of(batch.zset) == naive_of(delta)
    assert len(batch) == len(naive_of(delta))
    assert (batch.keys[1:] >= batch.keys[:-1]).all()
    assert (layout.sort_keys(batch.rows, seed) == batch.keys).all()


@given(layouts_with(3), seeds)
def test_merge_is_addition_in_any_order(case: tuple[Layout, list[ZSet]], seed: int) -> None:
    layout, deltas = case
    batches = [Batch.build(layout, delta, seed) for delta in deltas]
    merged = [Batch.merge(layout, list(order)) for order in itertools.permutations(batches)]
    merged.append(Batch.merge(layout, [Batch.merge(layout, batches[:2]), batches[2]]))
    for batch in merged:
        assert naive_of(batch.zset) == plus(*map(naive_of, deltas))
        assert len(batch) == len(naive_of(batch.zset))
        assert (batch.keys[1:] >= batch.keys[:-1]).all()


@given(layouts_with(1), st.lists(st.integers(0, 2**64 - 1), max_size=3), seeds)
def test_ranges_of_the_key_partition_a_batch(
    case: tuple[Layout, list[ZSet]], cuts: list[int], seed: int
) -> None:
    layout, (delta,) = case
    batch = Batch.build(layout, delta, seed)
    bounds = [0, *sorted(cuts), 2**64]
    parts = [batch.between(low, high) for low, high in itertools.pairwise(bounds)]
    for part, (low, high) in zip(parts, itertools.pairwise(bounds), strict=True):
        assert all(low <= int(key) < high for key in part.keys)
    assert sum(map(len, parts)) == len(batch)
    assert same(Batch.merge(layout, parts), batch)


@given(case=layouts_with(3), seed=seeds)
def test_segments_give_back_what_was_written(
    tmp_path_factory: object, case: tuple[Layout, list[ZSet]], seed: int
) -> None:
    root: Path = tmp_path_factory.mktemp("segments")  # type: ignore[attr-defined]
    layout, deltas = case
    batches = [Batch.build(layout, delta, seed) for delta in deltas]
    writer = SegmentWriter(root, "one.seg", durable=False)
    chunks = [writer.write(batch.to_stored(layout), 1, 2) for batch in batches]
    assert not (root / "one.seg").exists()
    writer.close()
    segments = Segments(root)
    for batch, chunk in zip(batches, chunks, strict=True):
        stored = segments.open(chunk, layout.stored_schema)
        assert same(Batch.from_stored(stored, layout), batch)
        assert chunk.rows == len(batch)
        assert type(chunk).from_json(chunk.to_json()) == chunk


@st.composite
def accumulations(draw: st.DrawFn) -> list[list[tuple[int, int, int]]]:
    """Lists of (key, weight, sum)."""
    row = st.tuples(st.integers(0, 3), st.integers(-2, 2), st.integers(-2, 2))
    return draw(st.lists(st.lists(row, max_size=6), min_size=1, max_size=4))


@given(accumulations(), seeds)
def test_accumulators_add_up_and_vanish_only_at_zero(
    parts: list[list[tuple[int, int, int]]], seed: int
) -> None:
    schema = pa.schema([("k", pa.int64()), ("a", pa.int64())])
    layout = Layout(schema, (0,), sums=(1,))
    batches = [
        Batch.build(layout, zset_of(schema, [((key, total), weight) for key, weight, total in part]), seed)
        for part in parts
    ]
    merged = Batch.merge(layout, batches)
    found = {
        key: (int(weight), total)
        for (key, total), weight in zip(
            zip(*(c.to_pylist() for c in merged.rows.columns), strict=True), merged.weights, strict=True
        )
    }
    weights: Naive = plus(*(Naive({}) for _ in parts))
    sums: Naive = Naive()
    for key, weight, total in itertools.chain(*parts):
        weights[key] += weight
        sums[key] += total
    expected = {k: (weights[k], sums[k]) for k in {*weights, *sums} if weights[k] or sums[k]}
    assert found == expected


@given(accumulations(), seeds)
def test_extremes_as_accumulators(parts: list[list[tuple[int, int, int]]], seed: int) -> None:
    schema = pa.schema([("k", pa.int64()), ("low", pa.int64()), ("high", pa.int64())])
    layout = Layout(schema, (0,), minima=(1,), maxima=(2,))
    rows = [[((key, value, value), 1) for key, _, value in part] for part in parts]
    merged = Batch.merge(layout, [Batch.build(layout, zset_of(schema, part), seed) for part in rows])
    found = list(zip(*(c.to_pylist() for c in merged.rows.columns), strict=True))
    values: dict[int, list[int]] = {}
    for key, _, value in itertools.chain(*parts):
        values.setdefault(key, []).append(value)
    assert sorted(found) == sorted((key, min(v), max(v)) for key, v in values.items())
    assert int(np.sum(merged.weights)) == sum(map(len, parts))
