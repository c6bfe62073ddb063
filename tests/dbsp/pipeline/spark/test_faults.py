"""Wherever a step on Spark is disturbed, the views and the sinks' files are those of a run that wasn't.

At the driver's calls to the file system: an error, Ctrl-C, the death of the driver. In a task: the death of
its worker. At the sink: a place that can't be written.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import local
from typing import Any

import pytest
from hypothesis import settings

import dbsp
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark.runner import ATTEMPTS
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program
from tests.dbsp.faults import Calls, Point, full_disk, interrupt, is_killed, kill, watching
from tests.effort import QUICK

pytestmark = pytest.mark.spark

TEXT = """
CREATE FUNCTION checked(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$
import os
deaths = [name for name in os.listdir('{0}') if name.startswith('deadly')]
if deaths:
    os.remove('{0}/' + deaths[0])
    os.kill(os.getpid(), 9)
return x
$$;
CREATE TABLE sale (product BIGINT NOT NULL, units BIGINT);
CREATE VIEW sold AS SELECT product, count(*) AS n, sum(units) AS units FROM sale GROUP BY product;
CREATE VIEW large AS SELECT product, checked(units) AS units FROM sale WHERE units > 3;
CREATE TABLE changelog (product BIGINT, n BIGINT, units BIGINT, __weight BIGINT)
USING csv OPTIONS (path '{0}/out/changelog');
INSERT INTO changelog SELECT * FROM sold;
CREATE TABLE latest (product BIGINT PRIMARY KEY, units BIGINT, __op STRING)
USING json OPTIONS (path '{0}/out/latest');
INSERT INTO latest (product, units) SELECT product, units FROM sold;
CREATE TABLE alarms (product BIGINT, units BIGINT, __op STRING) USING csv OPTIONS (path '{0}/out/alarms');
INSERT INTO alarms SELECT * FROM large;
"""
DISTURBED, LAST, RETAIN = 4, 5, 3
THOROUGH = settings.default.max_examples > QUICK
STRIDE = 1 if THOROUGH else 7


def queue(p: Pipeline) -> None:
    step = p.last_step + 1
    p.insert("sale", [(product, step) for product in range(step + 2)])
    if step > 1:
        p.delete("sale", [(0, step - 1)])


def shown(p: Pipeline) -> dict[str, Any]:
    kept = [step for step in p.store.steps if step > p.last_step - RETAIN]
    return {
        "views": [p[view].rows() for view in ("sold", "large")],
        "changes": [p.changes_of(view, step).rows() for view in ("sold", "large") for step in kept],
    }


def written(out: Path) -> dict[str, list[str]]:
    """Per step of each sink its lines, whatever files they are in; nothing else is there."""
    steps = sorted(out.glob("*/*"))
    assert all(step.name.startswith("__step=") for step in steps), steps
    return {
        str(step.relative_to(out)): sorted(
            line for file in step.iterdir() if not file.name.startswith((".", "_")) for line in lines(file)
        )
        for step in steps
    }


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines()


@dataclass
class Run:
    """An undisturbed run in a directory that disturbed ones are put into, one after the other."""

    spark: Any
    root: Path
    program: Program
    after: dict[int, dict[str, Any]] = field(default_factory=dict)
    sinks: dict[str, list[str]] = field(default_factory=dict)

    def open(self) -> Pipeline:
        opened = Pipeline(self.program, state=self.root / "state", spark=self.spark, keep_steps=RETAIN)
        opened.store.durable = False  # no power fails
        return opened

    def reset(self) -> None:
        for name in ("state", "out"):
            shutil.rmtree(self.root / name, ignore_errors=True)
            shutil.copytree(self.root / "base" / name, self.root / name)

    def go_on(self, p: Pipeline) -> None:
        """The rest of the steps, and all is as it should be."""
        assert shown(p) == self.after[p.last_step]
        while p.last_step < LAST:
            queue(p)
            p.step()
            assert shown(p) == self.after[p.last_step]
        assert written(self.root / "out") == self.sinks

    def disturb(self, point: Point, fault: Callable[[], None], retried: bool) -> bool:
        """Whether the step came to that point."""
        self.reset()
        with self.open() as p:
            queue(p)
            queued = p.queued
            raised: BaseException | None = None
            with watching(self.root / "state", fault, point) as calls:
                try:
                    p.step()
                except (dbsp.Error, KeyboardInterrupt) as error:
                    raised = error
            if raised is None or isinstance(raised, dbsp.DeliveryError):
                assert p.last_step == DISTURBED
            elif not isinstance(raised, KeyboardInterrupt):
                assert p.last_step == DISTURBED - 1
            if not p._closed:
                assert p.queued == (queued if p.last_step < DISTURBED else {})
                if retried:
                    if p.last_step < DISTURBED:
                        p.step()
                    self.go_on(p)
        with self.open() as p:
            self.go_on(p)
        return calls.fired

    def survey(self) -> Calls:
        self.reset()
        with self.open() as p:
            queue(p)
            with watching(self.root / "state") as calls:
                p.step()
        return calls


@pytest.fixture(scope="module")
def run(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    root = tmp_path_factory.mktemp("disturbed")
    program = compile_program(TEXT.format(root), session=spark)
    whole = Run(spark, root, program)
    for step in range(1, LAST + 1):
        with whole.open() as p:
            queue(p)
            p.step()
            whole.after[step] = shown(p)
        if step == DISTURBED - 1:
            for name in ("state", "out"):
                shutil.copytree(root / name, root / "base" / name)
    whole.sinks = written(root / "out")
    assert {name.split("/")[0] for name in whole.sinks} == {"changelog", "latest", "alarms"}
    yield whole


def test_a_step_disturbed_at_the_driver_s_calls(run: Run) -> None:
    survey = run.survey()
    assert survey.missed == []
    assert "os.link" in survey.driver
    fired = tried = 0
    for i, point in enumerate(survey.points()[::STRIDE]):
        for fault in (full_disk, interrupt) if THOROUGH else ((full_disk, interrupt)[i % 2],):
            if fault is full_disk or not point.beside:
                tried += 1
                fired += run.disturb(point, fault, i % 4 < 2)
    assert fired > 0.7 * tried  # a call that no longer comes is no point


def test_a_driver_killed_at_its_calls(run: Run) -> None:
    """A fork of this process, with connections to Spark of its own."""
    points = [point for point in run.survey().points() if not point.beside]
    if not THOROUGH:  # about the record, and the last: what there is to delete
        link = run.survey().driver.index("os.link")
        points = [Point(link - 2, False), Point(link, False), Point(link, True), points[-3]]
    killed = 0
    for point in points:
        run.reset()
        killed += is_killed(partial(stepping, run, point))
        with run.open() as p:
            assert p.last_step in (DISTURBED - 1, DISTURBED)
            run.go_on(p)
    assert killed > 0.7 * len(points)


def stepping(run: Run, point: Point) -> None:
    client = run.spark.sparkContext._gateway._gateway_client
    client.deque, client.thread_connection = deque(), local()
    with run.open() as p:
        queue(p)
        with watching(run.root / "state", kill, point):
            p.step()


def test_a_step_whose_worker_dies_runs_once_more(run: Run) -> None:
    run.reset()
    with run.open() as p:
        queue(p)
        (run.root / "deadly").touch()
        p.step()
        assert not (run.root / "deadly").exists()
        run.go_on(p)


def test_workers_that_go_on_dying_change_nothing(run: Run) -> None:
    run.reset()
    with run.open() as p:
        queue(p)
        queued = p.queued
        for death in range(ATTEMPTS):
            (run.root / f"deadly{death}").touch()
        with pytest.raises(dbsp.Error, match=rf"^step {DISTURBED}: Spark failed: "):
            p.step()
        assert (p.last_step, p.queued) == (DISTURBED - 1, queued)
        p.step()
        run.go_on(p)


def test_a_sink_that_fails_undoes_no_step_and_gets_it_before_anything_else(run: Run) -> None:
    run.reset()
    sink = run.root / "out" / "latest"
    aside = sink.with_name("aside")
    seen: list[int] = []
    with run.open() as p:
        p.subscribe("sold", lambda step, _: seen.append(step))
        sink.rename(aside)
        sink.write_text("no directory")
        queue(p)
        with pytest.raises(
            dbsp.DeliveryError, match=rf"'latest': step {DISTURBED} was not written"
        ) as failed:
            p.step()
        assert (failed.value.step, failed.value.sink) == (DISTURBED, "latest")
        assert failed.value.changes["sold"].rows() == p.changes_of("sold", DISTURBED).rows()
        assert (p.last_step, p.queued, seen) == (DISTURBED, {}, [DISTURBED])
        assert (run.root / "out" / "alarms" / f"__step={DISTURBED}").exists()
        queue(p)
        queued = p.queued
        with pytest.raises(dbsp.DeliveryError, match=f"step {DISTURBED} was not written") as failed:
            p.step()
        assert (failed.value.changes, p.last_step, p.queued) == (None, DISTURBED, queued)
    with run.open() as p:  # where it fails again, which doesn't keep the views from being read
        assert shown(p) == run.after[DISTURBED]
    sink.unlink()
    aside.rename(sink)
    with run.open() as p:
        assert (sink / f"__step={DISTURBED}").exists()
        run.go_on(p)
