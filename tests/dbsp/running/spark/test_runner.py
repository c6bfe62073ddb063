"""The Spark runner: the inline runner's bytes, for steps of one task and of many; errors as themselves."""

from __future__ import annotations

import os
import random

import pytest

from dbsp.circuits.errors import DataError, EvaluationError
from dbsp.circuits.traces import spine
from dbsp.commands.shown.changelog import json_lines
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.spark import runner
from dbsp.running.spark.runner import INLINE_BYTES, SparkRunner
from dbsp.sql.compiler.load import compile_program
from tests.laws.small_steps import set_small

pytestmark = pytest.mark.spark

ORDERS = """
CREATE TABLE customer (id BIGINT NOT NULL, country STRING, PRIMARY KEY (id));
CREATE TABLE orders (customer BIGINT, amount BIGINT, label STRING);
CREATE VIEW turnover AS
SELECT c.country, count(*) AS orders, sum(o.amount) AS total, max(o.amount) AS top
FROM orders o JOIN customer c ON o.customer = c.id GROUP BY c.country;
CREATE VIEW by_total AS SELECT total, count(*) AS countries FROM turnover GROUP BY total;
CREATE VIEW labels AS SELECT DISTINCT label FROM orders;
CREATE VIEW shares AS SELECT country, 1000 DIV orders AS share, 100 DIV (total - 777) AS gap FROM turnover;
"""
TASKS = {
    "here": (10**9, 2),
    "one task": (10**9, 2),
    "two tasks a level": (-1, 2),
    "three tasks a level": (-1, 3),
}


@pytest.fixture(scope="module")
def program(spark):
    return compile_program(ORDERS, session=spark)


def pipeline(program, spark, small=10**9, partitions=2, runner="spark"):
    opened = Pipeline(program, spark=spark, partitions=partitions, runner=runner)
    if runner == "spark":
        opened.runner = SparkRunner(spark, small)
    return opened


@pytest.fixture
def tasks(request, monkeypatch):
    """One task is a job where it would be on another machine."""
    if request.param == "one task":
        monkeypatch.setattr(runner, "is_local", lambda master: False)
    return request.param


@pytest.fixture
def jobs(monkeypatch):
    """A list with an item for each job that was started."""
    job, started = SparkRunner._job, []
    monkeypatch.setattr(SparkRunner, "_job", lambda *given: started.append(1) or job(*given))
    return started


def feed(pipeline, seed):
    """The deltas of step `seed`, which depend on nothing else."""
    draw = random.Random(seed)
    pipeline.upsert(
        "customer",
        [{"id": draw.randrange(8), "country": draw.choice("ABC")} for _ in range(draw.randrange(6))],
    )
    orders = [(draw.randrange(8), draw.randrange(50), draw.choice("xyz")) for _ in range(draw.randrange(40))]
    pipeline.insert("orders", orders)
    if seed % 2:
        previous = random.Random(-seed)
        pipeline.insert("orders", [(previous.randrange(8), 7, "gone")])
    elif seed:
        pipeline.delete("orders", [(random.Random(-(seed - 1)).randrange(8), 7, "gone")])


@pytest.mark.parametrize("tasks", TASKS, indirect=True)
def test_every_step_gives_the_bytes_of_the_inline_runner(program, spark, tasks):
    with (
        pipeline(program, spark, runner="inline", partitions=1) as inline,
        pipeline(program, spark, *TASKS[tasks]) as distributed,
    ):
        for seed in range(4):
            feed(inline, seed)
            feed(distributed, seed)
            assert list(json_lines(distributed.step())) == list(json_lines(inline.step()))
        assert distributed["turnover"].rows() == inline["turnover"].rows()


def test_the_more_cores_the_fewer_rows_are_one_task():
    most = [runner.one_task(cores) for cores in (2, 4, 16, 64, 256)]
    assert most == sorted(most, reverse=True)
    assert (most[0], most[-1] >= runner.ROWS_OF_STAGES) == (2 * runner.ROWS_OF_STAGES, True)


@pytest.mark.parametrize("small", [10**9, 5, None])
def test_small_steps_are_made_here(program, spark, jobs, small, monkeypatch):
    """In turns with those that are jobs: the state is the same."""
    monkeypatch.setattr(runner, "ROWS_OF_STAGES", 3)
    with (
        pipeline(program, spark, runner="inline", partitions=1) as inline,
        pipeline(program, spark, small) as here,
    ):
        rows = []
        for seed in range(6):
            feed(inline, seed)
            feed(here, seed)
            rows.append(sum(here.queued.values()))
            assert list(json_lines(here.step())) == list(json_lines(inline.step()))
    assert len(jobs) == sum(count > (runner.one_task(2) if small is None else small) for count in rows)


