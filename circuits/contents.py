"""Reading what is stored: batches of traces and logs, and so the contents and changes of views."""

from __future__ import annotations

from collections.abc import Sequence

from circuits.batch import Batch, Layout
from circuits.circuit import Circuit
from circuits.segments import Chunk, Segments
from circuits.state import State
from circuits.zset import ZSet


def contents(circuit: Circuit, state: State, view: str, segments: Segments) -> ZSet:
    """The view's rows now, consolidated. O(size of the view)."""
    kept = circuit.output(view).kept
    chunks = [chunk for run in state.spines[kept].runs for chunk in run.chunks]
    return _sum(circuit.stored(kept), chunks, segments)


def changes(circuit: Circuit, view: str, chunks: Sequence[Chunk], segments: Segments) -> ZSet:
    """A step's delta of a view, consolidated, from what its tasks recorded."""
    return _sum(circuit.stored(circuit.output(view).kept), chunks, segments)


def open_chunk(layout: Layout, chunk: Chunk, segments: Segments) -> Batch:
    """A stored batch of a trace or log, mapped."""
    return segments.kept(chunk, layout.stored_schema, lambda stored: Batch.from_stored(stored, layout))


def _sum(layout: Layout, chunks: Sequence[Chunk], segments: Segments) -> ZSet:
    parts = [open_chunk(layout, chunk, segments).zset for chunk in chunks]
    return ZSet.sum(layout.schema, parts).consolidate()
