"""Spark's checkpoint: a run that dies, whatever it leaves there, goes on where its last commit was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.commands.fsck import examine, go_back
from dbsp.state.store import Store
from tests.dbsp.pipeline.spark.shop import EXPECTED, SOLD, changelog, opened, sell
from tests.dbsp.synced import synced_paths

pytestmark = pytest.mark.spark


def test_a_run_that_dies_between_commit_and_checkpoint_does_nothing_twice(spark, shop):
    with opened(spark, shop) as p:
        p.run(once=True)
    done = shop / "state" / "checkpoint" / "commits" / "1"
    done.unlink()
    done.with_name(".1.crc").unlink(missing_ok=True)
    sell(shop, "3")
    with opened(spark, shop) as p:
        assert p.run(once=True) == 1
        assert p["sold"].rows() == SOLD
    assert changelog(spark, shop) == EXPECTED


def test_what_a_batch_holds_is_on_disk_before_its_step_is_committed(spark, shop, monkeypatch):
    synced, commit, missing = synced_paths(monkeypatch), Store.commit, []

    def check(store, record):
        root = shop / "state" / "checkpoint"
        needed = [root / "metadata", root / "offsets" / str(record.batch)]
        needed += [path for path in root.glob("sources/*/*") if not path.name.startswith(".")]
        assert record.offsets.keys() >= {str(path.relative_to(root)) for path in needed}
        needed += {path.parent for path in needed}
        missing.append([path for path in needed if str(path) not in synced])
        commit(store, record)

    monkeypatch.setattr(Store, "commit", check)
    with opened(spark, shop) as p:
        p.run(once=True)
    assert missing == [[], []]


def test_a_power_failure_leaves_batches_that_were_never_committed(spark, shop):
    """Emptied, as names whose content was not yet written."""
    with opened(spark, shop) as p:
        p.run(once=True)
    root = shop / "state" / "checkpoint"
    for name in ("commits/0", "commits/1", "offsets/2", "sources/0/2", "sources/1/1"):
        (root / name).write_bytes(b"")
        (root / name).with_name(f".{Path(name).name}.crc").unlink(missing_ok=True)
    sell(shop, "3")
    with opened(spark, shop) as p:
        assert p.run(once=True) == 1
        assert p["sold"].rows() == SOLD
    assert changelog(spark, shop) == EXPECTED


@pytest.mark.parametrize("damage", ["flip", "empty", "delete"])
def test_damage_to_the_checkpoint_is_named(spark, shop, damage):
    with opened(spark, shop) as p:
        p.run(once=True)
        needed = p.store.last.offsets
    root = shop / "state" / "checkpoint"
    assert set(needed) == {"metadata", "offsets/0", "offsets/1", "sources/0/0", "sources/0/1", "sources/1/0"}
    for name in needed:
        path = root / name
        crc = path.with_name(f".{path.name}.crc")
        whole, _ = path.read_bytes(), crc.unlink(missing_ok=True)
        if damage == "flip":
            path.write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
        elif damage == "empty":
            path.write_bytes(b"")
        else:
            path.unlink()
        with (
            opened(spark, shop) as p,
            pytest.raises(StateError, match=rf"{path}: damaged: .*; .*`dbsp fsck "),
        ):
            p.run(once=True)
        path.write_bytes(whole)
    sell(shop, "3")
    with opened(spark, shop) as p:
        p.run(once=True)
        assert p["sold"].rows() == SOLD


def test_a_run_goes_on_from_a_step_that_was_gone_back_to(spark, shop):
    """Batches of later steps are read again; what is left of their files is for the user to delete."""
    sell(shop, "3")
    with opened(spark, shop) as p:
        assert p.run(once=True) == 3
    (shop / "state" / "commits" / "000000000003.json").write_bytes(b"")
    with (
        pytest.raises(StateError, match=r"000000000003.json: damaged: the file is empty"),
        opened(spark, shop),
    ):
        pass
    assert examine(shop / "state")[1] == [1, 2]
    to_do = go_back(shop / "state", 1)
    changes = shop / "changelog"
    assert f"'changelog': delete __step=2 to __step=3 in {changes}, before" in to_do[0]
    assert examine(shop / "state") == ([], [1])
    with opened(spark, shop) as p, pytest.raises(StateError, match="__step=2 to __step=3 are in"):
        p.run(once=True)
    for step in (2, 3):
        shutil.rmtree(changes / f"__step={step}")
        shutil.rmtree(shop / "alarms" / f"__step={step}")
    with opened(spark, shop) as p:
        assert p.run(once=True) == 2
        assert p["sold"].rows() == SOLD
    assert changelog(spark, shop) == EXPECTED


def test_a_checkpoint_that_was_lost_is_noticed(spark, shop):
    with opened(spark, shop) as p:
        p.run(once=True)
    (shop / "state" / "checkpoint").rename(shop / "elsewhere")
    with (
        opened(spark, shop) as p,
        pytest.raises(StateError, match=r"checkpoint/metadata: damaged: .* missing"),
    ):
        p.run(once=True)
