"""A directory follows a bag of rows, as DuckDB reads it; an end at any point loses and repeats nothing."""

from __future__ import annotations

import random
from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.zset import ZSet
from dbsp.declared.tables import parquet
from dbsp.declared.tables.manifest import Manifest
from dbsp.declared.tables.parquet import ParquetTable
from dbsp.declared.tables.partitions import Partitioning
from tests.dbsp.declared.tables.ends import killed_at

SCHEMA = pa.schema([("n", pa.int64()), ("s", pa.string()), ("k", pa.int32())])


def zset(rows):
    columns = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(SCHEMA)]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=SCHEMA), np.array(list(rows.values()), np.int64))


def opened(tmp_path, by=(), grows=False, hashed=None):
    manifest = Manifest(tmp_path / "records", "t")
    manifest.open(tmp_path / "t")
    return ParquetTable(manifest, Partitioning(SCHEMA, by), grows, not grows if hashed is None else hashed)


def read(tmp_path):
    """As DuckDB reads it, which leaves out hidden names."""
    found = duckdb.sql(
        f"SELECT n, s, k FROM read_parquet('{tmp_path}/t/**/[!.]*.parquet', hive_partitioning = true)"
    ).fetchall()
    return Counter((n, s, None if k is None else int(k)) for n, s, k in found)


def delta(random_, held):
    """Some rows that come, and some that go."""
    change = Counter()
    for _ in range(random_.randint(0, 12)):
        change[(random_.choice([None, 0, 1]), random_.choice([None, "x"]), random_.choice([1, 2]))] += 1
    for row, count in held.items():
        if random_.random() < 0.4:
            change[row] -= random_.randint(1, count)
    return {row: weight for row, weight in change.items() if weight}


@pytest.mark.slow
@pytest.mark.parametrize(("by", "hashed"), [((), True), (("k",), True), ((), False)])
def test_a_directory_is_a_bag_of_rows(tmp_path, monkeypatch, by, hashed):
    """Also where rows were thought to stay when they were written: they are found by their values."""
    monkeypatch.setattr(parquet, "ROWS", 64)
    random_, held = random.Random(5), Counter()
    for step in range(1, 30):
        change = delta(random_, held)
        held.update(change)
        held = +held
        written = opened(tmp_path, by, hashed=hashed).apply(step, "w", [zset(change)] if change else [])
        assert written.inserted == sum(weight for weight in change.values() if weight > 0)
        assert written.retracted == -sum(weight for weight in change.values() if weight < 0)
        table = opened(tmp_path, by)
        assert table.manifest.is_untouched()
        assert table.manifest.held.rows == held.total()
        if held:
            assert read(tmp_path) == held
    assert len(table.manifest.held.files) < 30  # small ones were merged


def test_rows_that_arent_there_are_noticed(tmp_path):
    opened(tmp_path).apply(1, "w", [zset({(1, "x", 1): 2})])
    with pytest.raises(StateError, match="1 rows that the table had aren't there"):
        opened(tmp_path).apply(2, "w", [zset({(1, "x", 2): -1})])
    assert read(tmp_path) == Counter({(1, "x", 1): 2})


def test_a_whole_refresh_replaces_what_is_there(tmp_path):
    opened(tmp_path).apply(1, "w", [zset({(1, "x", 1): 1})])
    (tmp_path / "t" / "_spark_metadata").mkdir()
    (tmp_path / "t" / "foreign.parquet").write_bytes(b"")
    assert not opened(tmp_path).manifest.is_untouched()
    opened(tmp_path).apply(7, "w", [zset({(2, "y", 1): 1})], whole=True)
    assert read(tmp_path) == Counter({(2, "y", 1): 1})
    assert opened(tmp_path).step == 7
    assert not (tmp_path / "t" / "_spark_metadata").exists()


def test_an_end_at_any_point_is_a_step_or_none(tmp_path, monkeypatch):
    """The process ends before each change of a name: what is opened next has all of the step, or nothing."""
    before, after = Counter({(1, "x", 1): 1, (2, "y", 1): 1}), Counter({(2, "y", 1): 1, (3, "z", 2): 1})
    for point in range(40):
        place = tmp_path / str(point)
        opened(place).apply(1, "w", [zset(before)])
        with killed_at(monkeypatch, point) as ended:
            opened(place).apply(2, "w", [zset({(1, "x", 1): -1, (3, "z", 2): 1})])
        if not ended[0]:
            assert point > 3
            break
        step = opened(place).step
        assert read(place) == {1: before, 2: after}[step]
        assert not list(place.joinpath("t").glob(".dbsp-*")) or step == 1
    else:
        raise AssertionError("a step has no end")


def test_an_empty_text_is_in_the_directory_of_null(tmp_path):
    table = opened(tmp_path, ("s",))
    table.apply(1, "w", [zset({(1, "", 1): 1, (2, None, 1): 1, (3, "x", 1): 1})])
    assert read(tmp_path) == Counter({(1, None, 1): 1, (2, None, 1): 1, (3, "x", 1): 1})
    table.apply(2, "w", [zset({(1, "", 1): -1, (2, None, 1): -1, (2, "", 1): 1})])
    assert read(tmp_path) == Counter({(2, None, 1): 1, (3, "x", 1): 1})
