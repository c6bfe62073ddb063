"""What follows from more than contents goes on: after a kill between steps, and under a changed program.

Each run is held to one that is never stopped and has the changed program from its first step.
"""

from __future__ import annotations

import shutil
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE grows (x INT, id STRING DEFAULT uuid(), n BIGINT DEFAULT monotonically_increasing_id())
  WITH (append_only = true);
CREATE TABLE paced (k INT, x INT);
CREATE STREAM timed (ts TIMESTAMP NOT NULL LATENESS INTERVAL 10 MINUTES, x INT) WITH (materialized = true);
CREATE TABLE ordered (seq INT LATENESS 2 ROWS, x INT);
CREATE TABLE waits (ts TIMESTAMP WATERMARK INTERVAL 30 MINUTES, x INT);
CREATE STREAM clicks (x INT);
CREATE VIEW numbered AS SELECT _row_id AS row, x, id, n FROM grows;
CREATE VIEW came AS SELECT rowtime AS at, count(*) AS n FROM grows GROUP BY rowtime;
CREATE VIEW hours AS SELECT STREAM window.start AS h, count(*) AS n FROM clicks
  GROUP BY window(rowtime, '1 hour');
CREATE VIEW at_most AS SELECT k, sum(x) AS s FROM paced GROUP BY k EMIT (UPDATE RATE 2 ROWS);
CREATE VIEW slowly AS SELECT k, count(*) AS n FROM paced GROUP BY k EMIT (UPDATE RATE INTERVAL 45 MINUTES);
CREATE VIEW closed AS SELECT STREAM window.start AS h, sum(x) AS s FROM timed GROUP BY window(ts, '1 hour');
CREATE VIEW early AS SELECT window.end AS h, sum(x) AS s FROM timed GROUP BY window(ts, '1 hour')
  EMIT (FIRST RESULT OFFSET INTERVAL '-30' MINUTE, UPDATE RATE INTERVAL 10 MINUTES,
        COMPLETE RESULT OFFSET INTERVAL 0 MINUTE);
CREATE VIEW in_order AS SELECT count(*) AS n, max(seq) AS m FROM ordered;
CREATE VIEW released AS SELECT x, count(*) AS n FROM waits GROUP BY x;
CREATE VIEW ages WITH (clock = 'every 20 minutes') AS
  SELECT x, timestampdiff(MINUTE, ts, now()) AS minutes FROM timed;
CREATE VIEW late AS SELECT relation, step, row FROM late_rows;
"""
# what has nothing but contents in it may be new at any step
ADDED = """
CREATE VIEW by_x AS SELECT x, count(*) AS n FROM paced GROUP BY x;
CREATE VIEW twice AS SELECT a.x, b.n FROM paced a JOIN by_x b ON a.x = b.x;
"""
BEGIN = datetime(2024, 1, 1, 10, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return BEGIN + timedelta(minutes=minutes)


# of each step: its clock, in minutes, the rows of each table by its columns, and what is advanced to
STEPS: list[tuple[int, dict[str, list[dict[str, Any]]], int | None]] = [
    (
        0,
        {
            "grows": [{"x": 1}, {"x": 2}],
            "paced": [{"k": 1, "x": 1}, {"k": 2, "x": 1}],
            "timed": [{"ts": at(5), "x": 1}],
            "ordered": [{"seq": 5, "x": 1}, {"seq": 9, "x": 1}],
            "waits": [{"ts": at(0), "x": 1}],
            "clicks": [{"x": 1}],
        },
        None,
    ),
    (
        20,
        {
            "grows": [{"x": 1}],
            "paced": [{"k": 1, "x": 5}],
            "timed": [{"ts": at(40), "x": 1}, {"ts": at(1), "x": 9}],
            "ordered": [{"seq": 7, "x": 1}, {"seq": 8, "x": 1}, {"seq": 10, "x": 1}],
            "waits": [{"ts": at(20), "x": 1}, {"ts": at(31), "x": 2}],
            "clicks": [{"x": 2}],
        },
        None,
    ),
    (50, {"paced": [{"k": 1, "x": 2}, {"k": 2, "x": 3}], "ordered": [{"seq": 6, "x": 2}]}, 65),
    (
        60,
        {
            "grows": [{"x": 3}],
            "timed": [{"ts": at(50), "x": 7}, {"ts": at(66), "x": 2}],
            "waits": [{"ts": at(70), "x": 3}],
            "clicks": [{"x": 3}, {"x": 4}],
        },
        None,
    ),
    (61, {"paced": [{"k": 2, "x": 9}]}, 130),
    (125, {"grows": [{"x": 1}], "paced": [{"k": 3, "x": 1}], "ordered": [{"seq": 30, "x": 1}]}, None),
]


@pytest.fixture(scope="module")
def programs(spark: Any) -> tuple[Program, Program]:
    return compile_program(PROGRAM, session=spark), compile_program(PROGRAM + ADDED, session=spark)


def step(p: Pipeline, number: int) -> dict[str, Counter[str]]:
    """What leaves of each view in a step, and, by the view's name in capitals, what it holds then."""
    minutes, tables, advanced = STEPS[number]
    for table, rows in tables.items():
        p.insert(table, rows)
    if advanced is not None:
        p.advance("timed", "ts", at(advanced))
    changes = p.step(at(minutes))
    found = {}
    for view in p.views:
        left: Counter[str] = Counter()
        for row, weight in changes[view].rows():
            left[str(row)] += weight
        found[view] = left
        found[view.upper()] = Counter(str(row) for row in p[view].rows())
    return found


def undisturbed(program: Program, changed: int) -> list[dict[str, Counter[str]]]:
    """A change is a step by itself, which brings nothing."""
    found = []
    with Pipeline(program, runner="inline") as p:
        for number in range(len(STEPS)):
            if number == changed > 0:
                p.step()
            found.append(step(p, number))
    return found


def test_all_of_it_happens(programs: tuple[Program, Program]) -> None:
    """Else nothing would be held to anything."""
    steps = undisturbed(programs[1], 0)
    for view in ("numbered", "came", "at_most", "slowly", "in_order", "released", "ages", "late"):
        assert sum(bool(one[view]) for one in steps) > 1, view
    for view in ("hours", "closed", "early"):
        assert any(one[view] for one in steps[1:]), view


@pytest.mark.parametrize("changed", range(len(STEPS) + 1))
def test_it_goes_on(programs: tuple[Program, Program], changed: int, tmp_path: Path) -> None:
    """Each step is made by a pipeline of its own, over what a kill of the last one leaves."""
    old, new = programs
    expected = undisturbed(new, changed)
    with ExitStack() as killed:
        for number in range(len(STEPS)):
            state = tmp_path / str(number)
            if number:  # the last one is open yet
                shutil.copytree(tmp_path / str(number - 1), state, ignore=shutil.ignore_patterns("lock"))
            program = new if number >= changed else old
            p = killed.enter_context(
                Pipeline(program, state=state, runner="inline", evolve=number == changed)
            )
            for view, found in step(p, number).items():
                assert found == expected[number][view], (number, view)
