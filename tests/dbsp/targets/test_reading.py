"""However many tasks read a step's changes, together their records are the changes: none twice, none lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Insert
from dbsp.sql.plans.schemas import Field
from dbsp.targets.reading import reading_of
from tests.dbsp.build import VOTES, table, votes_program

COUNTS = (Field("n", pa.int64(), False), Field("story_id", pa.int64(), False), Field("__step", pa.int64()))
LOGGED = (*VOTES, Field("__weight", pa.int64()), Field("note", pa.string()))


def read(p: Pipeline, insert: Insert, tasks: int | None, op: bool = False) -> list[tuple[Any, ...]]:
    chunks = p.store.commit_of(p.last_step).changes[insert.view]
    reading = reading_of(p.program, p.store, insert, p.last_step, chunks, op)
    reading = replace(reading, tasks=tasks or reading.tasks)
    batches = [reading.read(p.store.segments, task) for task in range(reading.tasks)]
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_tasks_share_an_upsert_by_its_keys(tmp_path: Path, tasks: int) -> None:
    made = votes_program()
    insert = Insert("totals", "counts", "", "upsert", (1, 0, None), (0,))
    made = replace(made, tables=made.tables | {"totals": table("totals", COUNTS, ("story_id",))}, inserts=())
    with Pipeline(made, runner="inline", state=tmp_path / "state") as p:
        p.store.durable = False
        p.insert("votes", [(user, user % 7) for user in range(20)])
        p.step()
        p.insert("votes", [(1, 100), (2, 1)])
        p.delete("votes", [(user, 0) for user in (0, 7, 14)])
        p.step()
        found = sorted(read(p, insert, tasks, op=True), key=str)
    assert found == sorted([(None, 0, 2, "D"), (1, 100, 2, "I"), (4, 1, 2, "U")], key=str)


def test_tasks_share_a_changelog_by_its_chunks(tmp_path: Path) -> None:
    made = votes_program()
    insert = Insert("log", "all_votes", "", "retract", (0, 1, None, None))
    made = replace(made, tables=made.tables | {"log": table("log", LOGGED)}, inserts=())
    with Pipeline(made, runner="inline", state=tmp_path / "state") as p:
        p.store.durable = False
        p.insert("votes", [(1, 1), (1, 1), (2, 1)])
        p.step()
        p.delete("votes", [(1, 1)])
        p.insert("votes", [(3, 1)])
        p.step()
        assert Counter(read(p, insert, None)) == Counter([(1, 1, -1, None), (3, 1, 1, None)])
