"""State directories of a few steps, whose segments are single bytes."""

from __future__ import annotations

import os
from pathlib import Path

from dbsp.state.keeping.keep import Keep
from dbsp.state.records.commits import Commit
from dbsp.state.records.identity import Identity
from dbsp.state.store import Store

IDENTITY = Identity("program.sql", "f1", "-- text")


def commit(step: int, *segments: str) -> Commit:
    return Commit(step, "f1", {"spines": {f"t{step}": step}}, segments=frozenset(segments))


def write(store: Store, name: str) -> str:
    (store.root / "segments" / name).write_bytes(b"x")
    return name


def segments(store: Store) -> set[str]:
    return set(os.listdir(store.root / "segments"))


def record(store: Store, step: int) -> Path:
    return store.root / "commits" / f"{step:012d}.json"


def filled(root: Path, steps: int, keep: Keep | None = None) -> Store:
    store = Store.open(root, IDENTITY, keep)
    for step in range(1, steps + 1):
        store.commit(commit(step, write(store, f"{step}.seg")))
    return store
