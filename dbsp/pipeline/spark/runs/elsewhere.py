"""What a run of a program would refuse to read or write, since its state has read or written it elsewhere.

A path is no part of a program's fingerprint, nor of what a state holds. So a plan asks here.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from dbsp.evolution.sources import reading_of
from dbsp.pipeline.spark.runs.before import other_paths
from dbsp.pipeline.spark.sources import path_of
from dbsp.sql.plans.program import STEP, Program
from dbsp.state.records.delivered import read_delivered
from dbsp.state.records.identity import Identity
from dbsp.state.records.reading import streams_of
from dbsp.state.store import Store
from dbsp.targets.outlet import given_before, left_behind


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
    delivered = read_delivered(store.root)
    for name in dict.fromkeys(insert.target for insert in program.inserts):
        table, known = program.tables[name], delivered.get(name)
        if known is not None and table.is_file and (path := path_of(table)).startswith("/"):
            given = partial(given_before, store, program, name, delivered=delivered)
            why = left_behind(table, path, known, given, partial(_steps_in, path))
            if why is not None:
                yield why


def _steps_in(path: str) -> list[int]:
    """The steps that have a directory there."""
    names = (directory.name.partition("=") for directory in Path(path).glob(f"{STEP}=*"))
    return [int(step) for _, _, step in names if step.isdigit()]
