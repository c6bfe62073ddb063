"""Segments that aren't whole, or aren't there."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.segments import Chunk, Segments, SegmentWriter

SCHEMA = pa.schema([("x", pa.int64())])


def test_a_writer_that_wrote_nothing_leaves_nothing(tmp_path: Path) -> None:
    SegmentWriter(tmp_path, "a.seg").close()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_segment_is_named(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"gone\.seg"):
        Segments(tmp_path).open(Chunk("gone.seg", 0, 8, 1), SCHEMA)


def test_a_forgotten_segment_is_read_again(tmp_path: Path) -> None:
    segments = Segments(tmp_path)
    for value in (1, 2):
        writer = SegmentWriter(tmp_path, "a.seg", durable=value == 2)
        chunk = writer.write(pa.RecordBatch.from_pydict({"x": [value]}, schema=SCHEMA))
        writer.close()
        segments.forget({"a.seg"})
        assert segments.open(chunk, SCHEMA).to_pydict() == {"x": [value]}
    assert [path.name for path in tmp_path.iterdir()] == ["a.seg"]


def test_more_chunks_than_are_kept_open(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, "a.seg", durable=False)
    chunks = [writer.write(pa.RecordBatch.from_pydict({"x": [i]}, schema=SCHEMA)) for i in range(20)]
    writer.close()
    segments = Segments(tmp_path, capacity=3)
    for _ in range(2):
        for i, chunk in enumerate(chunks):
            assert segments.open(chunk, SCHEMA).to_pydict() == {"x": [i]}


def test_reading_allocates_nothing(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, "a.seg", durable=False)
    chunk = writer.write(
        pa.RecordBatch.from_pydict({"x": pa.array(range(1 << 18), pa.int64())}, schema=SCHEMA)
    )
    writer.close()
    before = pa.total_allocated_bytes()
    batch = Segments(tmp_path).open(chunk, SCHEMA)
    assert pa.total_allocated_bytes() - before < 1 << 12
    assert batch.num_rows == 1 << 18
