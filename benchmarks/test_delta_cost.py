"""Cost follows the delta: the same 1,000-row step over a state of 10 M rows and over one of 100 k rows.

Steps over the two states alternate in one process, so that what else the machine does hits both.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.figures import record

PROGRAM = """
CREATE TABLE orders (id BIGINT, customer BIGINT, amount BIGINT);
CREATE TABLE customer (id BIGINT, region BIGINT);
CREATE VIEW turnover AS
SELECT c.id, c.region, count(*) AS orders, sum(o.amount) AS total
FROM orders o JOIN customer c ON o.customer = c.id
GROUP BY c.id, c.region;
"""
SMALL, LARGE = 100_000, 10_000_000
DELTA = 1_000
LOAD = 500_000
ROUNDS = 40


def orders(random: np.random.Generator, first: int, count: int, customers: int) -> pa.Table:
    columns = {
        "id": np.arange(first, first + count),
        "customer": random.integers(0, customers, count),
        "amount": random.integers(0, 1_000, count),
    }
    return pa.table(columns)


class Loaded:
    """A pipeline over `rows` orders, ten a customer."""

    def __init__(self, pipeline, rows: int) -> None:
        self.pipeline, self.rows, self.customers = pipeline, rows, rows // 10
        self.random = np.random.default_rng(rows)
        ids = np.arange(self.customers)
        pipeline.insert("customer", pa.table({"id": ids, "region": ids % 7}))
        for first in range(0, rows, LOAD):
            count = min(LOAD, rows - first)
            pipeline.insert("orders", orders(self.random, first, count, self.customers))
            pipeline.step()

    def queue(self) -> None:
        self.pipeline.insert("orders", orders(self.random, self.rows, DELTA, self.customers))
        self.rows += DELTA

    def step(self) -> float:
        began = time.perf_counter()
        self.pipeline.step()
        return time.perf_counter() - began


@pytest.mark.parametrize("runner", ["inline", "spark"])
def test_a_step_over_a_hundred_times_the_state(benchmark, opened, runner):
    small = Loaded(opened(PROGRAM, runner, "small"), SMALL)
    large = Loaded(opened(PROGRAM, runner, "large"), LARGE)
    beside: list[float] = []

    def small_step_first() -> None:
        small.queue()
        beside.append(small.step())
        large.queue()

    benchmark.pedantic(large.step, setup=small_step_first, rounds=ROUNDS, warmup_rounds=5)
    what = f"{DELTA:,}-row step, join + group-by, {runner} runner"
    record(benchmark, what, f"over {LARGE:,} rows", beside=(f"over {SMALL:,} rows", beside[5:]))
