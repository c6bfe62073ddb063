"""How soon a small step is done: 100 rows through a join and two group-bys, committed."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.figures import record

PROGRAM = """
CREATE TABLE orders (id BIGINT, customer BIGINT, amount BIGINT);
CREATE TABLE customer (id BIGINT, region BIGINT);
CREATE VIEW by_customer AS
SELECT c.id, c.region, sum(o.amount) AS total
FROM orders o JOIN customer c ON o.customer = c.id
GROUP BY c.id, c.region;
CREATE VIEW by_region AS
SELECT region, count(*) AS customers, max(total) AS best FROM by_customer GROUP BY region;
"""
CUSTOMERS = 10_000
DELTA = 100


@pytest.mark.parametrize("runner", ["inline", "spark"])
def test_a_small_step(benchmark, opened, runner):
    pipeline = opened(PROGRAM, runner)
    random = np.random.default_rng(0)
    ids = np.arange(CUSTOMERS)
    pipeline.insert("customer", pa.table({"id": ids, "region": ids % 7}))

    def queue(rows: int = DELTA) -> None:
        columns = {"id": np.arange(rows), "customer": random.integers(0, CUSTOMERS, rows)}
        pipeline.insert("orders", pa.table(columns | {"amount": random.integers(0, 1_000, rows)}))

    queue(100_000)
    pipeline.step()
    benchmark.pedantic(pipeline.step, setup=queue, rounds=100, warmup_rounds=20)
    record(benchmark, f"{DELTA}-row step, join + two group-bys", f"{runner} runner")
