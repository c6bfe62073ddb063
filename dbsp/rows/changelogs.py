"""Records of a changelog as changes of a table: its rows and their weights.

    retract    (x, w)            x with weight w: `__weight`, or for `__op` 'I' 1 and for 'D' −1
    upsert     (x, op)           the row x for 'I' and 'U', the deletion of x's key for 'D'
    debezium   (before, after)   before with weight −1, then after with weight 1
    maxwell    (data, old)       the row `data`, after the deletion of its old key where `old` has one
    change-data-feed (x, type)   x with weight 1, or −1 for 'delete' and 'update_preimage'

The inverse of `dbsp.views.shapes`: what it makes of a delta is that delta here. An upsert of a source without
`__op` and `__weight` is a deletion where only the key has values. Vectorised; cost: O(|records|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import fixed_values, take
from dbsp.circuits.traces.zset import WEIGHT
from dbsp.rows.incoming import BadRow, arrow_schema, key_rows, whole_rows
from dbsp.sql.plans.program import (
    CHANGE_FEED,
    DEBEZIUM,
    DELETED,
    INSERTED,
    MAXWELL,
    OP,
    STEP,
    UPDATED,
    Table,
)

# Of an envelope: a row that was there from the start or is created, is updated, is deleted.
READ, CREATED, CHANGED, REMOVED = "r", "c", "u", "d"
BEFORE, AFTER, ENVELOPE_OP = "before", "after", "op"
# Of Maxwell; the last two are of no row.
DATA, OLD, TYPE = "data", "old", "type"
MAXWELL_TYPES = ("insert", "bootstrap-insert", "update", "delete", "bootstrap-start", "bootstrap-complete")
# Of a change data feed.
CHANGE_TYPE, COMMIT_VERSION = "_change_type", "_commit_version"
CHANGE_TYPES = {"insert": 1, "update_postimage": 1, "update_preimage": -1, "delete": -1}


def changes(
    table: Table, records: pa.RecordBatch, timezone: str = "UTC", own: bool = False
) -> tuple[pa.RecordBatch, np.ndarray]:
    """The table's rows and int64 weights, in the order of the records.

    records: the table's columns and `__weight`, `__op` or `_change_type`; or an envelope's. In a keyed table
    weight 1 is an upsert, −1 a delete by key. own: as of `whole_rows`; of no envelope. Raises BadRow, whose
    row is the record's.
    """
    if table.changelog == DEBEZIUM:
        return _of_envelopes(table, records, timezone)
    if table.changelog == MAXWELL:
        return _of_maxwell(table, records, timezone)
    weights = _weights(table, records)
    marks = {WEIGHT, OP, STEP} if table.changelog != CHANGE_FEED else {CHANGE_TYPE, COMMIT_VERSION}
    rows = records.select([i for i, name in enumerate(records.schema.names) if name.lower() not in marks])
    come, gone = np.flatnonzero(weights > 0), np.flatnonzero(weights < 0)
    parts = _Part(rows, come, come, own), _Part(rows, gone, gone, own)
    return _merged(table, *parts, timezone)[0], weights


def _weights(table: Table, records: pa.RecordBatch) -> np.ndarray:
    columns = dict(zip(map(str.lower, records.schema.names), records.columns, strict=True))
    if table.changelog == CHANGE_FEED:
        known = _known(table, CHANGE_TYPE, columns[CHANGE_TYPE], CHANGE_TYPES)
        return np.take([*CHANGE_TYPES.values()], known)
    if WEIGHT in columns:
        weights = columns[WEIGHT].cast(pa.int64())
        _check(table, pc.not_equal(weights, 0), f"{WEIGHT} is a number other than 0", weights)
        return np.sign(fixed_values(weights)) if table.primary_key else fixed_values(weights)
    if OP in columns:
        ops = {INSERTED: 1, DELETED: -1}
        if table.changelog == "upsert":
            ops = {INSERTED: 1, UPDATED: 1, DELETED: -1}
        return np.take([*ops.values()], _known(table, OP, columns[OP], ops))
    there = [columns[f.name.lower()].is_valid() for f in table.schema if f.name not in table.primary_key]
    is_row = np.logical_or.reduce([each.to_numpy(zero_copy_only=False) for each in there])
    return np.where(is_row, 1, -1)


def _known(table: Table, name: str, given: pa.Array, known: Sequence[str] | dict[str, int]) -> np.ndarray:
    """Which of the known values each is. Raises BadRow at the first that is none of them."""
    found = pc.index_in(given.cast(pa.string()), pa.array([*known]))
    *others, last = map(repr, known)
    _check(table, found.is_valid(), f"{name} is {', '.join(others)} or {last}", given)
    return fixed_values(found)


def _check(table: Table, fits: pa.Array, wanted: str, given: pa.Array) -> None:
    bad = pc.index(pc.fill_null(fits, False), False).as_py()
    if bad >= 0:
        value = given[bad].as_py()
        shown = "NULL" if value is None else repr(value)
        raise BadRow(table.name, f"{wanted}, not {shown}", bad)


def _of_envelopes(table: Table, records: pa.RecordBatch, timezone: str) -> tuple[pa.RecordBatch, np.ndarray]:
    before, after, given = map(records.column, (BEFORE, AFTER, ENVELOPE_OP))
    ops = (READ, CREATED, CHANGED, REMOVED)
    op = _known(table, ENVELOPE_OP, given, ops)
    removed, replaces = op == ops.index(REMOVED), op >= ops.index(CHANGED)
    has_before = before.is_valid().to_numpy(zero_copy_only=False)
    has_after = after.is_valid().to_numpy(zero_copy_only=False)
    _check(
        table, pa.array(removed | has_after), f"{AFTER} is the row of an {ENVELOPE_OP} that gives one", after
    )
    # a key's row is replaced by its next one, whatever it was
    needed = removed if table.primary_key else replaces
    wanted = f"{BEFORE} is the row that is taken back"
    if not table.primary_key:
        wanted += " (REPLICA IDENTITY FULL, or declare PRIMARY KEY)"
    _check(table, pa.array(~needed | has_before), wanted, before)
    gone, come = np.flatnonzero(replaces & has_before), np.flatnonzero(~removed)
    # of an envelope first the deletion
    inserted, deleted = _Part(_fields(after), come, 2 * come + 1), _Part(_fields(before), gone, 2 * gone)
    rows, order = _merged(table, inserted, deleted, timezone)
    return rows, np.where(order < len(come), 1, -1)


def _of_maxwell(table: Table, records: pa.RecordBatch, timezone: str) -> tuple[pa.RecordBatch, np.ndarray]:
    """Of a keyed table: `old` has the values that were others, so that it tells no NULL from what stayed."""
    data, old = records.column(DATA), _fields(records.column(OLD))
    kind = _known(table, TYPE, records.column(TYPE), MAXWELL_TYPES)
    updated, removed, quiet = (kind == 2, kind == 3, kind > 3)
    has_data = data.is_valid().to_numpy(zero_copy_only=False)
    _check(table, pa.array(quiet | has_data), f"{DATA} is the row of a {TYPE} that has one", data)
    row = _fields(data)
    moved = np.zeros(records.num_rows, dtype=np.bool_)
    before = {}
    for name in table.primary_key:
        had = old.column(name).is_valid().to_numpy(zero_copy_only=False) & updated
        moved |= had
        before[name] = pc.if_else(pa.array(had), old.column(name), row.column(name))
    columns = [before.get(name, column) for name, column in zip(row.schema.names, row.columns, strict=True)]
    come, gone = np.flatnonzero(~removed & ~quiet), np.flatnonzero(removed | moved)
    # of a record first the deletion
    deleted = pa.RecordBatch.from_arrays(columns, names=row.schema.names)
    parts = _Part(row, come, 2 * come + 1), _Part(deleted, gone, 2 * gone)
    rows, order = _merged(table, *parts, timezone)
    return rows, np.where(order < len(come), 1, -1)


@dataclass(frozen=True)
class _Part:
    """Those rows of a batch that are in `records`, which go to these positions. own: as of `whole_rows`."""

    batch: pa.RecordBatch
    records: np.ndarray
    positions: np.ndarray
    own: bool = False

    def read(self, table: Table, timezone: str, retracted: bool) -> pa.RecordBatch:
        rows = take(self.batch, self.records)
        try:
            if retracted and table.primary_key:
                return key_rows(table, rows, timezone, self.own)
            return whole_rows(table, rows, timezone, retracted, self.own)
        except BadRow as error:
            if error.row is None:
                raise
            placed = BadRow(table.name, error.problem, int(self.records[error.row]))
            if error.refused is not None:
                placed.refused = {int(self.records[row]): why for row, why in error.refused.items()}
            raise placed from None


def _merged(table: Table, come: _Part, gone: _Part, timezone: str) -> tuple[pa.RecordBatch, np.ndarray]:
    """Both by their positions, and which of them each row is: the inserted are numbered first."""
    parts = [come.read(table, timezone, False)]
    if len(gone.records):
        parts.append(gone.read(table, timezone, True))
    order = np.argsort(np.concatenate([come.positions, gone.positions]), kind="stable")
    if not len(gone.records):
        return parts[0], order
    schema = arrow_schema(table)
    columns = [pa.concat_arrays([part.column(i) for part in parts]) for i in range(len(schema))]
    return take(pa.RecordBatch.from_arrays(columns, schema=schema), order), order


def _fields(rows: pa.StructArray) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(rows.flatten(), names=[field.name for field in rows.type])
