"""Who does which merges of a step that is cut into partitions: of each its own range of the sort key.

So a task merges what tasks of its partition have written, and writes what they will read; a run's chunks stay
cut at the bounds of partitions. A log has no sort key: its chunks are where their writer's partition begins,
and go whole. What is gathered has one owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.steps.task import partition_start
from dbsp.circuits.traces.spine import Piece


def shares(circuit: Circuit, pieces: Sequence[Piece], partitions: int) -> list[list[Piece]]:
    """Per partition the pieces that its task merges, or parts of them; together they are the pieces."""
    found: list[list[Piece]] = [[] for _ in range(partitions)]
    for number, piece in enumerate(pieces):
        if piece.node in circuit.gathered:
            found[0].append(piece)
        elif not piece.chunks:
            found[number % partitions].append(piece)
        else:
            cut = _of_log if piece.node in circuit.logs else _part
            for p in range(partitions):
                part = cut(piece, partition_start(p, partitions), partition_start(p + 1, partitions))
                if part is not None:
                    found[p].append(part)
    return found


def _of_log(piece: Piece, low: int, high: int) -> Piece | None:
    chunks = tuple(chunk for chunk in piece.chunks if low <= chunk.low < high)
    return replace(piece, chunks=chunks, low=low, high=high) if chunks else None


def _part(piece: Piece, low: int, high: int) -> Piece | None:
    low, high = max(low, piece.low), min(high, piece.high)
    chunks = tuple(chunk for chunk in piece.chunks if chunk.low < high and chunk.high >= low)
    return replace(piece, chunks=chunks, low=low, high=high) if low < high and chunks else None
