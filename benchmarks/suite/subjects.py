"""All that `make bench` measures, by name; each in a process of its own, whose memory is its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.suite import flink, follows, nexmark, orders_in_and_out, small_steps
from benchmarks.suite.measurement import Measurement
from benchmarks.suite.nexmark import QUERIES

Run = Callable[[], Iterator[Measurement]]
STEADY = ("q4", "q9")


@dataclass(frozen=True)
class Effort:
    """share: of the steps of the whole suite. most: rows of the state's curve. scales: of TPC-H."""

    share: float = 1.0
    most: int = 10_000_000
    scales: tuple[float, ...] = (0.1,)

    def steps(self, whole: int) -> int:
        return max(2, round(whole * self.share))


def subjects(effort: Effort, with_flink: Path | None = None) -> dict[str, Run]:
    """In the order of the report."""
    steps = effort.steps
    events = 100_000 * steps(30)
    runs: dict[str, Run] = {
        f"in-process-{query}": partial(nexmark.in_process, query, steps(30)) for query in QUERIES
    }
    runs |= {f"steady-{query}": partial(nexmark.in_process, query, steps(100)) for query in STEADY}
    runs["spark-100k"] = partial(nexmark.on_spark, QUERIES, 100_000, steps(12))
    runs["spark-500k"] = partial(nexmark.on_spark, ("q0", "q4", "q9", "q20"), 500_000, steps(5))
    runs["structured-streaming"] = partial(nexmark.streaming, QUERIES, steps(12))
    runs["duckdb"] = partial(nexmark.recomputed, QUERIES, events)
    if with_flink is not None:
        runs["flink"] = partial(flink.jobs, with_flink, QUERIES, events)
    runs["small-in-process"] = partial(small_steps.stepping, "inline", steps(200))
    runs["small-spark"] = partial(small_steps.stepping, "spark", steps(100))
    runs["small-files"] = partial(small_steps.from_files, steps(40))
    for scale in effort.scales:
        runs[f"tpch-{scale:g}"] = partial(orders_in_and_out.kept, scale, steps(12))
        runs[f"tpch-{scale:g}-spark"] = partial(orders_in_and_out.by_spark, scale)
        runs[f"tpch-{scale:g}-duckdb"] = partial(orders_in_and_out.recomputed, scale)
    runs["curve-delta"] = partial(follows.of_delta, steps(10))
    runs["curve-state"] = partial(follows.of_state, effort.most, steps(20))
    runs["curve-views"] = partial(follows.of_views, steps(20))
    runs["curve-skew"] = partial(follows.of_skew, steps(10))
    return runs
