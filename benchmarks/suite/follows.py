"""What a step's time follows: the size of the change, of the state, the number of views, and skew.

Each is a curve: one thing grows, all else stays. In process.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from benchmarks.suite.measurement import Measurement
from benchmarks.suite.stepping import Opened, Subject, stepped

TABLES = """
CREATE TABLE orders (id BIGINT, customer BIGINT, amount BIGINT);
CREATE TABLE customer (id BIGINT, region BIGINT);
"""
TURNOVER = """
CREATE VIEW turnover{n} AS
SELECT c.id, c.region, count(*) AS orders, sum(o.amount) AS total
FROM orders o JOIN customer c ON o.customer = c.id AND o.amount >= {n}
GROUP BY c.id, c.region;
"""
CUSTOMERS = 100_000
LOAD = 500_000
STATE = 1_000_000


def of_delta(steps: int) -> Iterator[Measurement]:
    """Rows of a step: 10² to 10⁶, over a million orders."""
    for rows in (100, 1_000, 10_000, 100_000, 1_000_000):
        made = max(3, steps * min(1, 100_000 // rows))
        yield from _measured("delta", "rows in a step", rows, STATE, rows, 1, 0.0, made)


def of_state(most: int, steps: int) -> Iterator[Measurement]:
    """Orders that are there: 10⁵ to `most`, for steps of 1,000 rows."""
    held = 100_000
    while held <= most:
        yield from _measured("state", "rows of state", held, held, 1_000, 1, 0.0, steps)
        held *= 10


def of_views(steps: int) -> Iterator[Measurement]:
    """Views in the program, none of which shares more than the tables; steps of 1,000 rows."""
    for views in (1, 2, 4, 8, 16, 32):
        yield from _measured("views", "views", views, 100_000, 1_000, views, 0.0, steps)


def of_skew(steps: int) -> Iterator[Measurement]:
    """Percent of a step's 10,000 orders that are one customer's, of the state's too."""
    for percent in (1, 3, 10, 30, 90):
        yield from _measured("skew", "percent of one key", percent, STATE, 10_000, 1, percent / 100, steps)


def _measured(
    curve: str, axis: str, at: float, held: int, delta: int, views: int, skew: float, steps: int
) -> Iterator[Measurement]:
    random = np.random.default_rng(0)
    sql = TABLES + "".join(TURNOVER.format(n=n) for n in range(views))
    with Opened(sql, "inline") as pipeline:
        ids = np.arange(CUSTOMERS)
        pipeline.insert("customer", pa.table({"id": ids, "region": ids % 7}))
        for first in range(0, held, LOAD):
            pipeline.insert("orders", _orders(random, first, min(LOAD, held - first), skew))
            pipeline.step()

        def queue(n: int) -> None:
            pipeline.insert("orders", _orders(random, held + n * delta, delta, skew))

        subject = Subject(f"Curves: {curve}", f"{at:,g} {axis}", "join + group-by", delta, at)
        yield stepped(subject, pipeline, queue, steps, warm_up=3)


def _orders(random: np.random.Generator, first: int, count: int, skew: float) -> pa.Table:
    customers = random.integers(0, CUSTOMERS, count)
    customers[random.random(count) < skew] = 0
    columns = {"id": np.arange(first, first + count), "customer": customers}
    return pa.table(columns | {"amount": random.integers(100, 1_000, count)})
