"""WITH (idle_timeout = ...): a silent source holds back no window; what it says later is late, not lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.runs import idle
from dbsp.pipeline.spark.runs.idle import Idle
from dbsp.pipeline.spark.runs.streaming import run
from dbsp.sql.compiler.late_rows import late_rows_view
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.nodes import Scan, Union
from dbsp.sql.plans.program import ColumnLateness, Program
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import pipeline, program, table, view

AT = (Field("at", pa.timestamp("us", "UTC")), Field("n", pa.int64()))


def sources(*names: str, apart: str = "", timeout: int = 10_000_000) -> Program:
    """Each with LATENESS on both columns, read by one view but for `apart`; the first may be idle."""
    late = (ColumnLateness(0, 0, None), ColumnLateness(1, 0, None))
    tables = [
        replace(
            table(name, AT),
            format="json",
            lateness=late,
            idle_timeout=timeout if name == names[0] else 0,
        )
        for name in names
    ]
    scans = tuple(Scan(name, AT) for name in names if name != apart)
    views = [view("together", Union(scans, AT))]
    views += [view("alone", Scan(apart, AT))] * bool(apart)
    return program(tables, [*views, late_rows_view()])


def at(hour: int, n: int = 0) -> tuple[datetime, int]:
    return datetime(2024, 1, 1, hour, tzinfo=UTC), n


class Clock:
    """Of `time`, where a test says how late it is."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(idle, "time", clock)
    return clock


def idle_of(p: Pipeline, clock: Clock) -> Idle:
    return Idle(p, [*p.program.inputs.values()], clock.now)


def moved(found: Idle) -> dict[str, Any]:
    return {f"{name}.{column}": value.as_py() for (name, column), value in found.moves().items()}


def test_it_follows_the_least_of_those_that_are_awake(clock: Clock) -> None:
    with pipeline(program=sources("a", "b", "c", "d", apart="d")) as p:
        silent = idle_of(p, clock)
        clock.now += 10
        assert moved(silent) == {}
        p.insert("b", [at(9)])
        p.insert("d", [at(3)])
        p.step()
        assert moved(silent) == {}  # of c nobody knows how far it is
        p.insert("c", [at(7, 5)])
        p.step()
        assert moved(silent) == {"a.at": at(7)[0]}  # numbers of other sources say nothing
        silent.saw(p.program.tables["a"])
        assert moved(silent) == {}
        clock.now += 9.9
        assert moved(silent) == {}
        clock.now += 0.1
        assert silent.advance()
        p.step()
        assert not silent.advance()
        p.insert("a", [at(6), at(8)])
        changes = p.step()
        assert [row["reason"] for row, _ in changes["late_rows"].rows()] == ["late"]
        assert changes.metrics.waterlines["a.at"] == at(8)[0]


def test_alone_it_stays_where_it_is(clock: Clock) -> None:
    with pipeline(program=sources("a")) as p:
        silent = idle_of(p, clock)
        p.insert("a", [at(9)])
        p.step()
        clock.now += 1000
        assert moved(silent) == {}


def test_ahead_it_stays_where_it_is(clock: Clock) -> None:
    with pipeline(program=sources("a", "b")) as p:
        silent = idle_of(p, clock)
        p.insert("a", [at(9)])
        p.insert("b", [at(8)])
        p.step()
        clock.now += 1000
        assert moved(silent) == {}


TEXT = """
CREATE TABLE sent (at TIMESTAMP LATENESS INTERVAL 0 SECONDS) USING json OPTIONS (path '{0}/sent');
CREATE TABLE got (at TIMESTAMP LATENESS INTERVAL 0 SECONDS) USING json OPTIONS (path '{0}/got')
WITH (idle_timeout = INTERVAL 1 SECOND);
CREATE VIEW hours AS
SELECT date_trunc('HOUR', at) AS hour, count(*) AS n FROM (SELECT at FROM sent UNION ALL SELECT at FROM got)
GROUP BY 1 TRIGGER ON WATERMARK;
"""


def written(folder: Path, *hours: str) -> None:
    name = f"{len([*folder.iterdir()])}.json"
    (folder.parent / name).write_text("".join(f'{{"at": "2024-01-01T{hour}Z"}}\n' for hour in hours))
    (folder.parent / name).rename(folder / name)


def until(what: Callable[[], bool]) -> None:
    for _ in range(600):
        if what():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


@pytest.mark.spark
def test_a_run_whose_source_falls_silent(spark: Any, tmp_path: Path) -> None:
    for name in ("sent", "got"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, "09:10:00")
    text = TEXT.format(tmp_path)
    left: list[Any] = []
    with Pipeline(
        compile_program(text, session=spark), state=tmp_path / "s", runner="inline", spark=spark
    ) as p:
        p.subscribe("hours", lambda step, changes: left.extend(changes.rows()))
        stop = threading.Event()
        thread = threading.Thread(target=lambda: run(p, stop=stop))
        thread.start()
        try:
            until(lambda: p.last_step >= 1)
            written(tmp_path / "sent", "10:20:00")
            until(lambda: bool(left))
        finally:
            stop.set()
            thread.join()
        assert [(row["hour"], row["n"]) for row, _ in left] == [(at(9)[0], 2)]
        waterlines = p.store.last.waterlines
    # what was decided by silence is in the record of the step, and needs none to be true again
    with Pipeline(
        compile_program(text, session=spark), state=tmp_path / "s", runner="inline", spark=spark
    ) as p:
        assert p.step().metrics.waterlines["got.at"] == datetime(2024, 1, 1, 10, 20, tzinfo=UTC)
        assert p.store.last.waterlines == waterlines
