"""Segments on a store and their copies here: whole, wherever they come from; and when they are sent."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DamagedChunk, StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.origin import Traffic
from dbsp.circuits.segments.segments import Segments
from dbsp.state.objects.bucket import Bucket
from dbsp.state.objects.cloud import CloudBucket
from dbsp.state.objects.copies import Copies
from dbsp.state.objects.refusals import Refused
from tests.dbsp.state.objects.places import in_memory

SCHEMA = pa.schema([("x", pa.int64())])


def opened(bucket: Bucket, root: Path) -> Segments:
    copies = Copies(bucket, root)
    return Segments(copies.cache.directory, origin=copies)


def written(segments: Segments, name: str, value: int) -> Chunk:
    writer = segments.writer(name)
    chunk = writer.write(pa.RecordBatch.from_pydict({"x": [value]}, schema=SCHEMA))
    writer.close()
    segments.settle()
    return chunk


def path_of(segments: Segments, chunk: Chunk) -> Path:
    return Path(segments.root, chunk.segment)


def test_what_was_written_here_is_not_fetched_and_what_was_elsewhere_is_once(tmp_path: Path) -> None:
    bucket = in_memory()
    here = opened(bucket, tmp_path / "here")
    chunk = written(here, "a", 1)
    assert here.open(chunk, SCHEMA).to_pydict() == {"x": [1]}
    assert bucket.traffic == Traffic(puts=1, bytes_written=path_of(here, chunk).stat().st_size)
    for found, fetched in ((0, 1), (1, 0)):
        there = opened(bucket, tmp_path / "there")
        assert there.open(chunk, SCHEMA).to_pydict() == {"x": [1]}
        assert (there.traffic.found, there.traffic.fetched) == (found, fetched)
    assert bucket.traffic.gets == 1
    assert bucket.traffic.lists == 0


@pytest.mark.parametrize("damage", ["flipped", "short", "gone"])
def test_a_damaged_copy_is_replaced(tmp_path: Path, damage: str) -> None:
    bucket = in_memory()
    chunk = written(opened(bucket, tmp_path), "a", 1)
    segments = opened(bucket, tmp_path)
    copy = path_of(segments, chunk)
    content = copy.read_bytes()
    if damage == "gone":
        copy.unlink()
    else:
        copy.write_bytes(content[:9] if damage == "short" else content[:-1] + bytes([content[-1] ^ 1]))
        if damage == "flipped":  # what the chunk refers to, not the padding
            copy.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    assert segments.open(chunk, SCHEMA).to_pydict() == {"x": [1]}
    assert copy.read_bytes() == content


def test_damage_on_the_store_is_damage(tmp_path: Path) -> None:
    bucket = in_memory()
    chunk = written(opened(bucket, tmp_path / "1"), "a", 1)
    data, tag = bucket.get("segments/a")
    bucket.replace("segments/a", bytes([data[0] ^ 1]) + data[1:], tag)
    with pytest.raises(DamagedChunk, match=r"memory:///segments/a: damaged: .* differs from its checksum"):
        opened(bucket, tmp_path / "2").open(chunk, SCHEMA)
    bucket.delete(["segments/a"])
    with pytest.raises(DamagedChunk, match="is missing"):
        opened(bucket, tmp_path / "3").open(chunk, SCHEMA)


def test_a_copy_that_goes_while_it_is_used_comes_back_and_is_checked_again(tmp_path: Path) -> None:
    bucket = in_memory()
    segments = opened(bucket, tmp_path)
    chunk = written(segments, "a", 1)
    assert segments.open(chunk, SCHEMA).num_rows == 1
    path_of(segments, chunk).unlink()
    assert segments.open(chunk, SCHEMA).num_rows == 1  # mapped
    segments._files.clear()
    assert segments.open(chunk, SCHEMA).to_pydict() == {"x": [1]}
    assert bucket.traffic.gets == 1


def deny(self: Bucket, name: str, file: object, size: int) -> None:
    raise Refused("denied")


def test_what_could_not_be_sent_is_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = in_memory()
    segments = opened(bucket, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(CloudBucket, "send", deny)
        with pytest.raises(StateError, match="denied"):
            written(segments, "a", 1)
    with suppress(StateError):
        segments.settle({"a"})  # it may have been sent again while that was refused
    segments.settle({"a"})
    assert segments.names("") == ["a"]


def test_what_was_not_sent_is_told_until_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its copy has gone meanwhile, and where who waited was interrupted."""
    bucket = in_memory()
    segments = opened(bucket, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(CloudBucket, "send", deny)
        writer = segments.writer("a")
        writer.write(pa.RecordBatch.from_pydict({"x": [1]}, schema=SCHEMA))
        writer.close()
        with monkeypatch.context() as interrupted:
            interrupted.setattr(Future, "exception", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                segments.settle({"a"})
        Path(segments.root, "a").unlink()
        for _ in range(2):
            with pytest.raises(StateError, match="denied"):
                segments.settle({"a"})
    with pytest.raises(StateError, match="denied"):
        segments.settle()
    assert segments.origin is not None
    segments.origin.delete({"a"})
    segments.settle()
    assert segments.names("") == []


def test_others_are_not_waited_for_and_what_is_deleted_does_not_come_back(tmp_path: Path) -> None:
    bucket = in_memory()
    segments = opened(bucket, tmp_path)
    assert segments.origin is not None
    for name in ("a", "b"):
        writer = segments.writer(name)
        writer.write(pa.RecordBatch.from_pydict({"x": [1]}, schema=SCHEMA))
        writer.close()
    segments.settle({"a"})
    segments.origin.delete({"b"})
    segments.settle()
    assert segments.names("") == ["a"]
    assert segments.names("b") == []
    assert not Path(segments.root, "b").exists()
