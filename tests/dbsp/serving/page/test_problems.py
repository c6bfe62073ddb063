"""Each problem is at the line that it is about, and goes when it is none any more."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.serving.page.problems import ERROR, NOTE, WARNING, Problems
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program
from dbsp.views.view import Contents
from tests.generators.columns.zsets import zset_of

TEXT = """\
SET spark.sql.shuffle.partitions = 7;
CREATE TABLE t (n INT) USING json OPTIONS (path 'in');

CREATE TABLE u (n INT, at TIMESTAMP LATENESS INTERVAL 1 HOUR, PRIMARY KEY (n));
CREATE TABLE kept (n INT, PRIMARY KEY (n)) USING sqlite OPTIONS (path 'kept.db');
CREATE VIEW v AS SELECT DISTINCT t.n FROM t;
INSERT INTO
kept SELECT n FROM v WHERE n IS NOT NULL;
"""


@pytest.fixture(scope="module")
def program(spark: Any) -> Program:
    return load_program(TEXT, session=spark)


def found(program: Program, **now: Any) -> set[tuple[int, str, str]]:
    """What is there besides what always is."""
    nothing: dict[str, Any] = {"late": {}, "bad": None, "undelivered": {}, "trouble": ""}
    problems = Problems(program)
    always = problems.found(**nothing)
    every = problems.found(**{**nothing, **now})
    assert set(always) <= set(every)
    assert [one.line for one in every] == sorted(one.line for one in every)
    return {(one.line, one.kind, one.text) for one in set(every) - set(always)}


@pytest.mark.spark
def test_what_is_known_before_it_runs(program: Program) -> None:
    every = Problems(program).found({}, None, {}, "")
    assert [(one.line, one.kind) for one in every if one.kind == NOTE] == [(1, NOTE)]
    growing = [one for one in every if one.kind == WARNING]
    assert growing and {one.line for one in growing} == {6, 7}
    assert all("grows with t" in one.text for one in growing)


@pytest.mark.spark
def test_late_and_bad_rows_are_at_their_tables(program: Program) -> None:
    assert found(program, late={"u": 2, "t": 0}) == {
        (4, WARNING, "2 rows came too late and are in late_rows"),
    }
    schema = pa.schema([("relation", pa.string()), ("reason", pa.string())])
    parts = [zset_of(schema, [(("t", "no"), 1), (("t", "nor"), 1)]), zset_of(schema, [(("t", "no"), -1)])]
    assert found(program, bad=Contents("bad_rows", schema, parts)) == {
        (2, WARNING, "1 row of its source can't be read and is in bad_rows"),
    }
    assert found(program, bad=Contents("bad_rows", schema, [])) == set()


@pytest.mark.spark
def test_what_fails_is_where_it_is_said(program: Program) -> None:
    assert found(program, undelivered={"kept": 3}) == {(7, ERROR, "kept is without the last 3 steps")}
    assert found(program, undelivered={"kept": 0}) == set()
    said = "sink 'kept': postgresql://me:secret@host/db?password=x: no such host"
    shown = "sink 'kept': postgresql://…@host/db?…"
    ((line, kind, text),) = found(program, trouble=said)
    assert (line, kind) == (5, ERROR) and text.startswith(shown) and "secret" not in text
    assert found(program, trouble=f"{program.name}:3:1: not so") == {
        (3, ERROR, f"{program.name}:3:1: not so"),
    }
    assert found(program, trouble="the disk is full") == {(1, ERROR, "the disk is full")}
