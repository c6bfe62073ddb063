"""What one process has compared another one trusts, while the file is the same, for a day."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DamagedChunk
from dbsp.circuits.segments import compared, segments
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.segments.writing import SegmentWriter

SCHEMA = pa.schema([("x", pa.int64())])


@pytest.fixture(autouse=True)
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The places of chunks that were compared."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    places: list[int] = []
    hashed = segments._hash_of
    monkeypatch.setattr(
        segments, "_hash_of", lambda path, chunk: places.append(chunk.offset) or hashed(path, chunk)
    )
    yield places


@pytest.fixture
def chunks(tmp_path: Path) -> list[Chunk]:
    writer = SegmentWriter(tmp_path, "a.seg", durable=False)
    made = [writer.write(pa.RecordBatch.from_pydict({"x": [i]}, schema=SCHEMA)) for i in range(3)]
    writer.close()
    return made


def process(tmp_path: Path, chunks: list[Chunk]) -> None:
    """One that opens these, and ends."""
    opened = Segments(tmp_path)
    opened.trust_others()
    for chunk in chunks:
        opened.open(chunk, SCHEMA)
    opened.tell_others()


def test_what_was_compared_is_not_read_again(tmp_path: Path, chunks: list[Chunk], read: list[int]) -> None:
    process(tmp_path, chunks[:2])
    process(tmp_path, chunks)
    process(tmp_path, chunks)
    assert read == [chunk.offset for chunk in chunks]


def test_who_writes_a_chunk_tells_nobody(tmp_path: Path, read: list[int]) -> None:
    writing = Segments(tmp_path)
    writing.trust_others()
    writer = writing.writer("a.seg", durable=False)
    chunk = writer.write(pa.RecordBatch.from_pydict({"x": [1]}, schema=SCHEMA))
    writer.close()
    writing.open(chunk, SCHEMA)
    writing.tell_others()
    assert read == []
    process(tmp_path, [chunk])
    assert read == [chunk.offset]


def test_another_file_is_compared(tmp_path: Path, chunks: list[Chunk]) -> None:
    """Also one that has the size and the time of the first."""
    process(tmp_path, chunks)
    path = tmp_path / "a.seg"
    content, times = bytearray(path.read_bytes()), path.stat()
    content[chunks[1].offset + chunks[1].length - 8] ^= 4
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(DamagedChunk, match="differs from its checksum"):
        process(tmp_path, chunks)


def test_after_a_day_all_is_compared(
    tmp_path: Path, chunks: list[Chunk], read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted from the first of a segment's chunks."""
    now = 1e9
    monkeypatch.setattr(compared.time, "time", lambda: now)
    process(tmp_path, chunks[:1])
    now += compared.DAY / 2
    process(tmp_path, chunks)
    assert len(read) == 3
    now += compared.DAY / 2
    process(tmp_path, chunks)
    assert len(read) == 6
    now -= 1  # a clock that was set back is no reason to trust
    process(tmp_path, chunks)
    assert len(read) == 9


def test_what_is_forgotten_and_what_is_told_badly_is_compared(
    tmp_path: Path, chunks: list[Chunk], read: list[int]
) -> None:
    process(tmp_path, chunks)
    opened = Segments(tmp_path)
    opened.trust_others()
    opened.forget({"a.seg"})
    opened.open(chunks[0], SCHEMA)
    assert len(read) == 4
    (told,) = (tmp_path / "cache" / "dbsp" / "compared").iterdir()
    for content in ("{", "[]", '{"a.seg": [1]}', '{"a.seg": [[1], 0, {}]}'):
        told.write_text(content)
        process(tmp_path, chunks[:1])
    assert len(read) == 8
