"""What a run of a program would refuse to read, since its state has read it elsewhere.

A path is no part of a program's fingerprint, nor of what a state holds. So a plan asks here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dbsp.evolution.sources import reading_of
from dbsp.pipeline.spark.runs.before import other_paths
from dbsp.sql.plans.program import Program
from dbsp.state.records.identity import Identity
from dbsp.state.records.reading import streams_of
from dbsp.state.store import Store


def elsewhere(program: Program, store: Store, before: Identity) -> Iterator[str]:
    """Why, by table, with what to do. Of a state on a store, and of paths on one, nothing is known."""
    last = store.last
    if last is None or not isinstance(store.root, Path):
        return
    streams = streams_of(program)
    places = [
        program.inputs[name] if name in streams else None
        for name in reading_of(before.manifest, last).streams
    ]
    yield from other_paths(places, last, store.root / last.checkpoint)
