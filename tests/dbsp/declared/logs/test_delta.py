"""The changes between versions of a Delta table add up to its last one, as delta-rs reads that."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from dbsp.circuits.errors import Error, StateError
from dbsp.declared.logs.delta import DeltaLog
from tests.dbsp.declared.logs.rows import SCHEMA, counted, drawn

FEED = {"delta.enableChangeDataFeed": "true"}


def commit(random_, place):
    table, key = DeltaTable(place), random_.randrange(6)
    kind = random_.choice(["append", "delete", "update", "merge", "upsert", "compact", "overwrite"])
    if kind in ("append", "overwrite"):
        write_deltalake(place, drawn(random_, 3), mode=kind)
    elif kind == "delete":
        table.delete(f"k = {key}")
    elif kind == "update":
        table.update(updates={"k": "k + 1"}, predicate=f"k = {key}")
    elif kind == "compact":
        table.optimize.compact()
    else:
        merging = table.merge(drawn(random_, 1), "s.k = t.k", source_alias="s", target_alias="t")
        merging = (
            merging.when_matched_delete() if kind == "merge" else merging.when_matched_update({"s": "'z'"})
        )
        merging.when_not_matched_insert_all().execute()


def look(place, known, streamed=False, compared=False):
    return DeltaLog("t", str(place)).look(SCHEMA, streamed, known, compared)


@pytest.mark.parametrize("seed", range(30))
def test_changes_add_up(tmp_path, seed):
    random_ = random.Random(seed)
    partitions = ["s"] if random_.random() < 0.4 else None
    write_deltalake(
        tmp_path, drawn(random_, 5), partition_by=partitions, configuration=random_.choice([FEED, {}])
    )
    known, held = {}, Counter()
    for _ in range(5):
        changed = look(tmp_path, known)
        known = json.loads(json.dumps(changed.now))
        held += counted(changed.added.table())
        held.subtract(counted(changed.gone.table()))
        assert +held == counted(pa.table(DeltaTable(tmp_path).to_pyarrow_table()))
        assert min(held.values()) >= 0
        for _ in range(random_.randrange(4)):
            commit(random_, tmp_path)


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
        ({"add": {"path": "f", "deletionVector": {"storageType": "u"}}}, "deletion vectors"),
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
