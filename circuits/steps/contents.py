"""Reading what is stored: batches of traces and logs, and so the contents and changes of views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import named_views
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.narrow.batch import from_stored
from dbsp.circuits.traces.stored import StoredBatch
from dbsp.circuits.traces.zset import ZSet

# of a chunk that is kept open as the batch that it is
AS_WRITTEN = "as written"


def contents(circuit: Circuit, state: State, view: str, segments: Segments) -> ZSet:
    """The view's rows now, consolidated. O(size of the view)."""
    kept = circuit.output(view).kept
    chunks = state.spines[kept].live
    return _sum(circuit, kept, chunks, segments)


def changes(circuit: Circuit, view: str, chunks: Sequence[Chunk], segments: Segments) -> ZSet:
    """A step's delta of a view, consolidated, from what its tasks recorded."""
    return _sum(circuit, circuit.output(view).changes, chunks, segments)


def is_pending(circuit: Circuit, state: State, segments: Segments) -> bool:
    """Whether the end of all input would emit or release anything. O(keys and rows that wait)."""
    for i, node in enumerate(circuit.nodes):
        for trace in node.operator.waiting(i, node.inputs):
            chunks = state.spines[trace].live
            batches = [open_chunk(circuit, trace, chunk, segments) for chunk in chunks]
            if (Batch.merge(circuit.stored(trace), batches).weights > 0).any():
                return True
    return False


def open_chunk(circuit: Circuit, node: int, chunk: Chunk, segments: Segments) -> Batch:
    """A stored batch of a node's trace or log, which is read, and verified, when it is first looked into."""
    layout = circuit.stored(node)
    written = segments.kept.if_there((chunk,), AS_WRITTEN)
    if isinstance(written, Batch):
        return written

    def read() -> Batch:
        return from_stored(segments.open(chunk, layout.stored_schema, Owner(circuit, node)), layout)

    return StoredBatch(chunk.rows, chunk.low, chunk.high, read)


@dataclass(frozen=True)
class Owner:
    """Whose rows a node's trace or log holds, in words."""

    circuit: Circuit
    node: int

    def __str__(self) -> str:
        nodes = self.circuit.nodes
        near = (self.node, *nodes[self.node].inputs)
        name = next((nodes[i].name for i in near if nodes[i].name), "")
        views = [output.view for output in self.circuit.outputs if output.kept == self.node]
        views = views or self.circuit.views_of(self.node)
        listed = named_views(views)
        if not views or views == [name]:
            return f"'{name}'" if name else type(nodes[self.node].operator).__name__
        return f"'{name}', for {listed}" if name else listed


def _sum(circuit: Circuit, node: int, chunks: Sequence[Chunk], segments: Segments) -> ZSet:
    parts = [open_chunk(circuit, node, chunk, segments).zset for chunk in chunks]
    return ZSet.sum(circuit.stored(node).schema, parts).consolidate()
