"""Requests to a store: what they do, how many there are, and which are made again."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.origin import Traffic
from dbsp.state.objects import bucket as bucket_module
from dbsp.state.objects.bucket import Bucket
from dbsp.state.objects.refusals import Changed, Unanswered
from tests.dbsp.state.objects.places import in_memory, on_store
from tests.servers.s3 import Server


def test_every_request_is_counted(tmp_path: Path) -> None:
    bucket = in_memory()
    bucket.send("a/1", io.BytesIO(b"xyz"), 3)
    bucket.fetch("a/1", tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == b"xyz"
    bucket.create("b", b"1")
    bucket.get("b")
    assert list(bucket.names("a/")) == ["a/1"]
    bucket.delete(["a/1", "b"])
    assert bucket.traffic == Traffic(gets=2, puts=2, deletes=1, lists=1, bytes_read=4, bytes_written=4)
    assert bucket.traffic.requests == 6


def test_a_large_file_is_sent_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket_module, "_WHOLE", 1 << 20)
    monkeypatch.setattr(bucket_module, "_PART", 5 << 20)
    content = bytes(range(256)) * (11 << 12)  # 11 MiB
    bucket = in_memory()
    bucket.send("a", io.BytesIO(content), len(content))
    assert bucket.get("a")[0] == content
    assert bucket.traffic.puts == 5  # three parts, begun and ended


def test_names_begin_with_a_prefix_and_come_after_one() -> None:
    bucket = in_memory()
    for name in ("s/0001-a", "s/0002-a", "s/0002-b", "s/merge-1", "t/0002"):
        bucket.create(name, b"")
    assert list(bucket.names("s/0002-")) == ["s/0002-a", "s/0002-b"]
    assert list(bucket.names("s/", "s/0002")) == ["s/0002-a", "s/0002-b", "s/merge-1"]
    assert bucket.folder("") == ["s", "t"]


def test_what_has_changed_is_not_replaced() -> None:
    bucket = in_memory()
    first = bucket.create("a", b"1")
    second = bucket.replace("a", b"2", first)
    with pytest.raises(Changed):
        bucket.replace("a", b"3", first)
    with pytest.raises(Changed):
        bucket.create("a", b"3")
    bucket.replace("a", b"4", second)
    assert bucket.get("a")[0] == b"4"


def test_what_is_no_store() -> None:
    with pytest.raises(StateError, match=r"az://container: "):
        Bucket("az://container").get("a")


@pytest.mark.slow
def test_a_throttled_request_is_made_again(s3_server: Server, tmp_path: Path) -> None:
    with on_store(s3_server, tmp_path) as place:
        bucket = Bucket(place.uri, pause=0.001)
        place.proxy.fault = lambda n, request: "throttle" if n < 3 else None
        bucket.send("a", io.BytesIO(b"x"), 1)
        assert bucket.traffic.puts == 4
        place.proxy.fault = lambda n, request: "throttle"
        with pytest.raises(Unanswered, match=r"the store fails \(status 503\) \(SlowDown\); try again later"):
            bucket.get("a")
