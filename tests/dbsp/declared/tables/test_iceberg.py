"""An Iceberg table follows a bag of rows, as pyiceberg reads it; a step is a snapshot, whatever ends
a run.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.types import LongType

from dbsp.circuits.errors import StateError
from dbsp.circuits.traces.zset import ZSet
from dbsp.declared.project.datasets import Logged
from dbsp.declared.tables import parquet
from dbsp.declared.tables.iceberg import IcebergManifest
from dbsp.declared.tables.parquet import ParquetTable
from dbsp.declared.tables.partitions import InFiles
from tests.dbsp.declared.tables.ends import Killed, killed_at
from tests.dbsp.declared.tables.test_parquet import SCHEMA, delta, zset


def options(root):
    root.mkdir(exist_ok=True)
    return {"type": "sql", "uri": f"sqlite:///{root}/catalog.db", "warehouse": f"file://{root}/warehouse"}


def opened(root, by=(), grows=False, schema=SCHEMA):
    given = tuple({"catalog": "ice", **options(root)}.items())
    logged = Logged("iceberg", "shop.t", given)
    manifest = IcebergManifest(root / "records", "t", logged=logged, schema=schema, partitioned_by=by)
    manifest.open(root)
    return ParquetTable(manifest, InFiles(schema, by), grows, not grows)


def table(root):
    return load_catalog("ice", **options(root)).load_table("shop.t")


def read(root):
    found = table(root).scan().to_arrow().select(SCHEMA.names)
    return Counter(zip(*(column.to_pylist() for column in found.columns), strict=True))


@pytest.fixture
def threads_in_turns():
    """As on a busy machine, but more often."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.slow
@pytest.mark.usefixtures("threads_in_turns")
@pytest.mark.parametrize("by", [(), ("k",), ("s", "k")])
def test_the_table_is_a_bag_of_rows(tmp_path, monkeypatch, by):
    monkeypatch.setattr(parquet, "ROWS", 64)
    random_, held = random.Random(7), Counter()
    for step in range(1, 25):
        change = delta(random_, held)
        held.update(change)
        held = +held
        opened(tmp_path, by).apply(step, "w", [zset(change)] if change else [])
        assert opened(tmp_path, by).manifest.is_untouched()
        assert read(tmp_path) == held
        assert len(table(tmp_path).snapshots()) == step
    summary = table(tmp_path).current_snapshot().summary
    assert (summary["dbsp.writer"], summary["dbsp.step"]) == ("w", "24")
    held_rows = int(summary["total-records"])
    assert held_rows == held.total()


def test_rows_that_come_alone_are_appended(tmp_path):
    for step in range(1, 4):
        opened(tmp_path, grows=True).apply(step, "w", [zset({(step, "x", 1): 1})])
    assert [each.summary.operation.value for each in table(tmp_path).snapshots()] == ["append"] * 3
    opened(tmp_path).apply(4, "w", [])
    assert len(read(tmp_path)) == 3


def test_nothing_is_a_snapshot_too(tmp_path):
    opened(tmp_path).apply(1, "w", [], whole=True)
    assert (read(tmp_path), opened(tmp_path).manifest.is_untouched()) == (Counter(), True)
    assert not opened(tmp_path).manifest.is_filled()


def test_partitions_keep_apart_what_directories_would_not(tmp_path):
    rows = {(1, None, 1): 1, (2, "", 1): 1, (3, "null", None): 1, (4, "__HIVE_DEFAULT_PARTITION__", 1): 1}
    by = ("s", "k")
    opened(tmp_path, by).apply(1, "w", [zset({**rows, (5, "", 1): 1})])
    assert len({str(task.file.partition) for task in table(tmp_path).scan().plan_files()}) == 4
    opened(tmp_path, by).apply(2, "w", [zset({(5, "", 1): -1})])
    assert read(tmp_path) == Counter(rows)
    assert table(tmp_path).scan("s = ''").to_arrow()["n"].to_pylist() == [2]
    with pytest.raises(StateError, match=r"is partitioned by \(.*s.*k.*\), and is to be by \(k\); drop it"):
        opened(tmp_path, ("k",))


