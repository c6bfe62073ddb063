"""State: everything a circuit remembers between steps, as one immutable value.

A spine per trace and per log. The driver holds it and a commit writes it; tasks get it, read what it
refers to and return what they wrote; `apply` gives the next state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import StateError
from dbsp.circuits.progress import percentile, waterline
from dbsp.circuits.progress.percentile import Recent
from dbsp.circuits.progress.waterline import later
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.origin import Traffic
from dbsp.circuits.traces.spine import SMALL, Piece, Spine


@dataclass
class TaskResult:
    """What one task did; picklable.

    written: per node with a trace or log, the new chunk (None: no rows). absorbed: the nodes whose small
    runs are in that chunk. merged: the pieces handed in, with each chunk of them. sent: blobs for the
    next level, (node, partition, blob). changes: per view, the chunk with its delta. candidates: of
    waterlines. recent: the last event times of percentile waterlines. late: rows left out, per relation.
    collected: rows dropped from traces by their retention. unreachable: per node, the ids of runs that go
    unread. traffic: of a task in a process of its own. put_out, spent: rows and seconds, per node. The others
    are counters.
    """

    written: dict[int, Chunk | None] = field(default_factory=dict)
    absorbed: set[int] = field(default_factory=set)
    merged: list[tuple[Piece, Chunk | None]] = field(default_factory=list)
    sent: list[tuple[int, int, bytes]] = field(default_factory=list)
    changes: dict[str, Chunk] = field(default_factory=dict)
    rows_in: dict[str, int] = field(default_factory=dict)
    inserted: dict[int, int] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)
    candidates: dict[str, pa.Scalar] = field(default_factory=dict)
    recent: dict[str, Recent] = field(default_factory=dict)
    late: dict[str, int] = field(default_factory=dict)
    collected: dict[int, int] = field(default_factory=dict)
    unreachable: dict[int, set[int]] = field(default_factory=dict)
    traffic: Traffic = field(default_factory=Traffic)
    put_out: dict[int, int] = field(default_factory=dict)
    spent: dict[int, float] = field(default_factory=dict)

    @property
    def segments(self) -> set[str]:
        """The names of those that it has written."""
        merged = (chunk for _, chunk in self.merged)
        chunks = (*self.written.values(), *self.changes.values(), *merged)
        return {chunk.segment for chunk in chunks if chunk is not None}


@dataclass(frozen=True)
class State:
    """spines: node → spine. pieces: the merge work the next step has to do.

    small: runs of fewer rows are merged at once (a test sets 0: never, or a huge number: always).
    """

    spines: Mapping[int, Spine]
    logs: frozenset[int]
    pieces: tuple[Piece, ...] = ()
    small: int = SMALL
    waterlines: Mapping[str, pa.Scalar] = field(default_factory=dict)
    recent: Mapping[str, Recent] = field(default_factory=dict)

    @staticmethod
    def empty(circuit: Circuit, small: int = SMALL) -> State:
        nodes = [*circuit.layouts, *circuit.logs]
        return State({node: Spine() for node in nodes}, frozenset(circuit.logs), (), small)

    def segments(self) -> set[str]:
        """The names of the segments it refers to."""
        return {chunk.segment for spine in self.spines.values() for chunk in spine.chunks()}

    def files(self) -> dict[int, int]:
        """Segments that hold rows, per node."""
        return {node: len({chunk.segment for chunk in spine.chunks()}) for node, spine in self.spines.items()}

    def rows(self) -> dict[int, int]:
        """Rows stored, per node."""
        return {node: spine.rows for node, spine in self.spines.items()}

    def bytes(self) -> dict[int, int]:
        """Bytes stored, per node."""
        return {node: sum(c.length for c in spine.chunks()) for node, spine in self.spines.items()}

    def apply(self, results: Iterable[TaskResult]) -> State:
        """The state after a step all of whose tasks returned."""
        results = list(results)
        spines = dict(self.spines)
        done: dict[tuple[int, int], dict[int, list[Chunk]]] = {}
        merged = (each for result in results for each in result.merged)
        for piece, chunk in sorted(merged, key=lambda each: each[0].low):
            number = spines[piece.node].merges[piece.merge].piece_of(piece.low)
            chunks = done.setdefault((piece.node, piece.merge), {}).setdefault(number, [])
            chunks += [] if chunk is None else [chunk]
        for (node, merge), pieces in sorted(done.items(), reverse=True):
            spines[node] = spines[node].finish(merge, [tuple(chunks) for chunks in pieces.values()])
        due: list[Piece] = []
        for node, spine in self.spines.items():
            chunks = [chunk for r in results if (chunk := r.written.get(node)) is not None]
            took = any(node in result.absorbed for result in results)
            absorbed = spine.absorbable(self.small) if took else ()
            unread = {run for result in results for run in result.unreachable.get(node, ())}
            grown = spines[node].without(unread).insert(chunks, absorbed)
            inserted = sum(result.inserted.get(node, 0) for result in results)
            grown = grown.schedule(inserted, self.small, node in self.logs)
            spines[node], earned = grown.due(node) if grown.merges else (grown, [])
            due += earned
        recent = dict(self.recent)
        for result in results:
            recent |= result.recent
        return State(spines, self.logs, tuple(due), self.small, self._risen(results), recent)

    def _risen(self, results: list[TaskResult]) -> Mapping[str, pa.Scalar]:
        waterlines = dict(self.waterlines)
        for result in results:
            for name, candidate in result.candidates.items():
                risen = later(waterlines.get(name), candidate)
                assert risen is not None
                waterlines[name] = risen
        return waterlines

    def ahead(self) -> list[Piece]:
        """Merge work of later steps that can be done now: it reads what is committed."""
        return [piece for node, spine in self.spines.items() for piece in spine.ahead(node, self.pieces)]

    def to_json(self, circuit: Circuit) -> dict[str, object]:
        """By the names of traces, so that it can be read for any circuit that has some of them."""
        names = circuit.names
        pieces = [
            [names[p.node], p.merge, [c.to_json() for c in p.chunks], p.low, p.high] for p in self.pieces
        ]
        spines = {names[node]: spine.to_json() for node, spine in self.spines.items()}
        recent = {name: one.to_json() for name, one in self.recent.items()}
        waterlines = waterline.to_json(self.waterlines)
        return {
            "spines": spines,
            "pieces": pieces,
            "waterlines": waterlines,
            "recent": recent,
            "collected": circuit.collected,
        }

    @staticmethod
    def from_json(circuit: Circuit, value: Mapping[str, Any], small: int = SMALL) -> State:
        """The traces that the circuit has: all, if the record is of its own program."""
        nodes = {name: node for node, name in circuit.names.items()}
        found = {nodes[name]: spine for name, spine in value["spines"].items() if name in nodes}
        spines = {node: Spine.from_json(spine) for node, spine in sorted(found.items())}
        pieces = tuple(
            Piece(nodes[name], merge, tuple(map(Chunk.from_json, chunks)), low, high)
            for name, merge, chunks, low, high in value["pieces"]
            if name in nodes
        )
        types = {one.name: one.type for one in circuit.lateness}
        waterlines = waterline.from_json(value["waterlines"], types)
        recent = percentile.from_json(value["recent"], types)
        return State(spines, frozenset(circuit.logs), pieces, small, waterlines, recent)


def by_name(circuit: Circuit, value: Mapping[str, Any]) -> dict[str, Any]:
    """A record in which traces are known by the numbers of their nodes, as one in which they have names.

    Raises StateError where other nodes have traces now.
    """
    names = circuit.names
    if {int(node) for node in value["spines"]} != names.keys():
        raise StateError(
            "the state was written by an older dbsp (format 2), in which this program keeps other rows; "
            "go on with that one, or feed a new state directory the tables from their start"
        )
    spines = {names[int(node)]: spine for node, spine in value["spines"].items()}
    return {**value, "spines": spines, "pieces": [[names[node], *rest] for node, *rest in value["pieces"]]}
