"""What is written is read, in a directory and on a store."""

from __future__ import annotations

import numpy as np
import pytest

from dbsp.declared.tables.indexes import Indexes
from dbsp.state.records.places import place_of
from tests.dbsp.state.objects.places import on_store


@pytest.fixture(params=["directory", "store"])
def folder(request, tmp_path):
    if request.param == "directory":
        yield tmp_path / "t.rows"
    else:
        with on_store(request.getfixturevalue("s3_server"), tmp_path / "cache") as place:
            yield place_of(place.uri) / "t.rows"


@pytest.mark.slow
def test_what_is_put_is_there(folder):
    assert Indexes(folder).get("f") is None
    Indexes(folder).put("f", np.array([1, 1 << 63], np.uint64))
    found = Indexes(folder).get("f")
    assert (found.dtype, found.tolist()) == (np.uint64, [1, 1 << 63])
    assert Indexes(folder).get("f").tolist() == found.tolist()
    Indexes(folder).forget("f")


def test_a_store_is_asked_once(s3_server, tmp_path):
    with on_store(s3_server, tmp_path / "cache") as place:
        folder = place_of(place.uri) / "t.rows"
        Indexes(folder).put("f", np.arange(9, dtype=np.uint64))
        for _ in range(3):
            assert Indexes(folder).get("f").sum() == 36
        assert [each.method for each in place.proxy.seen] == ["PUT", "GET"]
