"""What is particular to stores that obstore knows."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.objects import cloud
from dbsp.state.objects.cloud import CloudBucket
from dbsp.state.objects.refusals import Unanswered
from tests.dbsp.state.objects.places import in_memory, on_store
from tests.servers.s3 import Server


def test_a_large_file_is_sent_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cloud, "_WHOLE", 1 << 20)
    monkeypatch.setattr(cloud, "_PART", 5 << 20)
    content = bytes(range(256)) * (11 << 12)  # 11 MiB
    bucket = in_memory()
    bucket.send("a", io.BytesIO(content), len(content))
    assert bucket.get("a")[0] == content
    assert bucket.traffic.puts == 5  # three parts, begun and ended


def test_what_is_no_store() -> None:
    with pytest.raises(StateError, match=r"az://container: "):
        CloudBucket("az://container").get("a")


@pytest.mark.slow
def test_a_throttled_request_is_made_again(s3_server: Server, tmp_path: Path) -> None:
    with on_store(s3_server, tmp_path) as place:
        bucket = CloudBucket(place.uri, pause=0.001)
        place.proxy.fault = lambda n, request: "throttle" if n < 3 else None
        bucket.send("a", io.BytesIO(b"x"), 1)
        assert bucket.traffic.puts == 4
        place.proxy.fault = lambda n, request: "throttle"
        with pytest.raises(Unanswered, match=r"the store fails \(status 503\) \(SlowDown\); try again later"):
            bucket.get("a")
