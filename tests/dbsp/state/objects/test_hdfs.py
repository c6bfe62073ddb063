"""What is particular to HDFS: a real name node and a data node answer."""

from __future__ import annotations

import getpass
import io
import re
import time
from pathlib import Path

import pytest
from hdfs import InsecureClient

from dbsp.state.objects.hdfs import ADDRESS, HdfsBucket
from dbsp.state.objects.path import ObjectPath
from dbsp.state.objects.refusals import Refused, Unanswered
from dbsp.state.records.places import place_of
from tests.dbsp.state.objects.places import on_hdfs
from tests.servers import hdfs

pytestmark = pytest.mark.slow


def test_a_request_to_hdfs_is_made_again(hdfs_server: hdfs.Server, tmp_path: Path) -> None:
    with on_hdfs(hdfs_server, tmp_path) as place:
        bucket = HdfsBucket(place.uri, pause=0.001)
        bucket.create("first", b"0")
        begun = len(place.proxy.seen)
        place.proxy.fault = lambda n, request: (
            "refuse" if n < begun + 6 and "DELETE" not in str(request) else None
        )
        bucket.send("a", io.BytesIO(b"x"), 1)
        assert bucket.get("a")[0] == b"x"
        assert bucket.traffic.puts > 2
        place.proxy.fault = lambda n, request: "refuse"
        with pytest.raises(
            Unanswered, match=r"the cluster can't be reached .*; is DBSP_WEBHDFS its HTTP addr"
        ):
            bucket.get("a")
        place.proxy.fault = lambda n, request: "throttle"
        with pytest.raises(Unanswered, match=r"the cluster fails .*; try again later"):
            bucket.get("a")


def test_what_hdfs_denies_is_said_in_a_line(hdfs_server: hdfs.Server, tmp_path: Path) -> None:
    InsecureClient(hdfs_server.address, user=getpass.getuser()).makedirs("/closed", permission="755")
    with on_hdfs(hdfs_server, tmp_path), pytest.raises(Refused) as raised:
        HdfsBucket("hdfs://namenode/closed/state").create("b", b"1")
    assert re.fullmatch(
        r"denied \(Permission denied: user=tests, .*\); give this user the right to .*", str(raised.value)
    )


def test_an_object_that_was_renamed_though_nobody_said_so_is_there(
    hdfs_server: hdfs.Server, tmp_path: Path
) -> None:
    """And what was written for one that wasn't is no object, and goes."""
    with on_hdfs(hdfs_server, tmp_path) as place:
        bucket = HdfsBucket(place.uri)
        bucket.create("first", b"0")
        for kind, there in (("lose", True), ("refuse", False)):
            place.proxy.fault = lambda n, request, kind=kind: kind if "RENAME" in request.path else None
            with pytest.raises(Unanswered):
                bucket.create(kind, b"1")
            place.proxy.fault = lambda n, request: None
            assert (kind in bucket.folder("")) == there
        assert bucket._client.list(".new") == []


def test_what_a_killed_process_was_writing_goes_after_an_hour(
    hdfs_server: hdfs.Server, tmp_path: Path
) -> None:
    with on_hdfs(hdfs_server, tmp_path) as place:
        client = HdfsBucket(place.uri)._client
        for name, minutes in (("old", 70), ("young", 50)):
            client.write(f".new/{name}", b"1")
            client.set_times(f".new/{name}", modification_time=int((time.time() - 60 * minutes) * 1000))
        HdfsBucket(place.uri).create("a", b"1")
        assert client.list(".new") == ["young"]


def test_of_several_name_nodes_a_first_one_may_have_done_it(
    hdfs_server: hdfs.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer is lost, and the client asks the next one, which finds nothing to rename."""
    with on_hdfs(hdfs_server, tmp_path) as place:
        root = place_of(place.uri)
        assert isinstance(root, ObjectPath)
        root.bucket.create("commits/0", b"0")
        monkeypatch.setenv(ADDRESS, f"{place.proxy.endpoint};{hdfs_server.address}")
        place.proxy.fault = lambda n, request: "lose" if "RENAME" in request.path else None
        other = place_of(place.uri)
        assert isinstance(other, ObjectPath)
        (other / "commits" / "1").create(b"1")
        assert root.bucket.get("commits/1")[0] == b"1"
        with pytest.raises(FileExistsError):
            (other / "commits" / "1").create(b"2")
