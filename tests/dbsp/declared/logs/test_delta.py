"""The changes between versions of a Delta table add up to its last one, as Delta's kernel reads that."""

from __future__ import annotations

import json
import random
import shutil
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, QueryBuilder, WriterProperties, write_deltalake

from dbsp.circuits.errors import Error, StateError
from dbsp.declared.logs.delta import DeltaLog
from dbsp.state.records.places import place_of
from tests.dbsp.declared.logs.beside import FEATURES, actions, change_rows_beside, mapped, stored
from tests.dbsp.declared.logs.rows import SCHEMA, check_adds_up, counted, drawn
from tests.dbsp.state.objects.places import on_store

FEED = {"delta.enableChangeDataFeed": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
ELSEWHERE = {"storageType": "p", "pathOrInlineDv": "s3://b/v.bin", "sizeInBytes": 9, "cardinality": 1}


KINDS = ("append", "delete", "update", "merge", "upsert", "compact", "overwrite")


def commit(random_, place, kind=None):
    table, key = DeltaTable(place), random_.randrange(6)
    kind = kind or random_.choice(KINDS)
    if kind in ("append", "overwrite"):
        write_deltalake(place, drawn(random_, 3), mode=kind)
    elif kind == "delete":
        table.delete(f"k = {key}")
    elif kind == "update":
        table.update(updates={"k": "k + 1"}, predicate=f"k = {key}")
    elif kind == "compact" and mapped(table):
        return  # which delta-rs doesn't do
    elif kind == "compact":
        table.optimize.compact()
    else:
        merging = table.merge(drawn(random_, 1), "s.k = t.k", source_alias="s", target_alias="t")
        merging = (
            merging.when_matched_delete() if kind == "merge" else merging.when_matched_update({"s": "'z'"})
        )
        merging.when_not_matched_insert_all().execute()


def there(place):
    """As Delta's kernel reads it."""
    return pa.table(QueryBuilder().register("t", DeltaTable(place)).execute("SELECT * FROM t"))


def look(place, known, streamed=False, compared=False):
    return DeltaLog("t", str(place)).look(SCHEMA, streamed, known, compared)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_changes_add_up(tmp_path, seed):
    random_ = random.Random(seed)
    partitions = ["s"] if random_.random() < 0.4 else None
    write_deltalake(
        tmp_path,
        drawn(random_, 5),
        partition_by=partitions,
        configuration=random_.choice([FEED, {}, MAPPED, MAPPED | FEED]),
    )

    def change():
        for _ in range(random_.randrange(4)):
            commit(random_, tmp_path)

    check_adds_up(partial(look, tmp_path), partial(there, tmp_path), change, 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_changes_beside_files_add_up(tmp_path, seed):
    """Rows that are deleted beside files and come back, files that go with theirs, columns by other names."""
    random_ = random.Random(seed)
    partitions = ["s"] if random_.random() < 0.4 else None
    configuration = random_.choice([MAPPED, {}])
    write_deltalake(tmp_path, drawn(random_, 9), partition_by=partitions, configuration=configuration)

    def change():
        for _ in range(random_.randrange(4)):
            kind = random_.choice(["beside", "beside", "append", "overwrite", "delete"])
            if kind == "beside":
                change_rows_beside(random_, tmp_path)
            else:
                commit(random_, tmp_path, kind)

    check_adds_up(partial(look, tmp_path), partial(there, tmp_path), change, 6)


@pytest.mark.slow
@pytest.mark.parametrize("configuration", [{}, MAPPED, FEED])
def test_a_table_on_a_store(s3_server, tmp_path, configuration):
    """A copy there says what the table here does, entry by entry."""
    random_ = random.Random(5)
    with on_store(s3_server, tmp_path / "cache") as store:
        here, there_ = tmp_path / "t", f"{store.uri}/a b"
        write_deltalake(here, drawn(random_, 9), partition_by=["s"], configuration=configuration)
        known, copied = {}, set()
        for _ in range(5):
            for file in (file for file in here.rglob("*") if file.is_file() and file not in copied):
                (place_of(there_) / file.relative_to(here)).put(file.read_bytes())
                copied.add(file)
            ours, theirs = look(here, known), look(there_, known)
            assert (theirs.now, theirs.whole) == (ours.now, ours.whole)
            for mine, other in ((ours.added, theirs.added), (ours.gone, theirs.gone)):
                assert counted(other.table()) == counted(mine.table())
            known = ours.now
            commit(random_, here, random_.choice(["append", "delete"]))
            if configuration is not FEED:
                change_rows_beside(random_, here)
        with pytest.raises(Error, match="table t can't be read"):
            DeltaLog("t", f"{store.uri}/nowhere").schema()


def test_nothing_has_changed(tmp_path):
    write_deltalake(tmp_path, drawn(random.Random(1), 5))
    first = look(tmp_path, {})
    again = look(tmp_path, first.now)
    assert (again.now, again.size, again.whole) == (first.now, 0, False)


def test_what_only_lays_rows_out_anew_isnt_read(tmp_path):
    for _ in range(3):
        write_deltalake(tmp_path, drawn(random.Random(1), 5), mode="append")
    known = look(tmp_path, {}).now
    DeltaTable(tmp_path).optimize.compact()
    changed = look(tmp_path, known, streamed=True)
    assert (changed.now != known, changed.added.pieces, changed.gone.pieces) == (True, (), ())


def test_a_feed_is_read_in_place_of_the_files(tmp_path):
    write_deltalake(
        tmp_path, pa.table({"k": range(1000), "s": ["a"] * 1000}, schema=SCHEMA), configuration=FEED
    )
    known = look(tmp_path, {}).now
    DeltaTable(tmp_path).delete("k = 7")
    changed = look(tmp_path, known)
    assert all(
        piece.path.startswith("_change_data/") for piece in (*changed.added.pieces, *changed.gone.pieces)
    )
    assert (changed.added.table().num_rows, changed.gone.table().to_pylist()) == (0, [{"k": 7, "s": "a"}])


def test_entries_that_a_log_has_no_more(tmp_path):
    write_deltalake(tmp_path, drawn(random.Random(1), 5))
    known = look(tmp_path, {}).now
    for _ in range(2):
        write_deltalake(tmp_path, drawn(random.Random(2), 3), mode="append")
    DeltaTable(tmp_path).create_checkpoint()
    for version in (0, 1):
        (tmp_path / "_delta_log" / f"{version:020}.json").unlink()
    with pytest.raises(StateError, match=r"table t: .* its log has no entry 1 any more; --full-refresh-all"):
        look(tmp_path, known)
    assert look(tmp_path, known, compared=True).added.table().num_rows == 11
    for ways in ((False, False), (False, True), (True, True)):  # comparing is of no use to what streams it
        with pytest.raises(StateError, match="its log has no entry 1 any more") as error:
            DeltaLog("t", str(tmp_path)).look(SCHEMA, ways[0], known, False, twice=ways[1])
        assert ("--fallback full" in str(error.value)) == (not any(ways))


def test_a_cleaned_entry_that_was_read_isnt_missed(tmp_path):
    write_deltalake(tmp_path, drawn(random.Random(1), 5))
    known = look(tmp_path, {}).now
    write_deltalake(tmp_path, drawn(random.Random(2), 3), mode="append")
    DeltaTable(tmp_path).create_checkpoint()
    (tmp_path / "_delta_log" / f"{0:020}.json").unlink()
    assert look(tmp_path, known).added.table().num_rows == 3


def test_another_table_in_its_place(tmp_path):
    place = tmp_path / "t"
    write_deltalake(place, drawn(random.Random(1), 5))
    known = look(place, {}).now
    shutil.rmtree(place)
    for _ in range(2):
        write_deltalake(place, drawn(random.Random(2), 3), mode="append")
    with pytest.raises(StateError, match="it is another table than before"):
        look(place, known)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ({"add": {"path": "f", "partitionValues": {}, "deletionVector": ELSEWHERE}}, "a deletion vector in"),
        ({"add": {"path": "s3://b/f"}}, "a file in another place, s3://b/f"),
    ],
)
def test_what_isnt_read(tmp_path, action, message):
    write_deltalake(tmp_path, drawn(random.Random(1), 5))
    known = look(tmp_path, {}).now
    (tmp_path / "_delta_log" / f"{1:020}.json").write_text(json.dumps(action))
    with pytest.raises(StateError, match=f"table t: not supported yet: .*{message}"):
        look(tmp_path, known)


