"""Punctuation: to advance a waterline is a row that only the waterline notices, whoever steps and reopens."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Column
from dbsp.commands.replays.files import queue, read_file
from dbsp.commands.shown.changelog import json_lines
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.late_rows import late_rows_view
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Filter, Scan
from dbsp.sql.plans.program import ColumnLateness, Program, Table, Triggers
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import pipeline, program, view
from tests.effort import examples

LATENESS = 2
VISIT = (Field("at", pa.int64()), Field("seen", pa.bool_()))
TIMES = (Field("moment", pa.timestamp("us", tz="UTC")), Field("day", pa.date32()))


def visits(fields: tuple[Field, ...] = VISIT, jump: int | None = None) -> Program:
    """Counts of the rows that may be seen, by their time, whose groups are collected; and late rows."""
    lateness = tuple(ColumnLateness(i, LATENESS, jump) for i in range(1 if fields is VISIT else len(fields)))
    visit = Table("Visit", fields, (), False, True, None, {}, "program.sql:1:1", lateness)
    scan = Scan("Visit", fields)
    if fields is VISIT:
        seen = Filter(scan, Column(1, pa.bool_()))
        counts = Aggregate(
            seen,
            (Column(0, pa.int64()),),
            (AggregateCall("count", (), pa.int64(), False),),
            (Field("at", pa.int64()), Field("n", pa.int64(), False)),
        )
        final = replace(view("final", counts), emission=Triggers(None, None, True, "program.sql:3:1"))
        return program([visit], [late_rows_view(), view("counts", counts), final])
    return program([visit], [late_rows_view(), view("all", scan)])


# rows, or a place to advance to
INPUT = st.lists(st.lists(st.integers(0, 12), max_size=4) | st.integers(0, 12).map(str), max_size=6)


@pytest.mark.parametrize("partitions", [1, 3])
@examples(15)
@given(steps=INPUT, reopened=st.booleans())
def test_it_is_a_row_that_no_view_sees(
    tmp_path_factory: pytest.TempPathFactory, partitions: int, steps: list[Any], reopened: bool
) -> None:
    compiled = visits()
    state = tmp_path_factory.mktemp("advanced") / "state" if reopened else None
    advanced = pipeline(state, program=compiled, partitions=partitions)
    unseen = pipeline(program=compiled)
    try:
        for step in steps:
            if isinstance(step, str):
                advanced.advance("visit", "AT", int(step))
                unseen.change("Visit", _rows([int(step) + LATENESS], False), _ones(1))
            else:
                for p in (advanced, unseen):
                    p.change("Visit", _rows(step, True), _ones(len(step)))
            theirs, ours = unseen.step(), advanced.step()
            for name in ("counts", "final"):
                assert ours[name].rows() == theirs[name].rows()
            late = [row for row in theirs["late_rows"].rows() if '"seen": true' in row[0]["row"]]
            assert ours["late_rows"].rows() == late
            assert ours.metrics.waterlines == theirs.metrics.waterlines
            if state is not None:
                advanced.close()
                advanced = pipeline(state, program=compiled, partitions=partitions)
    finally:
        advanced.close()
        unseen.close()


def _rows(times: list[int], seen: bool) -> pa.RecordBatch:
    columns = [pa.array(times, pa.int64()), pa.array([seen] * len(times), pa.bool_())]
    return pa.RecordBatch.from_arrays(columns, names=["at", "seen"])


def _ones(count: int) -> Any:
    return np.ones(count, np.int64)


def test_the_furthest_counts_and_none_goes_back() -> None:
    with pipeline(program=visits(jump=1)) as p:
        p.insert("visit", [(4, True)])
        p.step()
        for value in (9, 30, 3):
            p.advance("Visit", "at", value)  # further than MAX JUMP lets rows go
        p.step()
        p.advance("Visit", "at", 5)
        assert _waterline(p) == 30
        p.insert("visit", [(29, True), (30, True)])
        changes = p.step()
        assert changes["counts"].rows() == [({"at": 30, "n": 1}, 1)]
        assert [row["reason"] for row, _ in changes["late_rows"].rows()] == ["late"]


def test_what_is_discarded_moves_nothing() -> None:
    with pipeline(program=visits()) as p:
        p.advance("visit", "at", 9)
        p.discard()
        p.step()
        assert p.step().metrics.waterlines == {}


def _waterline(p: Pipeline) -> int:
    (value,) = p.step().metrics.waterlines.values()
    return value.as_py() if isinstance(value, pa.Scalar) else int(value)


@pytest.mark.parametrize(
    ("relation", "column", "value", "message"),
    [
        ("visit", "seen", 1, r"no LATENESS for 'visit\.seen' to advance; columns with one: Visit\.at"),
        ("visits", "at", 1, r"no LATENESS for 'visits\.at'.*did you mean 'Visit\.at'"),
        ("visit", "at", None, r"None is no place for the waterline of Visit\.at \(BIGINT\); give a value"),
        ("visit", "at", 1.5, r"1\.5 is no place for the waterline of Visit\.at \(BIGINT\): "),
    ],
)
def test_what_can_t_be_advanced_is_said(relation: str, column: str, value: Any, message: str) -> None:
    with pipeline(program=visits()) as p, pytest.raises(DataError, match=message):
        p.advance(relation, column, value)


SQL = """
INSERT INTO visit VALUES (1, TRUE); STEP;
ADVANCE Visit.at TO 7;
STEP;
INSERT INTO visit VALUES (6, TRUE), (7, TRUE); STEP;
ADVANCE visit.`at` TO 20;
"""
JSON = """
{"table": "visit", "row": {"at": 1, "seen": true}}
{"step": true}
{"advance": "visit.at", "to": 7}
{"step": true}
{"table": "visit", "row": {"at": 6, "seen": true}}
{"table": "visit", "row": {"at": 7, "seen": true}}
{"step": true}
{"advance": "visit.at", "to": 20}
"""


def replayed(text: str, name: str, state: Path) -> tuple[list[str], int]:
    with pipeline(state, program=visits()) as p:
        lines = []
        for step in read_file(text, name, p.program):
            queue(p, step)
            lines += json_lines(p.step())
        return lines, _waterline(p)


def test_replay_files_say_it(tmp_path: Path) -> None:
    found = replayed(SQL, "x.sql", tmp_path / "sql")
    assert found == replayed(JSON, "x.jsonl", tmp_path / "json")
    lines, waterline = found
    assert waterline == 20
    assert [line for line in lines if "late_rows" in line] == [
        '{"step": 3, "view": "late_rows", "row": {"relation": "Visit", "step": 3, "row": '
        '"{\\"at\\": 6, \\"seen\\": true}", "waterlines": "{\\"at\\": 7}", "reason": "late"}, "weight": 1}'
    ]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.sql", "STEP;\nADVANCE visit.seen TO 1;", r"x\.sql:2:9: no LATENESS for 'visit\.seen'"),
        ("x.sql", "ADVANCE visit.at TO 'x';", r"x\.sql:1:21: "),
        ("x.sql", "ADVANCE visit TO 1;", r"x\.sql:1:15: expected \., found 'TO'"),
        (
            "x.jsonl",
            '{"advance": "visit", "to": 1}',
            r'x\.jsonl:1: give {"advance": "table\.column", "to": value}',
        ),
        ("x.jsonl", '{"advance": "visit.at", "to": null}', r"x\.jsonl:1: None is no place for the waterline"),
    ],
)
def test_mistakes_in_replay_files_are_placed(name: str, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        list(read_file(text, name, visits()))


def test_of_what_falls_the_least_counts(tmp_path: Path) -> None:
    program_ = visits()
    (visit,) = program_.tables.values()
    falling = replace(visit, lateness=tuple(replace(one, decreasing=True) for one in visit.lateness))
    views = [*program_.views.values()]
    with pipeline(tmp_path, program=program([falling], views)) as p:
        for text in ("INSERT INTO visit VALUES (9, TRUE); STEP;", "ADVANCE visit.at TO 7; STEP;"):
            (step,) = read_file(text, "x.sql", p.program)
            queue(p, step)
            changes = p.step()
        assert changes.metrics.waterlines == {"Visit.at (decreasing)": 7}
        p.advance("visit", "at", 8)
        p.insert("visit", [(8, True), (7, True)])
        late = p.step()["late_rows"].rows()
        assert [(row["row"], row["waterlines"]) for row, _ in late] == [
            ('{"at": 8, "seen": true}', '{"at": 7}')
        ]


def test_times_and_days(tmp_path: Path) -> None:
    with pipeline(program=visits(TIMES)) as p:
        p.advance("visit", "moment", datetime(2024, 3, 1, 10))
        p.advance("visit", "day", date(2024, 3, 1))
        text = (
            "ADVANCE visit.moment TO TIMESTAMP '2024-03-01 11:00:00'; ADVANCE visit.day TO DATE '2024-03-02';"
        )
        for step in read_file(text, "x.sql", p.program):
            queue(p, step)
        p.step()
        p.insert("visit", [(datetime(2024, 3, 1, 11, tzinfo=UTC), date(2024, 3, 1))])
        ((row, _),) = p.step()["late_rows"].rows()
        assert row["waterlines"] == '{"moment": "2024-03-01T11:00:00Z", "day": "2024-03-02"}'


EMITTED = """CREATE TABLE bid (price BIGINT, at TIMESTAMP LATENESS INTERVAL 5 MINUTES);
CREATE VIEW counts AS SELECT window.end AS until, count(*) AS n FROM bid GROUP BY window(at, '1 hour')
  EMIT (COMPLETE RESULT OFFSET INTERVAL 10 MINUTES, RESULT STATE FLAG);"""


@pytest.mark.spark
def test_windows_of_emit_end_though_nothing_comes(spark: Any) -> None:
    ten, eleven = (datetime(2024, 3, 1, hour, tzinfo=UTC) for hour in (10, 11))
    with Pipeline(compile_program(EMITTED, session=spark), runner="inline") as p:
        p.insert("bid", [(1, ten), (2, ten)])
        assert p.step()["counts"].rows() == []
        for minute, state in ((9, "early"), (10, "final"), (8, None), (30, None)):
            p.advance("bid", "at", eleven.replace(minute=minute))
            left = p.step()["counts"].rows()
            assert [row["__state"] for row, weight in left if weight > 0] == [state] * (state is not None)
        p.insert("bid", [(3, ten)])
        assert p.step()["counts"].rows() == []
        assert len(p["late_rows"].rows()) == 1


@pytest.mark.spark
def test_the_clock_of_emit_is_no_column_that_may_be_advanced(spark: Any) -> None:
    text = EMITTED.replace("LATENESS INTERVAL 5 MINUTES", "")
    with (
        Pipeline(compile_program(text, session=spark), runner="inline") as p,
        pytest.raises(DataError, match=r"no LATENESS for 'bid.at' to advance; columns with one: none"),
    ):
        p.advance("bid", "at", datetime(2024, 3, 1, tzinfo=UTC))


@pytest.mark.spark
def test_a_column_of_a_name_that_begins_alike_stays(spark: Any) -> None:
    text = EMITTED.replace("MINUTES);", "MINUTES, `at (utc)` TIMESTAMP);").replace(
        "window(at", "window(`at (utc)`"
    )
    with Pipeline(compile_program(text, session=spark), runner="inline") as p:
        p.insert("bid", [(1, None, datetime(2024, 3, 1, 10, tzinfo=UTC))])
        p.step()
        p.advance("bid", "at", datetime(2024, 3, 1, 12, tzinfo=UTC))
        assert p.step()["counts"].rows() == []
