"""`dbsp run` that is killed goes on where it was: what has left has left once, and rows keep their times."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import load_program
from tests.conftest import _SHORT
from tests.effort import is_long

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
# rows that wait for a waterline, changes that wait for records, the time of a row, the last of a key
PROGRAM = """
CREATE TABLE e (k INT NOT NULL, v INT, ts TIMESTAMP WATERMARK INTERVAL 2 MINUTES)
  USING json OPTIONS (path 'in', maxFilesPerTrigger '1') WITH (append_only = true);
CREATE VIEW arrived AS SELECT k, v, rowtime FROM e;
CREATE VIEW counted AS SELECT k, count(*) AS n, sum(v) AS s FROM e GROUP BY k TRIGGER COUNTING 3;
CREATE VIEW rated AS SELECT k, max(v) AS m FROM e GROUP BY k EMIT (UPDATE RATE 2 ROWS);
CREATE TABLE of_arrived (k INT, v INT, rowtime TIMESTAMP)
  USING sqlite OPTIONS (path 'out.db', dbtable 'arrived');
INSERT INTO of_arrived SELECT * FROM arrived;
CREATE TABLE of_counted (k INT PRIMARY KEY, n BIGINT, s BIGINT)
  USING sqlite OPTIONS (path 'out.db', dbtable 'counted');
INSERT INTO of_counted SELECT * FROM counted;
CREATE TABLE of_rated (k INT, m INT, __weight BIGINT) USING sqlite OPTIONS (path 'out.db', dbtable 'rated');
INSERT INTO of_rated SELECT * FROM rated;
CREATE TABLE of_last (k INT PRIMARY KEY, v INT) USING sqlite OPTIONS (path 'out.db', dbtable 'last');
UPSERT INTO of_last SELECT k, v FROM e;
"""
FILES = 4
# a start of Spark each: the long profile dies more often
KILLED = (1, 2, 3) if is_long() else (2,)
BEGIN = datetime(2024, 3, 1, 10)


def put(folder: Path, number: int) -> None:
    """A file of a step."""
    choose = random.Random(number)
    rows = [
        {
            "k": choose.randint(0, 2),
            "v": choose.randint(0, 9),
            "ts": str(BEGIN + timedelta(minutes=number + choose.randint(-2, 1))),
        }
        for _ in range(4)
    ]
    path = folder / "in" / f"{number}.json"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    os.utime(path, (number, number))  # files are read in the order of their times


def run_until(folder: Path, step: int) -> None:
    """`dbsp run`, which is killed where it shows a change of that step."""
    command = [sys.executable, "-m", "dbsp.commands.cli", "run", "p.sql", "--state", "s", "--output", "json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_CONF_DIR": str(folder / "conf")}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            if json.loads(line)["step"] == step:
                os.killpg(running.pid, signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL


def read(folder: Path, table: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(folder / "out.db") as there:
        return sorted(there.execute(f"SELECT * FROM {table}").fetchall())


def test_what_is_killed_goes_on(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in", "conf"):
        (tmp_path / name).mkdir()
    settings = "".join(f"{name} {value}\n" for name, value in _SHORT.items())
    (tmp_path / "conf" / "spark-defaults.conf").write_text(settings)
    (tmp_path / "p.sql").write_text(PROGRAM)
    for number in range(1, FILES + 1):
        put(tmp_path, number)
    program = load_program(Path("p.sql"), session=spark)  # compiled once
    there: list[tuple[Any, ...]] = []
    for step in KILLED:
        run_until(tmp_path, step)
        before, there = there, read(tmp_path, "arrived")
        assert [*set(before) - set(there)] == []  # a row that has left keeps its time
    with Pipeline(program, state="s", runner="inline", spark=spark) as p:
        p.run(once=True)
        p.finish()
    arrived = read(tmp_path, "arrived")
    assert [*set(there) - set(arrived)] == []
    times = sorted({time for _, _, time in arrived})
    assert len(times) == FILES  # all rows of a step have its clock
    oracle = duckdb.connect()
    oracle.execute("CREATE TABLE e (n INT, k INT, v INT); CREATE TABLE last (k INT PRIMARY KEY, v INT)")
    for number in range(1, FILES + 1):
        oracle.execute(f"INSERT INTO e SELECT {number}, k, v FROM read_json('in/{number}.json')")
    numbered = sorted((times.index(time) + 1, k, v) for k, v, time in arrived)
    assert oracle.execute("SELECT * FROM e ORDER BY ALL").fetchall() == numbered
    for row in oracle.execute("SELECT k, v FROM e").fetchall():
        oracle.execute("INSERT OR REPLACE INTO last VALUES (?, ?)", row)
    assert oracle.execute("SELECT * FROM last ORDER BY k").fetchall() == read(tmp_path, "last")
    groups = "SELECT k, count(*), CAST(sum(v) AS BIGINT) FROM e GROUP BY k ORDER BY k"
    assert oracle.execute(groups).fetchall() == read(tmp_path, "counted")
    rated = Counter[tuple[int, int]]()
    for k, m, weight in read(tmp_path, "rated"):
        rated[k, m] += weight
    assert oracle.execute("SELECT k, max(v) FROM e GROUP BY k ORDER BY k").fetchall() == sorted(
        row for row, weight in rated.items() if weight
    )
