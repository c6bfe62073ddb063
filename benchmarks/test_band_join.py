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


INTERVALS = """
CREATE TABLE event (id BIGINT, t BIGINT);
CREATE TABLE period (id BIGINT, starts BIGINT, ends BIGINT);
CREATE VIEW during AS SELECT e.id AS event, p.id AS period FROM event e JOIN period p ON {};
"""
BY_SPANS = "e.t BETWEEN p.starts AND p.ends"
# the product says the same, and bounds the end of a period only
HALF_OPEN = "p.ends >= e.t AND p.starts - e.t <= 0"


class Periods(Loaded):
    """A pipeline over so many periods, one of a hundred of them a thousand times as long, and few events."""

    def __init__(self, pipeline) -> None:
        self.pipeline, self.clicks = pipeline, 0
        self.random = np.random.default_rng(0)
        starts = self.random.integers(0, ROWS * 10, ROWS)
        length = np.where(self.random.integers(0, 100, ROWS), 10, 10_000)
        pipeline.insert(
            "period", pa.table({"id": np.arange(ROWS), "starts": starts, "ends": starts + length})
        )
        pipeline.step()

    def queue(self) -> None:
        t = self.random.integers(0, ROWS * 10, DELTA)
        self.pipeline.insert("event", pa.table({"id": np.arange(self.clicks, self.clicks + DELTA), "t": t}))
        self.clicks += DELTA


def test_a_step_of_a_join_by_periods(benchmark, opened):
    spans = Periods(opened(INTERVALS.format(BY_SPANS), "inline", "spans"))
    half = Periods(opened(INTERVALS.format(HALF_OPEN), "inline", "half"))
    beside: list[float] = []

    def half_open_first() -> None:
        half.queue()
        beside.append(half.step())
        spans.queue()

    benchmark.pedantic(spans.step, setup=half_open_first, rounds=ROUNDS, warmup_rounds=1)
    assert spans.pipeline["during"].rows() == half.pipeline["during"].rows()
    what = f"{DELTA}-row step, join with {ROWS:,} periods of a row's own"
    record(benchmark, what, "by BETWEEN", beside=("by one end", beside[1:]))
