"""A record that isn't made leaves nothing, and one that is refers to all that it needs."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from dbsp.circuits.errors import StateError
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.evolution.evolve import Unfilled
from dbsp.sql.plans.nodes import Filter, Scan
from dbsp.sql.plans.program import Insert, Program
from dbsp.state.store import Store
from tests.dbsp.build import STEPS, VOTES, feed, pipeline, table, view
from tests.dbsp.evolution.changing import BY_USER, OLD, files, known, with_
from tests.dbsp.targets.databases.places import Place, place
from tests.dbsp.targets.voting import LOGGED, opened
from tests.effort import is_long
from tests.generators.changed_programs import waiting

NEW = with_(by_user=BY_USER)
MADE = "SELECT 1 FROM sqlite_master WHERE name = 'log'"
SUMMED = "SELECT user_id, story_id, sum(__weight) FROM log GROUP BY 1, 2"


def test_a_commit_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pipeline(tmp_path, program=OLD) as p:
        feed(p)
    there = files(tmp_path)

    def fails(*_: object) -> None:
        raise StateError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Store, "commit", fails)
        with pytest.raises(StateError, match="the disk is full"):
            pipeline(tmp_path, program=NEW, evolve=True)
    assert files(tmp_path) == there


def test_what_was_merged_on_the_way_is_gone(tmp_path: Path) -> None:
    with pipeline(tmp_path, program=OLD) as p:
        feed(p)
    with pipeline(tmp_path, program=NEW, evolve=True) as p:
        assert p.store.last is not None and p.last_step == STEPS + 1
        made = {*p.store.segments.names("evolution-")}
        assert made and made <= p.store.last.segments


def test_a_sink_has_what_its_view_holds_whatever_that_is_called(tmp_path: Path) -> None:
    """Views are renamed, swap their names, and are others; they wait, and don't any more."""
    done: Counter[str] = Counter()
    for seed in range(60 if is_long() else 12):
        choose = random.Random(seed)
        (root := tmp_path / f"{seed}").mkdir()
        with place("sqlite", root) as there:
            program = logged(there, choose)
            for _ in range(5):
                try:
                    p = opened(program, root / "state", evolve=True)
                except Unfilled as error:
                    assert "holds rows" in str(error) or "another TRIGGER or EMIT" in str(error)
                    done["refused"] += 1
                    program = logged(there, choose)
                    continue
                with p:
                    name = program.inserts[0].view
                    for _ in range(2):
                        if p.last_step and program.views[name].emission is None:
                            found = there.rows(SUMMED) if there.rows(MADE) else []
                            held = Counter(tuple(row.values()) for row in p[name].rows())
                            assert {row[:2]: row[2] for row in found if row[2]} == held, (seed, name)
                            done["equal"] += 1
                        p.insert("votes", [(choose.randrange(5), choose.randrange(3)) for _ in range(4)])
                        p.step()
                before, program = program, logged(there, choose)
                done["renamed"] += before.inserts[0].view != program.inserts[0].view
    assert min(done["renamed"], done["equal"], done["refused"]) > 5


def logged(there: Place, choose: random.Random) -> Program:
    """Of three views with names and conditions of chance, one whose changes are logged."""
    views = {}
    for name in choose.sample("vwxyz", 3):
        limit = Literal(choose.choice([2, 4]), pa.int64())
        few = Filter(
            Scan("votes", VOTES), Call("less_than", (Column(0, pa.int64()), limit), pa.bool_(), True)
        )
        views[name] = view(name, few)
    made = with_(None, **dict.fromkeys(OLD.views), **views)
    made = waiting(made, choose) if choose.random() < 0.3 else made
    log = replace(table("log", LOGGED), format=there.form, options=dict(there.options))
    insert = Insert("log", choose.choice([*views]), "program.sql:9:1", "retract", (0, 1, None))
    return known(replace(made, tables=made.tables | {"log": log}, inserts=(insert,)))
