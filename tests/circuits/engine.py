"""Runs a circuit step by step, in every way that must not matter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.contents import changes, contents, open_chunk
from dbsp.circuits.steps.state import State
from dbsp.circuits.steps.step import run_step
from dbsp.circuits.steps.task import Input, Step
from dbsp.circuits.traces.spine import SMALL
from dbsp.circuits.traces.zset import ZSet
from dbsp.circuits.verify import verify


@dataclass(frozen=True)
class Options:
    """partitions: tasks a level. small: runs below it are merged at once (0: none). parts: batches a delta.

    reopened: the state goes through JSON, and files through new maps, at every step.
    """

    partitions: int = 1
    small: int = SMALL
    reopened: bool = False
    parts: int = 1


class Engine:
    """Keeps the state that a driver would keep."""

    def __init__(self, circuit: Circuit, root: Path, options: Options | None = None) -> None:
        verify(circuit)
        self.circuit, self.root, self.options = circuit, root, options or Options()
        self.state = State.empty(circuit, self.options.small)
        self.segments = Segments(root)
        self.steps = 0

    def step(
        self, deltas: Mapping[str, ZSet], clock: datetime | None = None, ending: bool = False
    ) -> dict[str, ZSet]:
        """Each view's delta, consolidated."""
        self.steps += 1
        step = Step(
            number=self.steps,
            state=self.state,
            segment=f"{self.steps:06d}",
            partitions=self.options.partitions,
            clock=clock,
            ending=ending,
        )
        inputs = {table: self._inputs(delta) for table, delta in deltas.items()}
        results = run_step(self.circuit, step, inputs, self.segments)
        for result in results:
            self._check_sorted(result.written)
        self.state = self.state.apply(results)
        if self.options.reopened:
            self.segments = Segments(self.root)
            saved = json.loads(json.dumps(self.state.to_json(self.circuit)))
            self.state = State.from_json(self.circuit, saved, self.options.small)
        found = {}
        for output in self.circuit.outputs:
            chunks = [result.changes[output.view] for result in results if output.view in result.changes]
            found[output.view] = changes(self.circuit, output.view, chunks, self.segments)
        return found

    def _check_sorted(self, written: Mapping[int, Chunk | None]) -> None:
        """Of traces, which are searched."""
        for node, chunk in written.items():
            if chunk is not None and node in self.circuit.layouts:
                keys = open_chunk(self.circuit, node, chunk, self.segments).keys
                assert (keys[1:] >= keys[:-1]).all(), f"{self.circuit.label(node)} is not sorted"
                assert (chunk.low, chunk.high) == (keys[0], keys[-1]), self.circuit.label(node)

    def view(self, name: str) -> ZSet:
        return contents(self.circuit, self.state, name, self.segments)

    def _inputs(self, delta: ZSet) -> list[Input]:
        batch = delta.to_batch()
        size = -(-batch.num_rows // self.options.parts) or 1
        return [Input(i * size, batch.slice(i * size, size)) for i in range(self.options.parts)]


def source(builder: CircuitBuilder, table: str, schema: pa.Schema) -> int:
    """A table's node."""
    builder.sources[table] = builder.add(Source(table, schema), name=table)
    return builder.sources[table]


def trace(builder: CircuitBuilder, node: int, columns: tuple[int, ...] | None = None) -> int:
    """The node's integral, placed by some columns: all of them unless given."""
    columns = tuple(range(len(builder.nodes[node].schema))) if columns is None else columns
    return builder.add(Integrate(columns), builder.placed(node, columns))


def output(builder: CircuitBuilder, view: str, node: int) -> None:
    """A view that is kept in a trace."""
    kept = trace(builder, node)
    builder.output(view, builder.nodes[kept].inputs[0], kept)
