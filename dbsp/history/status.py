"""How a state stands: its last step, how its tables have been read, and what its sinks have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.evolution.sources import reading_of
from dbsp.state.records.commits import Commit
from dbsp.state.records.delivered import read_delivered
from dbsp.state.records.manifest import Columns, Manifest
from dbsp.state.records.places import Place
from dbsp.state.records.reading import Reading
from dbsp.state.store import Store

FED, COMPARED, LEFT, UNREAD = "fed", "compared", "no longer read", "nothing read yet"


@dataclass(frozen=True)
class Status:
    """program, fingerprint: whose state it is. step: the last one, 0 of none; made: when it counts as made.

    kept: the steps that can be read, ascending. tables: how each has been read: the format of a stream, or in
    words. views: their names. sinks: the last step that each has.
    """

    program: str
    fingerprint: str
    step: int
    made: datetime | None
    kept: tuple[int, ...]
    tables: Mapping[str, str]
    views: tuple[str, ...]
    sinks: Mapping[str, int]


def status_of(state: str | Place) -> Status:
    """Of a state that a run may be using; nothing of it is disturbed. Raises StateError."""
    store, identity = Store.read(state)
    last, manifest = store.last, identity.manifest
    delivered = read_delivered(store.root)
    return Status(
        identity.name,
        identity.fingerprint,
        last.step if last is not None else 0,
        last.instant if last is not None else None,
        tuple(store.steps),
        _tables(manifest, last),
        tuple(sorted(view for view in manifest.views if view != BAD_ROWS)),
        {sink: delivered[sink].step if sink in delivered else 0 for sink in sorted(manifest.targets)},
    )


def _tables(manifest: Manifest, last: Commit | None) -> dict[str, str]:
    reading = reading_of(manifest, last) if last is not None else Reading()
    read = reading.streams if last is not None and last.batch is not None else {}
    return {
        name: read.get(name) or _otherwise(table, name in reading.left, name in reading.compared)
        for name, table in sorted(manifest.tables.items())
    }


def _otherwise(table: Columns, is_left: bool, is_compared: bool) -> str:
    """Of a table that is no stream."""
    if table.snapshot and is_compared:
        return COMPARED
    if is_left or is_compared:
        return LEFT
    return f"{table.source.lower()}, {UNREAD}" if table.source else FED
