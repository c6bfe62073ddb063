"""Requests to a store: what they do, how many there are, and which are made again."""

from __future__ import annotations

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dbsp.circuits.segments.origin import Traffic
from dbsp.state.objects.bucket import Bucket
from dbsp.state.objects.hdfs import HdfsBucket
from dbsp.state.objects.path import ObjectPath
from dbsp.state.objects.refusals import Changed
from dbsp.state.records.places import place_of
from tests.dbsp.state.objects.places import in_memory, on_azure, on_hdfs, on_store

SERVED = [pytest.param(name, marks=pytest.mark.slow) for name in ("s3", "azure", "hdfs")]


@pytest.fixture(params=["memory", *SERVED])
def bucket(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bucket]:
    """An empty one."""
    if request.param == "memory":
        yield in_memory()
        return
    place_on = {"s3": on_store, "azure": on_azure, "hdfs": on_hdfs}[request.param]
    with place_on(request.getfixturevalue(f"{request.param}_server"), tmp_path / "cache") as place:
        found = place_of(place.uri)
        assert isinstance(found, ObjectPath)
        yield found.bucket


def test_every_request_is_counted(bucket: Bucket, tmp_path: Path) -> None:
    bucket.send("a/1", io.BytesIO(b"xyz"), 3)
    bucket.fetch("a/1", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"xyz"
    bucket.create("b", b"1")
    bucket.get("b")
    assert list(bucket.names("a/")) == ["a/1"]
    bucket.delete(["a/1", "b"])
    deletes = 2 if isinstance(bucket, HdfsBucket) else 1  # each for itself, or together
    lists = 2 if isinstance(bucket, HdfsBucket) else 1  # for what a killed process has left
    assert bucket.traffic == Traffic(2, 2, deletes, lists, bytes_read=4, bytes_written=4)
    assert bucket.traffic.requests == 4 + deletes + lists


def test_names_begin_with_a_prefix_and_come_after_one(bucket: Bucket) -> None:
    for name in ("s/0001-a", "s/0002-a", "s/0002-b", "s/merge-1", "t/0002"):
        bucket.create(name, b"")
    assert list(bucket.names("s/0002-")) == ["s/0002-a", "s/0002-b"]
    assert list(bucket.names("s/", "s/0002")) == ["s/0002-a", "s/0002-b", "s/merge-1"]
    assert list(bucket.names("s")) == ["s/0001-a", "s/0002-a", "s/0002-b", "s/merge-1"]
    assert list(bucket.names("none/")) == []
    assert bucket.folder("") == ["s", "t"]
    assert bucket.folder("none") == []
    bucket.delete(["s/none", "t/0002", "t/none"])
    assert bucket.folder("") == ["s"]
    assert [entry.name for entry in bucket.entries("s")] == ["0001-a", "0002-a", "0002-b", "merge-1"]
    assert bucket.entries("") == []


def test_what_is_not_there_is_not_found(bucket: Bucket, tmp_path: Path) -> None:
    bucket.create("a", b"1")
    for ask in (bucket.get, lambda name: bucket.fetch(name, tmp_path / "copy")):
        with pytest.raises(FileNotFoundError):
            ask("b")
    with pytest.raises((FileNotFoundError, Changed)):
        bucket.replace("b", b"2", bucket.get("a")[1])


def test_a_file_is_what_was_sent(bucket: Bucket, tmp_path: Path) -> None:
    """Also when it is sent again."""
    content = bytes(range(256)) * (9 << 12)  # 9 MiB
    for _ in range(2):
        bucket.send("segments/a", io.BytesIO(content), len(content))
        bucket.fetch("segments/a", tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == content
    (entry,) = bucket.entries("segments")
    assert entry.size == len(content)
    stamps = {entry.stamp}
    for data in (b"1", b"2", b"22"):
        bucket.send("segments/a", io.BytesIO(data), len(data))
        stamps.add(bucket.entries("segments")[0].stamp)
    assert len(stamps) == 4


def test_what_has_changed_is_not_replaced(bucket: Bucket) -> None:
    first = bucket.create("a", b"1")
    second = bucket.replace("a", b"2", first)
    with pytest.raises(Changed):
        bucket.replace("a", b"3", first)
    with pytest.raises(Changed):
        bucket.create("a", b"3")
    bucket.replace("a", b"4", second)
    assert bucket.get("a")[0] == b"4"


def test_of_many_who_create_a_name_one_does(bucket: Bucket) -> None:
    def create(content: int) -> bool:
        try:
            bucket.create("commits/1", f"{content}".encode())
        except Changed:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(create, range(24)))
    assert sum(made) == 1
    assert bucket.get("commits/1")[0] == f"{made.index(True)}".encode()
    assert bucket.folder("commits") == ["1"]
