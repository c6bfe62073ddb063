"""What a target of this project's own is told: records, and whether it is the one that it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError, StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Insert, Program
from dbsp.sql.plans.schemas import Field
from dbsp.state.records.delivered import Delivery
from dbsp.targets import outlet as module
from dbsp.targets.outlet import Outlet, held
from tests.dbsp.build import VOTES, table, votes_program

COUNTS = (Field("story_id", pa.int64(), False), Field("n", pa.int64(), False))
KEYED = Insert("totals", "counts", "p.sql:20:1", "upsert", (0, 1), (0,))
LOGGED = Insert("log", "all_votes", "p.sql:21:1", "retract", (0, 1, None))


def program() -> Program:
    made = votes_program()
    targets = (
        table("totals", COUNTS, ("story_id",)),
        table("log", (*VOTES, Field("__weight", pa.int64())), ()),
    )
    given = [replace(t, format="python", options={"URL": "u"}) for t in targets]
    return replace(made, tables=made.tables | {t.name: t for t in given})


def outlet_of(p: Pipeline, insert: Insert, given: int = 0, seen: Callable[[], None] = lambda: None) -> Outlet:
    made = replace(p.program, inserts=(insert,))
    return Outlet(
        made,
        p.store,
        made.tables[insert.target],
        lambda: "w",
        lambda: p.last_step,
        seen,
        lambda _: given,
        Delivery(given),
    )


def changes_of(p: Pipeline, step: int, insert: Insert) -> list[module.Change]:
    return [(insert, p.store.commit_of(step).changes[insert.view])]


@pytest.mark.parametrize("rows", [1, 1 << 20])
def test_of_each_key_one_record(tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", rows)
    with Pipeline(program(), state=tmp_path, runner="inline", partitions=3) as p:
        p.insert("votes", [(user, user % 5) for user in range(20)])
        p.step()
        p.delete("votes", [(user, 1) for user in (1, 6, 11, 16)])
        p.insert("votes", [(0, 2)])
        p.step()
        out = outlet_of(p, KEYED)
        assert out.key == ("story_id",)
        records = list(out.records(2, changes_of(p, 2, KEYED)))
        assert sorted(row for batch in records for row in zip(*batch.to_pydict().values(), strict=True)) == [
            (1, None, "D"),
            (2, 5, "U"),
        ]
        assert [row for batch in records for row in held(batch).to_pylist()] == [{"story_id": 2, "n": 5}]
        assert outlet_of(p, LOGGED).key == ()
        log = [
            row for b in outlet_of(p, LOGGED).records(2, changes_of(p, 2, LOGGED)) for row in b.to_pylist()
        ]
        assert len(log) == 5
        assert out.table.option("url") == "u"
        assert out.table.option("dbtable", "t") == "t"


def test_a_table_of_another_state_or_of_lost_steps_is_refused(tmp_path: Path) -> None:
    seen = list[str]()
    with Pipeline(program(), state=tmp_path, runner="inline") as p:
        p.step()
        out = outlet_of(p, KEYED, given=1, seen=lambda: seen.append("seen"))
        with pytest.raises(
            StateError, match=r"another state directory's.*: noted has step 0 of writer x, .*; cure$"
        ):
            out.check_writer("x", 0, "noted", "cure")
        with pytest.raises(
            StateError, match=r"ahead of the state: noted has step 2, and .* from step 1, .* cure$"
        ):
            out.check_writer("w", 2, "noted", "cure")
        assert not seen
        out.check_writer("w", 1, "noted", "cure")
        assert seen
        out.check_steps(2, 1, "noted", "cure")
        with pytest.raises(StateError, match=r"noted has step 0 of it, and step 1 changed it.* cure$"):
            out.check_steps(2, 0, "noted", "cure")


def test_what_isn_t_installed_is_said(tmp_path: Path) -> None:
    with Pipeline(program(), state=tmp_path, runner="inline") as p:
        outlet_of(p, KEYED).check_package("json", "x")
        with pytest.raises(ProgramError, match=r"table 'totals' needs no_such: pip install 'dbsp\[x\]'"):
            outlet_of(p, KEYED).check_package("no_such", "x")
