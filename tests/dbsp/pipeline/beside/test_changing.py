"""A program is changed while its steps go on: its views are served, and the new ones appear whole."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import dbsp.evolution.given
from dbsp.circuits.errors import StateError
from dbsp.evolution.backfill import Abandoned
from dbsp.pipeline.beside.changing import Changing, in_thread, program_before
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.inline import InlineRunner
from dbsp.sql.compiler.load import load_program
from tests.dbsp.build import STEPS, feed, pipeline, settle
from tests.dbsp.evolution.changing import BY_USER, OLD, files, with_
from tests.dbsp.evolution.test_evolve import REFUSED

NEW = with_(by_user=BY_USER, customers=None)


@pytest.fixture(autouse=True)
def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dbsp.evolution.given, "PIECE", 4)


def fed(state: Path) -> Pipeline:
    p = pipeline(state, program=OLD, keep_steps=1)
    feed(p)
    settle(p)  # tests look at the files
    return p


def changing(old: Pipeline, said: Callable[[str], None] = lambda line: None) -> Changing:
    return Changing(old, NEW, InlineRunner(), said)


def test_steps_go_on_until_the_new_views_appear(tmp_path: Path) -> None:
    users: list[int] = []

    def said(line: str) -> None:
        """The old program makes a step, and is read, after each piece of the new one."""
        if line.startswith("back-filling") and len(users) < 20:
            users.append(100 + len(users))
            old.insert("votes", [(users[-1], 1)])
            old.step()
            assert any(row["user_id"] == users[-1] for row in old["all_votes"].rows())
            assert old.last_step == STEPS + len(users)

    with fed(tmp_path) as old:
        change = changing(old, said)
        assert not change.waits and change.views == ["by_user"]
        change.fill()
        assert change.ready.is_set() and len(users) > 2
        made = len(users)
        old.insert("votes", [(99, 1)])  # between the end of the back-fill and the change
        old.step()
        users += range(20)  # none in the commit
        change.commit()
    with pipeline(tmp_path, program=NEW) as p:
        assert p.last_step == STEPS + made + 2
        found = {row["user_id"]: row["n"] for row in p["by_user"].rows()}
        assert found == {
            **dict.fromkeys(range(5), 1),
            **dict.fromkeys(range(5, 10), 4),
            **dict.fromkeys([99, *users[:made]], 1),
        }
        assert len(p.changes_of("by_user", p.last_step)) == len(found)
        assert {*p.store.segments.names("")} == p.store.past.needed()


def test_in_a_thread_beside_a_writer(tmp_path: Path) -> None:
    with fed(tmp_path) as old:
        change, ended = changing(old), threading.Event()
        thread, failed = in_thread(change, ended.set)
        for user in range(200, 230):
            with old.turn:
                old.insert("votes", [(user, 1)])
                old.step()
        thread.join()
        assert not failed and ended.is_set() and change.ready.is_set()
        change.commit()
    with pipeline(tmp_path, program=NEW) as p:
        found = [row["user_id"] for row in p["by_user"].rows()]
        assert sorted(found) == [*range(10), *range(200, 230)]


def test_it_can_be_given_up(tmp_path: Path) -> None:
    with fed(tmp_path) as old:
        there = files(tmp_path)
        change = changing(old, lambda line: change.end() if line.startswith("back-filling") else None)
        with pytest.raises(Abandoned):
            change.fill()
        assert files(tmp_path) == there
        again = changing(old)
        again.fill()
        again.discard()
        assert files(tmp_path) == there
        old.insert("votes", [(1, 1)])
        assert old.step().step == STEPS + 1


def test_what_is_refused_is_refused_before_anything(tmp_path: Path) -> None:
    with fed(tmp_path) as old:
        there = files(tmp_path)
        with pytest.raises(StateError, match="column 'user_id' was bigint and is int"):
            Changing(old, REFUSED["narrower"][0], InlineRunner(), lambda line: None)
        assert files(tmp_path) == there


TABLES = "CREATE TABLE orders (id BIGINT PRIMARY KEY, shop STRING NOT NULL);\n"
SINK = "CREATE TABLE kept (shop STRING PRIMARY KEY, n BIGINT) USING sqlite OPTIONS (path '{}/x.db');\n"
COUNTS = "CREATE VIEW counts AS SELECT shop, count(*) AS n FROM orders GROUP BY shop;\n"


@pytest.mark.spark
def test_a_sink_that_is_behind_is_waited_for(tmp_path: Path) -> None:
    """The difference of a view goes to a sink that has all before it: until then the old program goes on."""
    (tmp_path / "sink").mkdir()
    text = TABLES + SINK.format(tmp_path / "sink") + COUNTS + "INSERT INTO kept SELECT * FROM counts;\n"
    old_program, new_program = (
        load_program(each) for each in (text, text.replace("count(*)", "count(*) * 2"))
    )
    state = tmp_path / "state"
    with Pipeline(old_program, state=state, runner="inline", max_undelivered=9) as old:
        old.insert("orders", [(1, "a"), (2, "a")])
        old.step()
        change = Changing(old, new_program, InlineRunner(), lambda line: None)
        (tmp_path / "sink").rename(tmp_path / "gone")
        old.insert("orders", [(3, "a")])
        old.step()
        troubled = threading.Event()
        change.progressed = lambda: troubled.set() if change.trouble else None
        thread, failed = in_thread(change, lambda: None)
        assert troubled.wait(60)
        assert "sink 'kept' hasn't got step 2 yet" in change.trouble and not change.ready.is_set()
        old.insert("orders", [(4, "b")])
        old.step()
        (tmp_path / "gone").rename(tmp_path / "sink")
        thread.join()
        assert not failed and change.ready.is_set() and not change.trouble
        change.commit()
    with Pipeline(new_program, state=state, runner="inline") as p:
        p.deliver()
        with sqlite3.connect(tmp_path / "sink" / "x.db") as kept:
            assert sorted(kept.execute("SELECT shop, n FROM kept")) == [("a", 6), ("b", 2)]


@pytest.mark.spark
def test_the_program_before_is_found(tmp_path: Path) -> None:
    first, other = (
        load_program(TABLES + COUNTS),
        load_program(TABLES + COUNTS.replace("shop,", "upper(shop) AS shop,")),
    )
    assert program_before(first, tmp_path / "none") is None
    with Pipeline(first, state=tmp_path, runner="inline") as p:
        p.insert("orders", [(1, "a")])
        p.step()
    assert program_before(first, tmp_path) is None
    before = program_before(other, tmp_path)
    assert before is not None and before.fingerprint == first.fingerprint
