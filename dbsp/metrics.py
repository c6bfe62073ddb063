"""What a step did, in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from circuits.circuit import Circuit
from circuits.state import State, TaskResult


@dataclass(frozen=True)
class Metrics:
    """rows_in: per table. rows_out: changed rows per view, before those of several tasks are added up.

    seconds: of the whole step, on the driver's clock. level_seconds: per level, the sum over its tasks.
    late_rows: rows below a waterline. waterlines: per annotated column.
    """

    circuit: Circuit = field(repr=False)
    state: State = field(repr=False)
    rows_in: dict[str, int]
    rows_out: dict[str, int]
    seconds: float
    level_seconds: dict[int, float]
    late_rows: int = 0
    waterlines: Mapping[str, object] = field(default_factory=dict)

    @cached_property
    def state_rows(self) -> dict[str, int]:
        """Rows stored, per operator that keeps any."""
        return {label(self.circuit, node): rows for node, rows in sorted(self.state.rows().items())}

    @cached_property
    def state_bytes(self) -> dict[str, int]:
        """Bytes stored, per operator that keeps any."""
        return {label(self.circuit, node): size for node, size in sorted(self.state.bytes().items())}

    @staticmethod
    def of(circuit: Circuit, state: State, results: Iterable[TaskResult], seconds: float) -> Metrics:
        """state: after the step."""
        rows_in: dict[str, int] = {}
        rows_out = {output.view: 0 for output in circuit.outputs}
        levels: dict[int, float] = {}
        for result in results:
            for table, rows in result.rows_in.items():
                rows_in[table] = rows_in.get(table, 0) + rows
            for view, chunk in result.changes.items():
                rows_out[view] += chunk.rows
            for level, spent in result.seconds.items():
                levels[level] = levels.get(level, 0.0) + spent
        return Metrics(circuit, state, rows_in, rows_out, seconds, levels)


def label(circuit: Circuit, node: int) -> str:
    """A node for people: `7 Integrate per_auction`."""
    named = circuit.nodes[node].name
    return f"{node} {type(circuit.nodes[node].operator).__name__}" + (f" {named}" if named else "")