def test_a_removal_that_doesnt_say_its_partition(tmp_path):
    write_deltalake(tmp_path, drawn(random.Random(1), 5), partition_by=["s"])
    known = look(tmp_path, {}).now
    path = pa.table(DeltaTable(tmp_path).get_add_actions())["path"][0].as_py()
    (tmp_path / "_delta_log" / f"{1:020}.json").write_text(
        json.dumps({"remove": {"path": path, "dataChange": True}})
    )
    with pytest.raises(StateError, match="doesn't say which partition"):
        look(tmp_path, known)


def test_a_table_that_isnt_there(tmp_path):
    with pytest.raises(Error, match="table t can't be read: "):
        DeltaLog("t", str(tmp_path / "t")).schema()


def test_of_a_file_that_stays_only_groups_with_changes_are_read(tmp_path, monkeypatch):
    rows = pa.table({"k": range(1000), "s": ["a"] * 1000}, schema=SCHEMA)
    write_deltalake(tmp_path, rows, writer_properties=WriterProperties(max_row_group_size=100))
    known = look(tmp_path, {}).now
    (file,) = [action["add"] for action in actions(tmp_path) if "add" in action]
    vector = stored(tmp_path, {7, 8, 905}, "file")
    entries = [{"protocol": FEATURES}, {"remove": {"path": file["path"], "dataChange": True}}]
    entries.append({"add": {**file, "deletionVector": vector}})
    (tmp_path / "_delta_log" / f"{1:020}.json").write_text("\n".join(map(json.dumps, entries)))
    changed, read, groups = look(tmp_path, known), pq.ParquetFile.read_row_groups, []

    def reading(file, numbers, columns):
        groups.append(numbers)
        return read(file, numbers, columns)

    monkeypatch.setattr(pq.ParquetFile, "read_row_groups", reading)
    assert (changed.added.pieces, changed.gone.table()["k"].to_pylist()) == ((), [7, 8, 905])
    assert groups == [[0, 9]]
    with pytest.raises(StateError, match="changed or deleted at version 1, which STREAM doesn't read"):
        look(tmp_path, known, streamed=True)
    (place,) = tmp_path.rglob("deletion_vector_*.bin")
    place.unlink()
    with pytest.raises(StateError, match=rf"versions 1 to 1 ab/{place.name} is gone \(VACUUM\)"):
        look(tmp_path, known)


