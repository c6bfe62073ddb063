"""The changes between snapshots of an Iceberg table add up to its last one, as pyiceberg reads that."""

from __future__ import annotations

import json
import random
from functools import partial

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.expressions import EqualTo
from pyiceberg.manifest import DataFileContent
from pyiceberg.types import LongType

from dbsp.circuits.errors import Error, StateError
from dbsp.declared.logs.iceberg import IcebergLog
from dbsp.declared.project.datasets import Logged
from tests.dbsp.declared.logs.positions import delete_rows_beside
from tests.dbsp.declared.logs.rows import SCHEMA, check_adds_up, drawn


def options(root):
    return {"type": "sql", "uri": f"sqlite:///{root}/catalog.db", "warehouse": f"file://{root}/warehouse"}


def made(root, partitioned=False):
    catalog = load_catalog("ice", **options(root))
    catalog.create_namespace_if_not_exists("shop")
    table = catalog.create_table("shop.sale", SCHEMA)
    if partitioned:
        with table.update_spec() as update:
            update.add_identity("s")
    return table


def log(root):
    given = {"catalog": "ice", **options(root)}
    return IcebergLog("ice.shop.sale", Logged("iceberg", "shop.sale", tuple(given.items())))


def look(root, known, streamed=False, compared=False):
    return log(root).look(SCHEMA, streamed, known, compared)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_changes_add_up(tmp_path, seed):
    random_ = random.Random(seed)
    table = made(tmp_path, partitioned=seed % 2 == 1)

    def change():
        for _ in range(random_.randrange(3)):
            kind = random_.choice(["append", "delete", "overwrite"])
            if kind == "append":
                table.append(drawn(random_))
            elif kind == "overwrite":
                table.overwrite(drawn(random_))
            else:
                table.delete(EqualTo("k", random_.randrange(6)))

    check_adds_up(partial(look, tmp_path), lambda: table.scan().to_arrow(), change, 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_changes_beside_files_add_up(tmp_path, seed):
    """Rows that are deleted beside files, some twice, and files that go with theirs."""
    random_ = random.Random(seed)
    table = made(tmp_path, partitioned=seed % 2 == 1)
    table.append(drawn(random_, 9))

    def change():
        for _ in range(random_.randrange(3)):
            kind = random_.choice(["append", "overwrite", "beside", "beside", "beside"])
            if kind == "append":
                table.append(drawn(random_))
            elif kind == "overwrite":
                table.overwrite(drawn(random_))
            else:
                delete_rows_beside(random_, table)

    check_adds_up(partial(look, tmp_path), lambda: table.scan().to_arrow(), change, 5)


@pytest.mark.slow
def test_of_files_with_deletions_those_that_differ_are_read(tmp_path):
    random_ = random.Random(3)
    table = made(tmp_path)
    for _ in range(4):
        table.append(drawn(random_, 9))
    delete_rows_beside(random_, table, bounded=True)
    known = look(tmp_path, {}).now
    assert (look(tmp_path, known).size, look(tmp_path, known).now) == (0, known)
    table.append(drawn(random_, 9))
    changed = look(tmp_path, known, streamed=True)
    assert (len(changed.added.pieces), changed.gone.pieces) == (1, ())
    delete_rows_beside(random_, table, bounded=True)
    of_all = changed.now  # any file that rows are deleted of was read
    changed = look(tmp_path, of_all)
    assert (len(changed.added.pieces), len(changed.gone.pieces)) == (1, 1)
    with pytest.raises(StateError, match=r"changed or deleted since snapshot \d+, which STREAM doesn't read"):
        look(tmp_path, of_all, streamed=True)
    ids = [each.snapshot_id for each in table.snapshots()[:-2]]
    table.maintenance.expire_snapshots().by_ids(ids).commit()
    with pytest.raises(StateError, match=r"snapshot \d+ (isn't before|was expired).*--full-refresh-all"):
        look(tmp_path, known)


def test_deletions_by_values(tmp_path):
    table = made(tmp_path)
    table.append(drawn(random.Random(1), 9))
    known = look(tmp_path, {}).now
    delete_rows_beside(random.Random(1), table, DataFileContent.EQUALITY_DELETES)
    for since in ({}, known):
        with pytest.raises(StateError, match="not supported yet: rows that are deleted by their values"):
            look(tmp_path, since)


def test_columns_of_other_names(tmp_path):
    """One that comes is NULL in what was read; one that was is lost where it has another name, or none."""
    table = made(tmp_path)
    table.append(drawn(random.Random(1), 9))
    known = look(tmp_path, {}).now
    with table.update_schema() as update:
        update.add_column("more", LongType())
    assert look(tmp_path, known).altered
    with table.update_schema() as update:
        update.rename_column("s", "t")
    with pytest.raises(StateError, match="columns were renamed or dropped; --full-refresh-all"):
        look(tmp_path, known)
    assert look(tmp_path, known, compared=True).whole
    now = look(tmp_path, {}).now
    with table.update_schema() as update:
        update.delete_column("t")
        update.add_column("t", LongType())
    with pytest.raises(StateError, match="columns were renamed or dropped"):
        look(tmp_path, now)


def test_only_what_was_committed_since_is_read(tmp_path):
    table = made(tmp_path)
    for number in range(3):
        table.append(drawn(random.Random(number)))
    known = look(tmp_path, {}).now
    assert (look(tmp_path, known).now, look(tmp_path, known).size) == (known, 0)
    table.append(drawn(random.Random(9)))
    changed = look(tmp_path, known, streamed=True)
    assert (len(changed.added.pieces), changed.gone.pieces, changed.altered) == (1, (), False)


def test_what_is_lost(tmp_path):
    table = made(tmp_path)
    table.append(drawn(random.Random(1), 9))
    known, before = look(tmp_path, {}).now, [*table.scan().plan_files()]
    table.delete(EqualTo("k", table.scan().to_arrow()["k"][0].as_py()))
    with pytest.raises(StateError, match=r"changed or deleted by snapshot \d+, which STREAM doesn't read"):
        look(tmp_path, known, streamed=True)
    there = {task.file.file_path for task in table.scan().plan_files()}
    for path in {task.file.file_path for task in before} - there:
        table.io.delete(path)
    with pytest.raises(StateError, match=r"is gone \(its snapshot was expired\); --full-ref.*--fallb"):
        look(tmp_path, known)
    assert look(tmp_path, known, compared=True).whole


def test_another_table_in_its_place(tmp_path):
    made(tmp_path).append(drawn(random.Random(1)))
    known = look(tmp_path, {}).now
    load_catalog("ice", **options(tmp_path)).drop_table("shop.sale")
    made(tmp_path).append(drawn(random.Random(1)))
    with pytest.raises(StateError, match="it is another table than before"):
        look(tmp_path, known)


def test_columns_are_sparks(tmp_path):
    catalog = load_catalog("ice", **options(tmp_path))
    catalog.create_namespace_if_not_exists("shop")
    schema = pa.schema(
        [
            pa.field("n", pa.int32(), nullable=False),
            ("d", pa.decimal128(9, 2)),
            ("at", pa.timestamp("us", "UTC")),
            ("local", pa.timestamp("us")),
            ("l", pa.list_(pa.int64())),
            ("m", pa.map_(pa.string(), pa.float64())),
            ("t", pa.struct([("a", pa.bool_())])),
        ]
    )
    table = catalog.create_table("shop.sale", schema)
    fields = json.loads(log(tmp_path).schema())["fields"]
    assert [(field["name"], field["nullable"]) for field in fields[:2]] == [("n", False), ("d", True)]
    assert [field["type"] for field in fields[:4]] == [
        "integer",
        "decimal(9,2)",
        "timestamp",
        "timestamp_ntz",
    ]
    assert [field["type"]["type"] for field in fields[4:]] == ["array", "map", "struct"]
    known = look(tmp_path, {}).now
    with table.update_schema() as update:
        update.add_column("more", LongType())
    assert look(tmp_path, known).altered


def test_a_table_that_isnt_there(tmp_path):
    with pytest.raises(Error, match=r"table ice\.shop\.sale can't be read: "):
        log(tmp_path).schema()