@pytest.mark.slow
@pytest.mark.parametrize("change", ["rows", "columns", "back"])
def test_what_somebody_else_commits_is_noticed_and_written_over(tmp_path, change):
    opened(tmp_path).apply(1, "w", [zset({(1, "x", 1): 1})])
    opened(tmp_path).apply(2, "w", [zset({(2, "x", 1): 1})])
    if change == "rows":
        rows = pa.table({"n": [9], "s": ["ü"], "k": pa.array([1], pa.int32())})
        table(tmp_path).append(rows)
    elif change == "columns":
        with table(tmp_path).update_schema() as update:
            update.rename_column("s", "t")
            update.add_column("more", LongType())
    else:
        first = table(tmp_path).snapshots()[0].snapshot_id
        table(tmp_path).manage_snapshots().rollback_to_snapshot(first).commit()
    again = opened(tmp_path)
    assert (again.manifest.is_untouched(), again.manifest.is_filled()) == (False, True)
    again.apply(3, "w", [zset({(2, "y", 1): 1})], whole=True)
    assert read(tmp_path) == Counter({(2, "y", 1): 1})
    assert table(tmp_path).schema().column_names == SCHEMA.names
    assert opened(tmp_path).manifest.is_untouched()


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True])
def test_what_is_committed_meanwhile_is_kept(tmp_path, monkeypatch, whole):
    opened(tmp_path).apply(1, "w", [zset({(1, "x", 1): 1})])
    writing, write = opened(tmp_path), IcebergManifest.write

    def late(self, held):
        table(tmp_path).append(table(tmp_path).scan().to_arrow())
        write(self, held)

    with monkeypatch.context() as patched:
        patched.setattr(IcebergManifest, "write", late)
        with pytest.raises(StateError, match=r"shop\.t: somebody else has committed; run it again"):
            writing.apply(2, "w", [zset({(2, "y", 1): 1})], whole)
    again = opened(tmp_path)
    assert (again.step, again.manifest.is_untouched()) == (1, False)
    assert read(tmp_path) == Counter({(1, "x", 1): 2})
    again.apply(2, "w", [zset({(2, "y", 1): 1})], whole=True)
    assert read(tmp_path) == Counter({(2, "y", 1): 1})


@pytest.mark.slow
def test_other_columns_come_with_the_rows(tmp_path):
    """One snapshot has both; older ones have their own."""
    opened(tmp_path).apply(1, "w", [zset({(1, "x", 1): 1})])
    inner = pa.list_(pa.struct([("b", pa.int8()), ("c", pa.string())]))
    other = pa.schema([("l", inner), ("s", pa.int64()), ("tiny", pa.int8()), ("n", pa.int64())])
    rows = pa.RecordBatch.from_pylist(
        [{"l": [{"b": 1, "c": "ü"}, None], "s": 5, "tiny": -8, "n": None}], schema=other
    )
    change = ZSet(rows, np.ones(1, np.int64))
    opened(tmp_path, schema=other).apply(2, "w", [change], whole=True)
    assert table(tmp_path).scan().to_arrow().to_pylist() == rows.to_pylist()
    assert [each.name for each in table(tmp_path).schema().fields] == other.names
    assert len(table(tmp_path).snapshots()) == 2
    before = table(tmp_path).snapshots()[0]
    assert table(tmp_path).scan(snapshot_id=before.snapshot_id).to_arrow().num_rows == 1
    schemas = len(table(tmp_path).schemas())
    opened(tmp_path, schema=other).apply(3, "w", [change], whole=True)
    opened(tmp_path, schema=other).apply(4, "w", [-change])
    assert (table(tmp_path).scan().to_arrow().num_rows, len(table(tmp_path).schemas())) == (0, schemas)


def test_a_partition_keeps_its_type(tmp_path):
    opened(tmp_path, ("k",)).apply(1, "w", [zset({(1, "x", 1): 1})])
    other = pa.schema([("n", pa.int64()), ("k", pa.string())])
    rows = ZSet(pa.RecordBatch.from_pylist([{"n": 1, "k": "x"}], schema=other), np.ones(1, np.int64))
    with pytest.raises(StateError, match=r"shop\.t is partitioned by k, which is to be string; drop it"):
        opened(tmp_path, ("k",), schema=other).apply(2, "w", [rows], whole=True)
    assert read(tmp_path) == Counter({(1, "x", 1): 1})
    fewer = pa.schema([("k", pa.int32())])
    rows = ZSet(pa.RecordBatch.from_pylist([{"k": 5}], schema=fewer), np.ones(1, np.int64))
    opened(tmp_path, ("k",), schema=fewer).apply(2, "w", [rows], whole=True)
    assert table(tmp_path).scan().to_arrow().to_pylist() == [{"k": 5}]


