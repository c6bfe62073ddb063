"""Which trace of a circuit holds a stream: all rows of a table, or of what a plan gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Program

if TYPE_CHECKING:
    from dbsp.sql.lowering.context.lowering import Lowering


def arranged(stored: ZSet, at: Sequence[int], schema: pa.Schema) -> ZSet:
    """The columns that lie there, under a schema's names. Nothing is copied."""
    return ZSet(
        pa.RecordBatch.from_arrays([stored.rows.column(i) for i in at], schema=schema), stored.weights
    )


@dataclass(frozen=True)
class Traces:
    """Of a program's circuit: which holds a stream. Found out once."""

    program: Program

    @property
    def circuit(self) -> Circuit:
        return self.program.circuit

    @cached_property
    def _lowering(self) -> Lowering:
        from dbsp.sql.lowering.program import lowering_of  # noqa: PLC0415  a step has its circuit

        return lowering_of(self.program.inputs, self.program.views)

    @cached_property
    def _streams(self) -> Mapping[int, tuple[str, tuple[str, ...]]]:
        streams = self._lowering.builder.build().streams
        return {i: (stream.rows, stream.columns) for i, stream in enumerate(streams)}

    @cached_property
    def _held(self) -> list[tuple[int, str, dict[str, int]]]:
        """Per trace or log that is a stream's integral: its node, its rows, and where each column lies."""
        circuit = self.circuit
        return [
            (i, circuit.streams[i].rows, {digest: at for at, digest in enumerate(circuit.streams[i].columns)})
            for i in sorted(circuit.names)
            if i in circuit.logs or circuit.nodes[i].operator.is_trace
        ]

    def of_table(self, name: str, arrival: bool, rowtime: bool = False) -> list[tuple[int, list[int]]]:
        """The traces of its rows, each with where the columns lie."""
        node = self._lowering.relations[name].beside(rowtime, arrival)
        return [] if node is None else self._of(node)

    def received(self, name: str) -> list[list[tuple[int, list[int]]]]:
        """Of a table with WATERMARK the traces of all rows that came, and then those of what waits of them.

        A table's rows are the first less the others. Of another table there is nothing to say.
        """
        relation = self._lowering.relations[name]
        nodes = () if relation.received is None else (relation.received, *relation.waiting)
        return [self._of(node) for node in nodes]

    def of_plan(self, plan: Plan) -> list[tuple[int, list[int]]]:
        """The same of what a plan gives, where a node of the circuit does."""
        node = self._lowering.node_of(plan)
        return [] if node is None else self._of(node)

    def _of(self, node: int) -> list[tuple[int, list[int]]]:
        rows, columns = self._streams[node]
        return [
            (trace, [at[column] for column in columns])
            for trace, kept, at in self._held
            if kept == rows and at.keys() >= set(columns)
        ]
