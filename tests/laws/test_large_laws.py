"""The laws at sizes where spines have many runs and merges take several steps."""

from __future__ import annotations

import random
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.commands.shown.changelog import json_lines
from dbsp.testing.bags import same_rows
from tests.generators.programs import Program, View, table
from tests.generators.strategies import Row
from tests.laws.laws import PLAIN, Case, Running, Way
from tests.oracles.oracle import arrow_rows

pytestmark = pytest.mark.spark

QUERIES = {
    "joined": "SELECT e.k, e.i, c.j FROM e JOIN c ON e.k = c.k WHERE e.i = 1",
    "grouped": "SELECT k, count(*) AS n, sum(i) AS s, min(x) AS lo, max(x) AS hi FROM e GROUP BY k",
    "by_customer": "SELECT c.j, count(*) AS n, sum(e.x) AS t FROM e JOIN c ON e.k = c.k GROUP BY c.j",
    "seen": "SELECT DISTINCT i, x FROM e",
    "most": "SELECT max(n) AS n, min(lo) AS lo FROM grouped",
}
PROGRAM = Program(
    (table("e", "k BIGINT, i INT, x BIGINT"), table("c", "k BIGINT, j INT", key=("k",))),
    tuple(View(name, query, query) for name, query in QUERIES.items()),
)
KEYS = 400


class Feed:
    """Rows by a seed: hot keys, retractions of random rows, customers that change."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.events: list[Row] = []
        self.customers: dict[int, int] = {}

    def step(self, running: list[Running], size: int) -> None:
        inserted = [self._event() for _ in range(size)]
        self.events += inserted
        self.random.shuffle(self.events)
        gone, self.events = self.events[: size // 2], self.events[size // 2 :]
        changed = {self.random.randrange(KEYS): self.random.randrange(5) for _ in range(size // 20)}
        deleted = [k for k in list(self.customers)[:3] if k not in changed]
        self.customers |= changed
        for k in deleted:
            del self.customers[k]
        events, customers = PROGRAM.tables
        for each in running:
            each.pipeline.insert("e", arrow_rows(events, inserted))
            each.pipeline.delete("e", arrow_rows(events, gone))
            each.pipeline.upsert("c", arrow_rows(customers, list(changed.items())))
            if deleted:
                each.pipeline.delete("c", pa.table({"k": pa.array(deleted, pa.int64())}))

    def _event(self) -> Row:
        return (
            int(KEYS * self.random.random() ** 3),
            self.random.randrange(4),
            self.random.randrange(10**6) if self.random.randrange(50) else None,
        )

    def views(self) -> dict[str, list[Row]]:
        with duckdb.connect(config={"threads": 1}) as connection:
            held: dict[str, list[Row]] = {"e": self.events, "c": list(self.customers.items())}
            for item in PROGRAM.tables:
                rows = arrow_rows(item, held[item.name])
                connection.register("loaded", rows)
                connection.execute(f"CREATE TABLE {item.name} AS SELECT * FROM loaded")
            for name, query in QUERIES.items():
                connection.execute(f"CREATE TABLE {name} AS {query}")
            return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in QUERIES}


def step(running: Running) -> str:
    return "\n".join(json_lines(running.pipeline.step()))


@pytest.mark.parametrize(
    ("steps", "size"),
    [pytest.param(8, 3000, id="growing"), pytest.param(12, 400, id="many small steps")],
)
def test_incremental_equals_batch_in_every_way(spark: Any, steps: int, size: int) -> None:
    case = Case.of(PROGRAM, spark)
    feed = Feed(steps)
    ways = [PLAIN, Way(partitions=3, small=0, piecemeal=True), Way(small=64, reopened=True)]
    with (
        Running(case, ways[0]) as plain,
        Running(case, ways[1]) as pieces,
        Running(case, ways[2]) as reopened,
    ):
        all_ = [plain, pieces, reopened]
        for number in range(1, steps + 1):
            feed.step(all_, size)
            logs = [step(running) for running in all_]
            assert logs[0] == logs[1] == logs[2], f"step {number}"
            if number % 4 == 0:
                for view, expected in feed.views().items():
                    for running in all_:
                        found = [tuple(row.values()) for row in running.pipeline[view].rows()]
                        assert (difference := same_rows(found, expected)) is None, (number, view, difference)


def test_collisions_of_thousands_of_rows(spark: Any) -> None:
    """Sixteen hashes for everything: slow, and right."""
    case = Case.of(PROGRAM, spark)
    feed = Feed(1)
    with Running(case) as plain, Running(case, Way(seed=FOUR_BITS, partitions=2)) as colliding:
        for _ in range(3):
            feed.step([plain, colliding], 300)
            assert step(plain) == step(colliding)


@pytest.mark.slow
def test_large_steps_on_spark(spark: Any) -> None:
    """Deltas beyond a single task, staged in files."""
    case = Case.of(PROGRAM, spark)
    feed = Feed(2)
    with Running(case) as plain, Running(case, Way("spark", 2, spark=spark)) as other:
        for _ in range(3):
            feed.step([plain, other], 30_000)
            assert step(plain) == step(other)


def test_state_does_not_grow_with_history(spark: Any) -> None:
    """A thousand rows coming and going leave no more behind than ten."""
    case = Case.of(PROGRAM, spark)
    events = PROGRAM.tables[0]
    rows = [(k % 7, k % 3, k) for k in range(1000)]
    with Running(case) as running:
        sizes = []
        for _ in range(12):
            running.pipeline.insert("e", arrow_rows(events, rows))
            running.pipeline.step()
            running.pipeline.delete("e", arrow_rows(events, rows))
            running.pipeline.step()
            sizes.append(sum(running.state_rows().values()))
        assert np.all(np.array(sizes) == sizes[0]), sizes
