"""A run whose state is on a store goes on where its last commit was, on any host."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import StateError
from dbsp.commands.fsck import examine, go_back
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.checkpoints.on_store import CheckpointOnStore
from dbsp.sql.compiler.load import compile_program
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.batch_files import object_name
from dbsp.state.records.commits import Commit
from dbsp.state.records.places import place_of
from tests.dbsp.pipeline.spark.shop import EXPECTED, SOLD, TEXT, changelog, sell
from tests.dbsp.state.objects.places import OnStore, in_memory, on_store
from tests.dbsp.state.stores import commit
from tests.servers.s3 import Server

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture
def place(s3_server: Server, tmp_path: Path) -> Iterator[OnStore]:
    with on_store(s3_server, tmp_path / "cache") as found:
        yield found


@contextmanager
def opened(spark: Any, shop: Path, place: OnStore) -> Iterator[Pipeline]:
    program = compile_program(TEXT.format(shop), session=spark)
    with Pipeline(program, state=place.uri, spark=spark, runner="inline", keep_steps=2) as p:
        yield p


def test_a_run_goes_on_where_it_was_on_another_host(spark: Any, shop: Path, place: OnStore) -> None:
    with opened(spark, shop, place) as p:
        assert p.run(once=True) == 2
    shutil.rmtree(shop / "cache")
    root = place_of(place.uri)
    assert isinstance(root, ObjectPath)
    # what another writer planned under the same number, and never committed
    (root / "checkpoint" / "offsets" / "2.0123456789abcdef").put(b"v1\nnonsense")
    sell(shop, "3")
    with opened(spark, shop, place) as p:
        assert p.run(once=True) == 1
        assert p["sold"].rows() == SOLD
        assert p.run(once=True) == 0
        needed = {
            f"{path}.{digest}"
            for step in p.store.steps
            for path, digest in p.store.commit_of(step).offsets.items()  # type: ignore[attr-defined]
        }
    assert set((root / "checkpoint").all_names()) == needed
    assert changelog(spark, shop) == EXPECTED
    assert examine(root)[0] == []


def test_damage_is_named_and_gone_back_from(spark: Any, shop: Path, place: OnStore) -> None:
    with opened(spark, shop, place) as p:
        p.run(once=True)
        last = p.store.last
        assert last is not None
    root = place_of(place.uri)
    assert isinstance(root, ObjectPath)
    offsets = next(name for name in (root / "checkpoint").all_names() if name.startswith("offsets/1."))
    (root / "checkpoint" / offsets).put(b"v1\nother")
    with (
        opened(spark, shop, place) as p,
        pytest.raises(StateError, match=r"offsets/1\..*: damaged: the object"),
    ):
        p.run(once=True)
    damaged, whole = examine(root)
    assert (len(damaged), whole) == (1, [1])
    go_back(root, 1)
    shutil.rmtree(shop / "changelog" / "__step=2")
    shutil.rmtree(shop / "alarms" / "__step=2")
    sell(shop, "3")
    with opened(spark, shop, place) as p:
        assert p.run(once=True) == 2
        assert p["sold"].rows() == SOLD
    assert changelog(spark, shop) == EXPECTED


def test_its_directory_goes_with_it(place: OnStore) -> None:
    root = place_of(place.uri)
    assert isinstance(root, ObjectPath)
    checkpoint = CheckpointOnStore(root)
    directory = checkpoint.root
    assert directory.is_dir()
    del checkpoint
    assert not directory.exists()


def recorded(checkpoint: CheckpointOnStore, batch: int, by: str) -> Commit:
    """The commit that a writer would make of a batch."""
    for name in ("metadata", f"offsets/{batch}"):
        (checkpoint.root / name).parent.mkdir(parents=True, exist_ok=True)
        (checkpoint.root / name).write_text("of all" if name == "metadata" else f"{batch}, by {by}")
    return replace(commit(batch + 1), batch=batch, offsets=checkpoint.record(durable=True))


def needed(*commits: Commit) -> set[str]:
    return {object_name(name, digest) for one in commits for name, digest in one.offsets.items()}  # type: ignore[attr-defined]


def test_who_slept_through_its_lease_deletes_nothing_of_its_successor() -> None:
    root = ObjectPath(in_memory())
    objects = root / "checkpoint"
    (objects / "offsets" / "0.0123456789abcdef").put(b"of one that died")
    first, second = CheckpointOnStore(root), CheckpointOnStore(root)
    first.settle(None)
    made = [recorded(first, batch, "the first") for batch in range(4)]
    first.sweep(made[-2:])
    assert set(objects.all_names()) == needed(*made[-2:])
    never = recorded(first, 4, "the first")
    second.settle(made[-1])
    made += [recorded(second, batch, "the second") for batch in (4, 5)]
    there = set(objects.all_names())
    first.sweep(made[2:4])
    assert set(objects.all_names()) == there
    second.check(made[-1])
    assert needed(never) <= there, "its commit may come yet"
    second.sweep(made[-2:])
    assert set(objects.all_names()) == needed(*made[-2:])
