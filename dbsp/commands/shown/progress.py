"""How a run is going, in numbers."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from statistics import median

from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.views.changes import Changes

RECENT = 100


@dataclass
class Progress:
    """rows: taken in so far. sizes: rows per view. expected: how many steps this run will make, or None.

    waterlines: by their columns, as of the last step.
    """

    sizes: dict[str, int]
    expected: int | None = None
    step: int = 0
    steps: int = 0
    rows: int = 0
    last: dict[str, tuple[int, int]] = field(default_factory=dict)
    waterlines: dict[str, object] = field(default_factory=dict)
    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    _arrivals: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=RECENT))
    _began: float = field(default_factory=time.monotonic)

    def add(self, changes: Changes) -> None:
        """Count a step. last: per view, rows that came and rows that went."""
        now = time.monotonic()
        rows = sum(changes.metrics.rows_in.values())
        self.step = changes.step
        self.steps += 1
        self.rows += rows
        self.waterlines = changes.metrics.waterlines
        self._seconds.append(changes.metrics.seconds)
        self._arrivals.append((now, rows))
        for view, delta in changes.items():
            weights = delta.zset.weights
            came = int(weights[weights > 0].sum())
            went = -int(weights[weights < 0].sum())
            self.last[view] = (came, went)
            self.sizes[view] += came - went

    @property
    def shown(self) -> dict[str, int]:
        """The sizes, of `bad_rows` only where there are some: a program has it without asking."""
        return {view: size for view, size in self.sizes.items() if size or view != BAD_ROWS}

    @property
    def p50(self) -> float:
        """Of recent steps, in seconds, without what Spark does between them."""
        return median(self._seconds) if self._seconds else 0.0

    @property
    def rate(self) -> float:
        """Rows a second over recent steps, what Spark does between them included."""
        if not self._arrivals:
            return 0.0
        complete = len(self._arrivals) == self.steps
        since = self._began if complete else self._arrivals[0][0]
        rows = sum(rows for _, rows in self._arrivals) - (0 if complete else self._arrivals[0][1])
        return rows / max(self._arrivals[-1][0] - since, 1e-9)

    def line(self) -> str:
        """`step 15 (3 of 12)   30,000 rows   12,000 rows/s   p50 85 ms`"""
        of = f" ({self.steps:,} of {self.expected:,})" if self.expected else ""
        pace = f"{self.rate:,.0f} rows/s   p50 {self.p50 * 1000:.0f} ms"
        return f"step {self.step:,}{of}   {self.rows:,} rows   {pace}"
