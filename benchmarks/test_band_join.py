"""A band join looks within its band: the same small step over a large state, with and without what bounds it.

Both programs say the same of pairs. Of `abs(c.t - i.t) <= 5` nothing can be told about where a row's matches
lie, so that every row of the other side is looked at, as a join by BETWEEN would without its order.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from benchmarks.figures import record

PROGRAM = """
CREATE TABLE click (id BIGINT, t BIGINT);
CREATE TABLE impression (id BIGINT, t BIGINT);
CREATE VIEW near AS SELECT c.id AS click, i.id AS impression FROM click c JOIN impression i ON {};
"""
BETWEEN, BY_PAIRS = "c.t BETWEEN i.t - 5 AND i.t + 5", "abs(c.t - i.t) <= 5"
ROWS, DELTA, ROUNDS = 200_000, 100, 10


def times(random: np.random.Generator, first: int, count: int) -> pa.Table:
    """Events ten to a unit of time."""
    return pa.table({"id": np.arange(first, first + count), "t": random.integers(0, ROWS // 10, count)})


class Loaded:
    """A pipeline over so many impressions and few clicks."""

    def __init__(self, pipeline) -> None:
        self.pipeline, self.clicks = pipeline, 0
        self.random = np.random.default_rng(0)
        pipeline.insert("impression", times(self.random, 0, ROWS))
        pipeline.step()

    def queue(self) -> None:
        self.pipeline.insert("click", times(self.random, self.clicks, DELTA))
        self.clicks += DELTA

    def step(self) -> float:
        began = time.perf_counter()
        self.pipeline.step()
        return time.perf_counter() - began


def test_a_step_of_a_band_join(benchmark, opened):
    bounded = Loaded(opened(PROGRAM.format(BETWEEN), "inline", "bounded"))
    by_pairs = Loaded(opened(PROGRAM.format(BY_PAIRS), "inline", "pairs"))
    beside: list[float] = []

    def every_pair_first() -> None:
        by_pairs.queue()
        beside.append(by_pairs.step())
        bounded.queue()

    benchmark.pedantic(bounded.step, setup=every_pair_first, rounds=ROUNDS, warmup_rounds=1)
    assert bounded.pipeline["near"].rows() == by_pairs.pipeline["near"].rows()
    what = f"{DELTA}-row step, join of {ROWS:,} rows within a band"
    record(benchmark, what, "by BETWEEN", beside=("by every pair", beside[1:]))
