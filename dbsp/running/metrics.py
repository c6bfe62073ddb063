"""What a step did, in numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.progress.waterline import as_shown
from dbsp.circuits.segments.origin import Traffic
from dbsp.circuits.steps.state import State, TaskResult

Key = TypeVar("Key")
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Metrics:
    """rows_in: per table. rows_out: changed rows per view, before those of several tasks are added up.

    seconds: of the step on the driver's clock, the sum of its phases 'plan', 'tasks' and 'commit'; `phases`
    has 'deliver' too, where there are sinks, and 'read' in a micro-batch: what it took for its rows to come.
    level_seconds: per level, the sum over its tasks. late: rows left out as late, per relation. collected:
    rows dropped from state. traffic: with the store that the state is on, of the driver and all tasks; of a
    local directory nothing. put_out, spent: per node the rows of its change, before those of several tasks
    are added up, and the seconds of its tasks, without what is written.
    """

    circuit: Circuit = field(repr=False)
    state: State = field(repr=False)
    rows_in: dict[str, int]
    rows_out: dict[str, int]
    seconds: float
    level_seconds: dict[int, float]
    late: dict[str, int] = field(default_factory=dict)
    collected: int = 0
    traffic: Traffic = field(default_factory=Traffic)
    phases: dict[str, float] = field(default_factory=dict)
    put_out: dict[int, int] = field(default_factory=dict, repr=False)
    spent: dict[int, float] = field(default_factory=dict, repr=False)

    @property
    def late_rows(self) -> int:
        """Rows left out as late, in all."""
        return sum(self.late.values())

    @cached_property
    def waterlines(self) -> dict[str, object]:
        """What lateness proves after the step, per annotated column that has had a value."""
        return {name: waterline.as_py() for name, waterline in as_shown(self.state.waterlines).items()}

    @cached_property
    def state_rows(self) -> dict[str, int]:
        """Rows stored, per operator that keeps any."""
        return {self.circuit.label(node): rows for node, rows in sorted(self.state.rows().items())}

    @cached_property
    def state_bytes(self) -> dict[str, int]:
        """Bytes stored, per operator that keeps any."""
        return {self.circuit.label(node): size for node, size in sorted(self.state.bytes().items())}

    @cached_property
    def state_segments(self) -> dict[str, int]:
        """Files with rows, per operator that keeps any."""
        return {self.circuit.label(node): count for node, count in sorted(self.state.files().items())}

    @staticmethod
    def of(
        circuit: Circuit,
        state: State,
        results: Iterable[TaskResult],
        phases: dict[str, float],
        traffic: Traffic,
    ) -> Metrics:
        """state: after the step. phases: all but the delivery. traffic: of the driver's process."""
        results = list(results)
        out = ({view: chunk.rows for view, chunk in result.changes.items()} for result in results)
        return Metrics(
            circuit,
            state,
            rows_in=_sums(result.rows_in for result in results),
            rows_out={output.view: 0 for output in circuit.outputs} | _sums(out),
            seconds=sum(phases.values()),
            level_seconds=_sums(result.seconds for result in results),
            late=_sums(result.late for result in results),
            collected=sum(sum(result.collected.values()) for result in results),
            traffic=sum((result.traffic for result in results), traffic),
            phases=phases,
            put_out=_sums(result.put_out for result in results),
            spent=_sums(result.spent for result in results),
        )


def _sums(parts: Iterable[dict[Key, Number]]) -> dict[Key, Number]:
    """Of all parts, key by key; of most steps there is one part."""
    total: dict[Key, Number] = {}
    for part in parts:
        if not total:
            total.update(part)
            continue
        for key, number in part.items():
            total[key] = total[key] + number if key in total else number
    return total
