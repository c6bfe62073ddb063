"""Where a state directory can be."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.store import Store
from tests.dbsp.state.stores import IDENTITY


@pytest.mark.parametrize(
    ("directory", "said"),
    [
        (
            "s4://bucket/state",
            "on s4 is not supported; stores: s3, gs, az, abfs, abfss, hdfs, or a local",
        ),
        ("dbfs:/state", "dbfs:/state: state on dbfs is not supported; stores: s3, "),
        (Path("dbfs:/x/state"), "state on dbfs is not supported"),
        ("hdfs:///state", "hdfs:///state: names no host; write hdfs://namenode/path"),
        ("hdfs:state", "names no host; write hdfs://namenode/path"),
        ("s3:state", "s3:state: names no bucket; write s3://bucket/prefix"),
        ("S3:///state", "names no bucket; write s3://bucket/prefix"),
        ("file://tmp/state", "'tmp' is read as the name of a host; write file:/tmp/state"),
        ("/proc/nowhere/state", "can't be used for state"),
    ],
)
def test_places_that_won_t_do(directory, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for opened in (lambda: Store.open(directory, IDENTITY), lambda: Store.read(directory)):
        with pytest.raises(StateError, match=said if "proc" not in str(directory) else "nowhere"):
            opened()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("place", "module", "extra"), [("s3://b/x", "obstore", "stores"), ("hdfs://host/x", "hdfs", "hdfs")]
)
def test_a_store_whose_client_is_not_installed(place, module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StateError, match=rf"{place}: needs .*; install it: pip install 'dbsp\[{extra}\]'"):
        Store.read(place)


@pytest.mark.parametrize("form", ["file:{}", "file://{}", "file://localhost{}", "FILE:{}", "{}"])
def test_a_uri_of_local_files_is_their_path(tmp_path, form):
    directory = form.format(tmp_path / "state")
    Store.open(directory, IDENTITY).close()
    assert (tmp_path / "state" / "program.json").exists()
    assert Store.read(directory)[1] == IDENTITY


def test_reading_what_isn_t_there(tmp_path):
    with pytest.raises(StateError, match="no such directory"):
        Store.read(tmp_path / "nowhere")
    with pytest.raises(StateError, match=f"{'x' * 300}: File name too long"):
        Store.read(tmp_path / ("x" * 300))
    with pytest.raises(StateError, match=r"no state directory \(it has no program.json\)"):
        Store.read(tmp_path)