def test_steps_that_call_the_user_s_functions_are_jobs(spark, jobs):
    """Which may end their process: of a job that is a worker's."""
    text = """
    CREATE FUNCTION doubled (n INT) RETURNS INT LANGUAGE PYTHON AS $$ return 2 * n $$;
    CREATE TABLE t (n INT);
    CREATE VIEW v AS SELECT doubled(n) AS n FROM t;
    """
    with Pipeline(sql=text, spark=spark) as p:
        p.insert("t", [(1,)])
        assert p.step()["v"].rows() == [({"n": 2}, 1)]
    assert len(jobs) == 1


@pytest.mark.parametrize("tasks", ["here", "one task", "two tasks a level"], indirect=True)
def test_merges_run_in_tasks_and_change_nothing(program, spark, tasks, monkeypatch):
    monkeypatch.setattr(spine, "WIDE", 1 << 40)  # four runs are merged
    merged = 0
    with (
        pipeline(program, spark, runner="inline", partitions=1) as inline,
        pipeline(program, spark, *TASKS[tasks]) as distributed,
    ):
        set_small(distributed, 0)
        for seed in range(7):
            feed(inline, seed)
            feed(distributed, seed)
            merged += len(distributed._position.state.pieces)
            assert list(json_lines(distributed.step())) == list(json_lines(inline.step()))
    assert merged > 0


@pytest.mark.parametrize("tasks", ["here", "one task", "two tasks a level"], indirect=True)
def test_an_error_comes_as_itself_and_nothing_is_kept(program, spark, tasks):
    with pipeline(program, spark, *TASKS[tasks]) as p:
        p.upsert("customer", [{"id": 1, "country": "A"}])
        p.insert("orders", [(1, 7, "x")])
        before = list(json_lines(p.step()))
        files = set(os.listdir(p.store.segments.root))
        p.insert("orders", [(1, 770, "y")])
        with pytest.raises(EvaluationError, match="DIVIDE_BY_ZERO") as raised:
            p.step()
        assert raised.value.condition == "DIVIDE_BY_ZERO"
        assert raised.value.__cause__ is None
        p.discard()
        p.delete("orders", [(5, 5, "not there")])
        with pytest.raises(DataError, match="orders"):
            p.step()
        assert set(os.listdir(p.store.segments.root)) == files
        assert p.last_step == 1
        p.discard()
        p.delete("orders", [(1, 7, "x")])
        after = list(json_lines(p.step()))
        assert len(before) == len(after) == 4


def test_a_large_delta_goes_in_a_file_and_is_shared_out(program, spark, monkeypatch):
    """Among as many tasks as there are partitions, or as keep each of them small."""
    rows = [(i % 8, i, f"label {i % 5}") for i in range(30_000)]
    results, counts, job = {}, set(), SparkRunner._job
    for name, (small, partitions) in {**TASKS, "five tasks a level": (-1, 2)}.items():
        with monkeypatch.context() as patched, pipeline(program, spark, small, partitions) as p:
            patched.setattr(runner, "LARGE_TASK", 7_000 if name.startswith("five") else runner.LARGE_TASK)
            patched.setattr(
                SparkRunner,
                "_job",
                lambda self, shared, *given: counts.add(shared.step.partitions) or job(self, shared, *given),
            )
            patched.setattr(runner, "is_local", lambda master, name=name: name != "one task")
            p.upsert("customer", [{"id": i, "country": "AB"[i % 2]} for i in range(8)])
            p.upsert("customer", [{"id": i, "country": "C"} for i in range(4)])
            p.insert("orders", rows)
            assert sum(part.batch.nbytes for part in p._position.queue.inputs["orders"]) > INLINE_BYTES
            changes = p.step()
            assert not [f for f in os.listdir(p.store.segments.root) if f.endswith(".input")]
            assert changes.metrics.rows_in == {"customer": 12, "orders": 30_000}
            results[name] = list(json_lines(changes))
    assert len(set(map(tuple, results.values()))) == 1
    assert counts == {1, 2, 3, 5}
    assert any('"country": "C", "orders": 15000' in line for line in results["one task"])