def altered(place, change, mode="name"):
    """A commit that has another schema. change: of its fields."""
    table, said = DeltaTable(place), [action["metaData"] for action in actions(place) if "metaData" in action]
    schema = json.loads(said[-1]["schemaString"])
    change(schema["fields"])
    configuration = {**said[-1]["configuration"], "delta.columnMapping.mode": mode}
    metadata = {**said[-1], "schemaString": json.dumps(schema), "configuration": configuration}
    entries = [{"metaData": metadata}, {"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}]
    entry = place / "_delta_log" / f"{table.version() + 1:020}.json"
    entry.write_text("\n".join(map(json.dumps, entries)))


def column(name, number, kind="long", stored=None):
    metadata = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": stored or name}
    return {"name": name, "type": kind, "nullable": True, "metadata": metadata}


def test_columns_of_other_names(tmp_path):
    """One that comes is NULL in what was read; one that was is lost where it has another name, or none."""
    write_deltalake(tmp_path, drawn(random.Random(1), 5), configuration=MAPPED)
    known = look(tmp_path, {}).now
    altered(tmp_path, lambda fields: fields.append(column("more", 3, stored="col-x")))
    changed = look(tmp_path, known)
    assert (changed.altered, changed.added.pieces, changed.gone.pieces) == (True, (), ())
    altered(tmp_path, lambda fields: fields[0].update(name="key"))
    with pytest.raises(StateError, match="columns were renamed or dropped; --full-refresh-all"):
        look(tmp_path, changed.now)
    assert look(tmp_path, known, compared=True).whole
    renamed = pa.schema([("key", pa.int64()), ("s", pa.string()), ("more", pa.int64())])
    whole = DeltaLog("t", str(tmp_path)).look(renamed, False, {}, False)
    assert whole.added.table().drop(["more"]).to_pylist() == there(tmp_path).drop(["more"]).to_pylist()
    altered(tmp_path, lambda fields: fields.pop(0))
    with pytest.raises(StateError, match="columns were renamed or dropped"):
        look(tmp_path, whole.now)


def test_a_table_that_gets_a_mapping(tmp_path):
    write_deltalake(tmp_path, drawn(random.Random(1), 5))
    known = look(tmp_path, {}).now
    altered(
        tmp_path, lambda fields: fields.__setitem__(slice(None), [column("k", 1), column("s", 2, "string")])
    )
    mapped_ = look(tmp_path, known)
    assert (mapped_.altered, mapped_.added.pieces) == (True, ())
    altered(tmp_path, lambda fields: fields[1].update(name="other"))
    for since in (known, mapped_.now):
        with pytest.raises(StateError, match="columns were renamed or dropped"):
            look(tmp_path, since)


@pytest.mark.parametrize(
    ("fields", "mode", "message"),
    [
        ([column("k", 1)], "id", "a Delta table with column mapping by id"),
        ([column("k", 1, {"type": "struct", "fields": [column("x", 2)]})], "name", "column 'k' with fields"),
    ],
)
def test_mappings_that_arent_read(tmp_path, fields, mode, message):
    write_deltalake(tmp_path, drawn(random.Random(1), 5))
    known = look(tmp_path, {}).now
    altered(tmp_path, lambda there: there.__setitem__(slice(None), fields), mode)
    with pytest.raises(StateError, match=f"table t: not supported yet: {message}"):
        look(tmp_path, known)
