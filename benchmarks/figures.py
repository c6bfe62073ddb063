"""What a benchmark leaves for the report: who did what, and the seconds of every round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any


@dataclass(frozen=True)
class Figure:
    """seconds: of every round, at least one. events: per round, or 0 where that isn't the question."""

    what: str
    who: str
    seconds: tuple[float, ...]
    events: int = 0

    @property
    def p50(self) -> float:
        return median(self.seconds)

    @property
    def p95(self) -> float:
        if len(self.seconds) == 1:
            return self.seconds[0]
        return quantiles(self.seconds, n=20, method="inclusive")[-1]

    @property
    def events_per_second(self) -> float:
        return self.events * len(self.seconds) / sum(self.seconds)


def record(
    benchmark: Any,
    what: str,
    who: str,
    events: int = 0,
    seconds: Sequence[float] | None = None,
    beside: tuple[str, Sequence[float]] | None = None,
) -> None:
    """Keep a figure, and one measured beside it, in the benchmark's JSON.

    seconds: where the rounds were not pytest-benchmark's.
    """
    seconds = benchmark.stats.stats.data if seconds is None else seconds
    figures = [{"what": what, "who": who, "seconds": list(seconds), "events": events}]
    if beside is not None:
        figures.append({"what": what, "who": beside[0], "seconds": list(beside[1]), "events": events})
    benchmark.extra_info["figures"] = figures


def read(report: dict[str, Any]) -> list[Figure]:
    """The figures of a pytest-benchmark JSON report, in its order."""
    return [
        Figure(**{**figure, "seconds": tuple(figure["seconds"])})
        for benchmark in report["benchmarks"]
        for figure in benchmark["extra_info"].get("figures", ())
    ]
