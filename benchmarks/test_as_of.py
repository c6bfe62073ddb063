"""The same small step through ASOF JOIN, and through the numbered pairs that say the same without it."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from benchmarks.figures import record

TABLES = """
CREATE TABLE orders (id BIGINT, product BIGINT, t BIGINT);
CREATE TABLE price (product BIGINT, t BIGINT, price BIGINT);
CREATE VIEW priced AS {};
"""
AS_OF = """
SELECT o.id, p.price FROM orders o ASOF JOIN price p MATCH_CONDITION (o.t >= p.t) ON o.product = p.product
"""
NUMBERED = """
SELECT id, price FROM (
  SELECT o.id, p.price, row_number() OVER (PARTITION BY o.id ORDER BY p.t DESC) AS n
  FROM orders o JOIN price p ON o.product = p.product AND o.t >= p.t)
WHERE n = 1
"""
PRODUCTS, VERSIONS, ORDERS, DELTA, ROUNDS = 100, 1_000, 2_000, 100, 20


class Loaded:
    """A pipeline over so many orders and the prices of their products, each of another time."""

    def __init__(self, pipeline) -> None:
        self.pipeline, self.orders = pipeline, 0
        self.random = np.random.default_rng(0)
        times = self.random.permutation(PRODUCTS * VERSIONS)
        products = np.repeat(np.arange(PRODUCTS), VERSIONS)
        pipeline.insert("price", pa.table({"product": products, "t": times, "price": times % 97}))
        self.queue(ORDERS)
        pipeline.step()

    def queue(self, count: int = DELTA) -> None:
        """Orders, and ten prices that fall between those there are."""
        ids = np.arange(self.orders, self.orders + count)
        columns = {"id": ids, "product": self.random.integers(0, PRODUCTS, count)}
        times = self.random.integers(0, PRODUCTS * VERSIONS, count)
        self.pipeline.insert("orders", pa.table({**columns, "t": times}))
        self.orders += count
        changed = {"product": columns["product"][:10], "t": times[:10], "price": ids[:10]}
        self.pipeline.insert("price", pa.table(changed))

    def step(self) -> float:
        began = time.perf_counter()
        self.pipeline.step()
        return time.perf_counter() - began


def test_a_step_of_a_join_as_of_a_time(benchmark, opened):
    nearest = Loaded(opened(TABLES.format(AS_OF), "inline", "nearest"))
    numbered = Loaded(opened(TABLES.format(NUMBERED), "inline", "numbered"))
    beside: list[float] = []

    def numbered_pairs_first() -> None:
        numbered.queue()
        beside.append(numbered.step())
        nearest.queue()

    benchmark.pedantic(nearest.step, setup=numbered_pairs_first, rounds=ROUNDS, warmup_rounds=2)
    assert nearest.pipeline["priced"].rows() == numbered.pipeline["priced"].rows()
    what = f"{DELTA} orders and 10 prices, as of their time"
    record(benchmark, what, "ASOF JOIN", beside=("row_number() = 1 of all pairs", beside[2:]))
