"""A Delta table follows a bag of rows, as delta-rs reads it; a step is a version, whatever ends a run."""

from __future__ import annotations

import random
from collections import Counter

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from dbsp.circuits.errors import StateError
from dbsp.declared.tables import parquet
from dbsp.declared.tables.delta import DeltaManifest, new_metadata
from dbsp.declared.tables.parquet import ParquetTable
from dbsp.declared.tables.partitions import Partitioning
from tests.dbsp.declared.tables.ends import killed_at
from tests.dbsp.declared.tables.test_parquet import SCHEMA, delta, zset


def opened(tmp_path, by=(), grows=False):
    manifest = DeltaManifest(tmp_path / "records", "t", schema=SCHEMA, partitioned_by=by)
    manifest.open(tmp_path / "t")
    return ParquetTable(manifest, Partitioning(SCHEMA, by), grows, not grows)


def read(tmp_path):
    found = DeltaTable(tmp_path / "t").to_pyarrow_table().select(SCHEMA.names)
    return Counter(zip(*(column.to_pylist() for column in found.columns), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("by", [(), ("k",), ("s", "k")])
def test_the_table_is_a_bag_of_rows(tmp_path, monkeypatch, by):
    monkeypatch.setattr(parquet, "ROWS", 64)
    random_, held, version = random.Random(7), Counter(), -1
    for step in range(1, 25):
        change = delta(random_, held)
        held.update(change)
        held = +held
        opened(tmp_path, by).apply(step, "w", [zset(change)] if change else [])
        version += 1
        table = opened(tmp_path, by)
        assert table.manifest.is_untouched()
        assert read(tmp_path) == held
        assert DeltaTable(tmp_path / "t").version() == version
    assert (tmp_path / "t" / "_delta_log" / "_last_checkpoint").exists()
    assert DeltaTable(tmp_path / "t").transaction_version("dbsp w") == 24


def test_an_older_version_can_be_read(tmp_path):
    opened(tmp_path).apply(1, "w", [zset({(1, "x", 1): 2})])
    opened(tmp_path).apply(2, "w", [zset({(1, "x", 1): -1, (2, "y", 1): 1})])
    assert read(tmp_path) == Counter({(1, "x", 1): 1, (2, "y", 1): 1})
    assert DeltaTable(tmp_path / "t", version=0).to_pyarrow_table().num_rows == 2


def test_what_somebody_else_commits_is_noticed_and_written_over(tmp_path):
    opened(tmp_path, ("s",)).apply(1, "w", [zset({(1, "ü/=", 1): 1})])
    write_deltalake(
        str(tmp_path / "t"), pa.table({"n": [9], "s": ["ü/="], "k": pa.array([1], pa.int32())}), mode="append"
    )
    table = opened(tmp_path, ("s",))
    assert not table.manifest.is_untouched()
    assert len(table.manifest.there()) == 2
    table.apply(2, "w", [zset({(2, "y", 1): 1})], whole=True)
    assert read(tmp_path) == Counter({(2, "y", 1): 1})
    assert opened(tmp_path, ("s",)).manifest.is_untouched()


@pytest.mark.parametrize("whole", [False, True])
def test_what_is_committed_meanwhile_is_kept(tmp_path, monkeypatch, whole):
    opened(tmp_path).apply(1, "w", [zset({(1, "x", 1): 1})])
    table = opened(tmp_path)
    write = DeltaManifest.write

    def late(self, held):
        rows = DeltaTable(tmp_path / "t").to_pyarrow_table()
        write_deltalake(str(tmp_path / "t"), rows, mode="append")
        write(self, held)

    with monkeypatch.context() as patched:
        patched.setattr(DeltaManifest, "write", late)
        with pytest.raises(StateError, match="somebody else has committed version 1"):
            table.apply(2, "w", [zset({(2, "y", 1): 1})], whole)
    again = opened(tmp_path)
    assert (again.step, again.manifest.is_untouched()) == (1, False)
    assert read(tmp_path) == Counter({(1, "x", 1): 2})
    again.apply(2, "w", [zset({(2, "y", 1): 1})], whole=True)
    assert read(tmp_path) == Counter({(2, "y", 1): 1})


def test_a_table_that_asks_more_of_writers_is_refused(tmp_path):
    rows = pa.table({"n": [9], "s": ["x"], "k": pa.array([1], pa.int32())})
    write_deltalake(str(tmp_path / "t"), rows, configuration={"delta.enableChangeDataFeed": "true"})
    with pytest.raises(StateError, match="drop it"):
        opened(tmp_path)


def test_new_metadata_is_of_the_schema(tmp_path):
    protocol, metadata = new_metadata(pa.schema([("a", pa.int64()), ("t", pa.timestamp("us"))]), ("a",))
    assert protocol["writerFeatures"] == ["timestampNtz"]
    assert metadata["partitionColumns"] == ["a"]


def test_an_end_at_any_point_is_a_step_or_none(tmp_path, monkeypatch):
    """The process ends before each change of a name: readers have the step whole or not; it is done once."""
    before, after = Counter({(1, "x", 1): 1, (2, "y", 1): 1}), Counter({(2, "y", 1): 1, (3, "z", 2): 1})
    for point in range(60):
        place = tmp_path / str(point)
        opened(place).apply(1, "w", [zset(before)])
        with killed_at(monkeypatch, point) as ended:
            opened(place).apply(2, "w", [zset({(1, "x", 1): -1, (3, "z", 2): 1})])
        if not ended[0]:
            assert point > 3
            break
        assert read(place) in (before, after)
        table = opened(place)
        assert table.manifest.is_untouched()
        if table.step == 1:
            table.apply(2, "w", [zset({(1, "x", 1): -1, (3, "z", 2): 1})])
        assert read(place) == after
        assert DeltaTable(place / "t").version() == 1
    else:
        raise AssertionError("a step has no end")
