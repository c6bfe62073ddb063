"""Segments that aren't whole, or aren't there."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DamagedChunk, StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.segments.writing import SegmentWriter

SCHEMA = pa.schema([("x", pa.int64())])


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


def flipped(path: Path, byte: int) -> None:
    content = bytearray(path.read_bytes())
    content[byte] ^= 4
    path.unlink()  # a mapped file isn't changed under its reader
    path.write_bytes(content)


def test_a_chunk_is_compared_with_its_checksum_once(tmp_path: Path) -> None:
    writer = SegmentWriter(tmp_path, "a.seg", durable=False)
    first, second = (writer.write(pa.RecordBatch.from_pydict({"x": [i]}, schema=SCHEMA)) for i in (1, 2))
    writer.close()
    segments = Segments(tmp_path)
    segments.open(first, SCHEMA)
    flipped(tmp_path / "a.seg", first.offset + first.length - 8)
    assert segments.open(first, SCHEMA).to_pydict() == {"x": [1]}
    segments.forget({"a.seg"})
    with pytest.raises(DamagedChunk, match=r"a.seg: damaged: the chunk of the votes at byte 0 differs from"):
        segments.open(first, SCHEMA, "the votes")
    assert segments.open(second, SCHEMA).to_pydict() == {"x": [2]}
    assert Segments(tmp_path, verify=False).open(first, SCHEMA).to_pydict() == {"x": [5]}


def test_who_wrote_a_chunk_compares_it_with_nothing_until_it_is_forgotten(tmp_path: Path) -> None:
    segments = Segments(tmp_path)
    writer = segments.writer("a.seg", durable=False)
    chunk = writer.write(pa.RecordBatch.from_pydict({"x": [1]}, schema=SCHEMA))
    writer.close()
    flipped(tmp_path / "a.seg", chunk.offset + chunk.length - 8)
    assert segments.open(chunk, SCHEMA).to_pydict() == {"x": [5]}, "it was read"
    with pytest.raises(DamagedChunk, match="differs from its checksum"):
        Segments(tmp_path).open(chunk, SCHEMA)
    segments.forget({"a.seg"})
    with pytest.raises(DamagedChunk, match="differs from its checksum"):
        segments.open(chunk, SCHEMA)


@pytest.mark.parametrize("verify", [True, False])
def test_a_segment_that_ends_early_is_named(tmp_path: Path, verify: bool) -> None:
    writer = SegmentWriter(tmp_path, "a.seg", durable=False)
    chunk = writer.write(pa.RecordBatch.from_pydict({"x": list(range(100))}, schema=SCHEMA))
    writer.close()
    for size in (chunk.length - 1, 10, 0):
        (tmp_path / "a.seg").write_bytes((tmp_path / "a.seg").read_bytes()[:size])
        with pytest.raises(
            DamagedChunk, match=r"a.seg: damaged: the chunk at byte 0 ends early; `dbsp fsck "
        ):
            Segments(tmp_path, verify=verify).open(chunk, SCHEMA)


@pytest.mark.parametrize("described", [False, True])
def test_without_verification_what_arrow_can_not_read_is_named_too(tmp_path: Path, described: bool) -> None:
    """From any byte on zeros, as a power failure may leave them."""
    writer = SegmentWriter(tmp_path, "a.seg", durable=False)
    chunk = writer.write(pa.RecordBatch.from_pydict({"x": [1]}, schema=SCHEMA), described=described)
    writer.close()
    whole = (tmp_path / "a.seg").read_bytes()[: chunk.length]
    schema = pa.ipc.read_message(whole).serialize().size if described else 0
    for there in {0, schema}:
        (tmp_path / "a.seg").write_bytes(whole[:there].ljust(chunk.length, b"\0"))
        with pytest.raises(DamagedChunk, match=r"a.seg: damaged: the chunk at byte 0 is no Arrow batch"):
            Segments(tmp_path, verify=False).open(chunk, SCHEMA)
