"""What lateness costs, and what it buys: steps with and without it, and late ones beside early ones.

Without late events, filtering by waterlines is all that LATENESS adds to a projection. Over windows, rows
that no future event can reach are collected, so that a step does not get slower as events go by.
"""

from __future__ import annotations

import os
import time

import pytest

from benchmarks.figures import record
from benchmarks.nexmark.generator import Generator

LATENESS = "LATENESS INTERVAL 4 SECONDS"
STEP = 200_000
EVENTS = int(os.environ.get("DBSP_BENCHMARK_EVENTS", "20000000"))
ROUNDS = 30

TABLES = """
CREATE TABLE person (id BIGINT, name STRING, dateTime TIMESTAMP {lateness}) WITH (append_only = true);
CREATE TABLE auction (id BIGINT, seller BIGINT, dateTime TIMESTAMP {lateness}) WITH (append_only = true);
CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, dateTime TIMESTAMP {lateness}, extra STRING
) WITH (append_only = true);
"""
COLUMNS = {
    "person": ["id", "name", "dateTime"],
    "auction": ["id", "seller", "dateTime"],
    "bid": ["auction", "bidder", "price", "dateTime", "extra"],
}
Q0 = "CREATE VIEW q0 AS SELECT auction, bidder, price, dateTime, extra FROM bid;"
WINDOWED = {
    # The auctions with the most bids in the last 10 seconds, every 2 seconds.
    "q5": """
CREATE LOCAL VIEW bids AS
SELECT auction, window.start AS starts, count(*) AS number
FROM bid GROUP BY auction, window(dateTime, '10 seconds', '2 seconds');
CREATE VIEW q5 AS
SELECT b.auction, b.starts, b.number
FROM bids b JOIN (SELECT starts, max(number) AS most FROM bids GROUP BY starts) m
  ON b.starts = m.starts AND b.number = m.most;
""",
    # The highest bids of every 10 seconds.
    "q7": """
CREATE LOCAL VIEW windowed AS
SELECT window(dateTime, '10 seconds').start AS starts, auction, price, bidder FROM bid;
CREATE VIEW q7 AS
SELECT w.auction, w.price, w.bidder, w.starts
FROM windowed w JOIN (SELECT starts, max(price) AS highest FROM windowed GROUP BY starts) m
  ON w.starts = m.starts AND w.price = m.highest;
""",
    # Who opened an auction in the 10 seconds in which they joined.
    "q8": """
CREATE VIEW q8 AS
SELECT DISTINCT p.id, p.name, p.starts
FROM (SELECT id, name, window(dateTime, '10 seconds').start AS starts FROM person) p
JOIN (SELECT seller, window(dateTime, '10 seconds').start AS starts FROM auction) a
  ON p.id = a.seller AND p.starts = a.starts;
""",
}


class Fed:
    """A pipeline over Nexmark's events, a step's worth after the other."""

    def __init__(self, pipeline) -> None:
        self.pipeline = pipeline

    def queue(self, events) -> None:
        for table, rows in events.items():
            self.pipeline.insert(table, rows.select(COLUMNS[table]))

    def step(self) -> float:
        began = time.perf_counter()
        self.changes = self.pipeline.step()
        return time.perf_counter() - began

    @property
    def kept(self) -> int:
        """Rows of state, those of views apart."""
        circuit, rows = self.pipeline.program.circuit, self.changes.metrics.state.rows()
        return sum(rows[node] for node in circuit.layouts)


def test_q0_with_and_without(benchmark, opened):
    late = Fed(opened(TABLES.format(lateness=LATENESS) + Q0, "inline", "late"))
    plain = Fed(opened(TABLES.format(lateness="") + Q0, "inline", "plain"))
    generator, with_, without = Generator(), [], []

    def both() -> None:
        """In turns: a step pays for what the one before it left the disk to do."""
        position = STEP * len(with_)
        events = generator.events(position, position + STEP)
        pairs = [(late, with_), (plain, without)]
        for fed, seconds in pairs if len(with_) % 2 else reversed(pairs):
            fed.queue(events)
            seconds.append(fed.step())

    benchmark.pedantic(both, rounds=ROUNDS, warmup_rounds=5)
    record(
        benchmark,
        f"q0, steps of {STEP:,} events in process",
        "with LATENESS",
        events=STEP,
        seconds=with_[5:],
        beside=("without", without[5:]),
    )


@pytest.mark.parametrize("query", WINDOWED)
def test_steps_stay_as_fast(benchmark, opened, query):
    fed = Fed(opened(TABLES.format(lateness=LATENESS) + WINDOWED[query], "inline"))
    generator, steps, kept = Generator(), EVENTS // STEP, []
    seconds: list[float] = []

    def run() -> None:
        for position in range(0, EVENTS, STEP):
            fed.queue(generator.events(position, position + STEP))
            seconds.append(fed.step())
            kept.append(fed.kept)

    benchmark.pedantic(run, rounds=1)
    tenth = max(steps // 10, 1)
    record(
        benchmark,
        f"{query} with LATENESS, {EVENTS:,} events in steps of {STEP:,} in process",
        f"the last tenth, at most {max(kept[-tenth:]):,} rows kept",
        STEP,
        seconds[-tenth:],
        (f"the second tenth, at most {max(kept[tenth : 2 * tenth]):,} rows kept", seconds[tenth : 2 * tenth]),
    )