def test_a_table_that_is_dropped_is_made_anew(tmp_path):
    opened(tmp_path).apply(1, "w", [zset({(1, "x", 1): 1})])
    load_catalog("ice", **options(tmp_path)).drop_table("shop.t")
    again = opened(tmp_path)
    assert (again.manifest.is_untouched(), again.manifest.is_filled()) == (False, False)
    again.apply(2, "w", [zset({(1, "x", 1): 1})], whole=True)
    assert read(tmp_path) == Counter({(1, "x", 1): 1})


def test_a_catalogue_that_is_out_of_reach(tmp_path):
    logged = Logged(
        "iceberg", "shop.t", (("catalog", "ice"), ("type", "rest"), ("uri", "http://127.0.0.1:9"))
    )
    with pytest.raises(StateError, match=r"table shop\.t can't be written: "):
        IcebergManifest(tmp_path / "records", "t", logged=logged, schema=SCHEMA).open(tmp_path)


@contextmanager
def dying(patched, when):
    """What is within ends before its commit, or behind it."""
    commit = SqlCatalog.commit_table

    def ending(*arguments, **named):
        if when == "behind":
            commit(*arguments, **named)
        raise Killed

    with patched.context() as inner:
        inner.setattr(SqlCatalog, "commit_table", ending)
        with pytest.raises(Killed):
            yield


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "behind"])
@pytest.mark.parametrize("whole", [False, True])
def test_an_end_at_the_commit_is_a_step_or_none(tmp_path, monkeypatch, when, whole):
    before, after = Counter({(1, "x", 1): 1, (2, "y", 1): 1}), Counter({(2, "y", 1): 1, (3, "z", 2): 1})
    change = zset(after if whole else {(1, "x", 1): -1, (3, "z", 2): 1})
    opened(tmp_path).apply(1, "w", [zset(before)])
    with dying(monkeypatch, when):
        opened(tmp_path).apply(2, "w", [change], whole)
    assert read(tmp_path) == (after if when == "behind" else before)
    again = opened(tmp_path)
    assert (again.step, again.manifest.is_untouched()) == (2 if when == "behind" else 1, True)
    if again.step == 1:
        again.apply(2, "w", [change], whole)
    assert (read(tmp_path), len(table(tmp_path).snapshots())) == (after, 2)
    again.apply(3, "w", [zset({(3, "z", 2): -1})])
    assert read(tmp_path) == Counter({(2, "y", 1): 1})


def test_a_commit_that_comes_too_late_is_refused(tmp_path, monkeypatch):
    """The step of a run that is taken for dead isn't there twice."""
    opened(tmp_path).apply(1, "w", [zset({(1, "x", 1): 1})])
    commit, held = SqlCatalog.commit_table, []

    def kept(*arguments, **named):
        held.append((arguments, named))
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(SqlCatalog, "commit_table", kept)
        with pytest.raises(Killed):
            opened(tmp_path).apply(2, "w", [zset({(2, "x", 1): 1})])
    opened(tmp_path).apply(2, "w", [zset({(2, "x", 1): 1})])
    ((arguments, named),) = held
    with pytest.raises(CommitFailedException):
        commit(*arguments, **named)
    assert read(tmp_path) == Counter({(1, "x", 1): 1, (2, "x", 1): 1})


@pytest.mark.slow
def test_an_end_at_any_point_is_a_step_or_none(tmp_path, monkeypatch):
    """The process ends before each change of a name."""
    before, after = Counter({(1, "x", 1): 1, (2, "y", 1): 1}), Counter({(2, "y", 1): 1, (3, "z", 2): 1})
    change = zset({(1, "x", 1): -1, (3, "z", 2): 1})
    for point in range(60):
        place = tmp_path / str(point)
        opened(place).apply(1, "w", [zset(before)])
        with killed_at(monkeypatch, point) as ended:
            opened(place).apply(2, "w", [change])
        if not ended[0]:
            assert point > 2
            break
        assert read(place) in (before, after)
        again = opened(place)
        assert again.manifest.is_untouched()
        if again.step == 1:
            again.apply(2, "w", [change])
        assert (read(place), len(table(place).snapshots())) == (after, 2)
    else:
        raise AssertionError("a step has no end")
