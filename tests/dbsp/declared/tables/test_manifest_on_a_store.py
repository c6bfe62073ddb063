"""A table whose record is on a store: whatever becomes of a request, a step is there once."""

from __future__ import annotations

from collections import Counter

import pytest

from dbsp.circuits.errors import StateError
from dbsp.declared.tables.manifest import Manifest
from dbsp.declared.tables.parquet import ParquetTable
from dbsp.declared.tables.partitions import Partitioning
from dbsp.state.records.places import place_of
from tests.dbsp.declared.tables.test_parquet import SCHEMA, read, zset
from tests.dbsp.state.objects.places import on_store

FIRST = {(1, "x", 1): 1, (2, "y", 1): 1}
CHANGE = {(1, "x", 1): -1, (3, "z", 2): 1}
AFTER = Counter({(2, "y", 1): 1, (3, "z", 2): 1})


def opened(uri, root):
    manifest = Manifest(place_of(uri) / "tables", "t")
    manifest.open(root / "t")
    return ParquetTable(manifest, Partitioning(SCHEMA, ()), grows=False, hashed=True)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["error", "refuse", "lose"])
def test_a_request_that_fails(s3_server, tmp_path, fault):
    """Each of them, once for ever: the step is made by whoever comes next, or was."""
    with on_store(s3_server, tmp_path / "cache") as place:
        point = 0
        while True:
            root, uri = tmp_path / str(point), f"{place.uri}/{point}"
            opened(uri, root).apply(1, "w", [zset(FIRST)])
            begin = len(place.proxy.seen)
            place.proxy.fault = lambda n, request, at=begin + point: fault if n >= at else None
            ended = False
            try:
                opened(uri, root).apply(2, "w", [zset(CHANGE)])
            except StateError:
                ended = True
            place.proxy.fault = lambda n, request: None
            assert read(root) in (Counter(FIRST), AFTER)
            again = opened(uri, root)
            assert again.manifest.is_untouched()
            if again.step == 1:
                again.apply(2, "w", [zset(CHANGE)])
            assert read(root) == AFTER
            if not ended:
                break
            point += 1
        assert point > 3
