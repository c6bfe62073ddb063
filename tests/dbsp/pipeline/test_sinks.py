"""How long a sink that fails is left alone."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dbsp.errors import DeliveryError
from dbsp.history.backup import back_up, restore
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.sinks import Later


def test_waits_double_up_to_a_minute_and_each_sink_has_its_own() -> None:
    later = Later()
    assert [later.failed("a") for _ in range(9)] == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    assert later.failed("b") == 0.5
    assert later.is_early("a")
    assert not later.is_early("c")


def test_after_a_success_the_next_failure_is_a_first_one() -> None:
    later = Later()
    for _ in range(4):
        later.failed("a")
    later.succeeded("a")
    assert not later.is_early("a")
    assert later.failed("a") == 0.5


@pytest.mark.spark
def test_what_each_sink_is_without_is_said(tmp_path: Path) -> None:
    program = f"""
    CREATE TABLE n (i INT PRIMARY KEY);
    CREATE TABLE here (i INT PRIMARY KEY) USING sqlite OPTIONS (path '{tmp_path}/here.db');
    CREATE TABLE away (i INT PRIMARY KEY) USING sqlite OPTIONS (path '{tmp_path}/away/n.db');
    INSERT INTO here SELECT i FROM n;
    INSERT INTO away SELECT i FROM n;
    """
    with Pipeline(sql=program, runner="inline", max_undelivered=2) as p:
        assert p.undelivered == {}
        for step in (1, 2):
            p.insert("n", [(step,)])
            assert p.step().metrics.phases.keys() == {"plan", "tasks", "commit", "deliver"}
            assert p.undelivered == {"here": 0, "away": step}
        p.insert("n", [(3,)])
        with pytest.raises(DeliveryError, match="away"):
            p.step()
        (tmp_path / "away").mkdir()
        p.deliver()
        assert p.undelivered == {"here": 0, "away": 0}
    with closing(sqlite3.connect(tmp_path / "away" / "n.db")) as away:
        assert away.execute("SELECT count(*) FROM away").fetchone() == (p.last_step,)


@pytest.mark.spark
@pytest.mark.parametrize("evolve", [False, True])
def test_what_a_sink_lacks_is_there_for_it_though_the_next_opening_lets_none_lag(
    tmp_path: Path, evolve: bool
) -> None:
    away = f"""
    CREATE TABLE n (i INT PRIMARY KEY);
    CREATE TABLE away (i INT PRIMARY KEY) USING sqlite OPTIONS (path '{tmp_path}/away/n.db');
    INSERT INTO away SELECT i FROM n;
    """
    with Pipeline(sql=away, state=tmp_path / "s", runner="inline", keep_steps=2, max_undelivered=9) as p:
        for step in range(1, 8):
            p.insert("n", [(step,)])
            p.step()
    with Pipeline(sql=away, state=tmp_path / "s", runner="inline", evolve=evolve) as p:
        assert p.store.steps == [*range(1, 8)]
        (tmp_path / "away").mkdir()
        for step in (8, 9, 10):
            p.insert("n", [(step,)])
            p.step()
        assert p.store.steps == [9, 10]  # and no longer
    with closing(sqlite3.connect(tmp_path / "away" / "n.db")) as found:
        assert found.execute("SELECT count(*) FROM away").fetchone() == (10,)


@pytest.mark.spark
@pytest.mark.parametrize("cure", ["restored", "begun anew"])
def test_a_sink_that_is_ahead_of_what_was_restored_is_refused(tmp_path: Path, cure: str) -> None:
    """Whatever steps are made before it is looked at: they are of another history than what it has."""
    tables = "CREATE TABLE n (i INT PRIMARY KEY); CREATE TABLE m (i INT PRIMARY KEY);\n"
    out = f"CREATE TABLE out (i INT PRIMARY KEY) USING sqlite OPTIONS (path '{tmp_path}/out.db');\n"
    written = tables + out + "INSERT INTO out SELECT i FROM n;\n"
    with Pipeline(sql=written, state=tmp_path / "state", runner="inline") as p:
        p.insert("n", [(1,)])
        p.step()
        back_up(tmp_path / "state", tmp_path / "backup")
        shutil.copy(tmp_path / "out.db", tmp_path / "then.db")
        p.insert("n", [(2,)])
        p.step()
    restore(tmp_path / "backup", tmp_path / "restored")

    def opened(program: str) -> Pipeline:
        return Pipeline(sql=program, state=tmp_path / "restored", runner="inline", evolve=True)

    more = "CREATE VIEW more AS SELECT i FROM m;\n"
    with opened(written + more) as p:
        assert p.last_step == 2
        p.insert("m", [(1,)])
        p.step()
        p.insert("n", [(3,)])
        with pytest.raises(
            DeliveryError, match=r"it is ahead of the state: dbsp_steps has step 2, .* step 1,"
        ):
            p.step()
    if cure == "restored":
        shutil.copy(tmp_path / "then.db", tmp_path / "out.db")
    else:
        opened(tables + more).close()
        with closing(sqlite3.connect(tmp_path / "out.db")) as there, there:
            there.execute("DELETE FROM out")
            there.execute("DELETE FROM dbsp_steps")
    with opened(written + more) as p:
        p.insert("n", [(4,)])
        p.step()
    with closing(sqlite3.connect(tmp_path / "out.db")) as there:
        assert there.execute("SELECT i FROM out ORDER BY 1").fetchall() == [(1,), (3,), (4,)]
