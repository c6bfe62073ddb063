"""The late filter: rows below a waterline as of the step before go to `late_rows` instead.

    on_time(d)[x] = d[x] where for every annotated column c: x.c is NULL or x.c >= W_c,t−1

Retractions are filtered the same way.  State: the waterlines, one value per column.  Cost: O(|d|).
Source: Feldera, "LATENESS in streaming programs".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import take
from dbsp.circuits.columns.forms.json_text import encode
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.expressions.monotone import Bound, Bounds
from dbsp.circuits.operators.families import Changes, RowWise, Unchanged
from dbsp.circuits.operators.operator import Context, Node, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits, of_bounds, waterline_row
from dbsp.circuits.progress.waterline import Lateness, as_shown, column_name
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

LATE_ROWS = "late_rows"
LATE_SCHEMA = pa.schema(
    {
        "relation": pa.string(),
        "step": pa.int64(),
        "row": pa.string(),
        "waterlines": pa.string(),
        "reason": pa.string(),
    }
)


@dataclass(frozen=True)
class OnTime(Unchanged, RowWise):
    """The rows that aren't late; reports what the delta proves of the waterlines."""

    history: ClassVar[str] = "LATENESS: which rows came too late"

    relation: str
    lateness: tuple[Lateness, ...]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        if not len(delta):
            return delta
        late, jumping = rejected(self.lateness, delta.rows, context)
        for one, candidate in candidates(self.lateness, delta.rows, jumping):
            context.report(one.name, candidate)
        gone = late | jumping
        if not gone.any():
            return delta
        context.count_late(self.relation, int(np.abs(delta.weights[gone]).sum()))
        return delta.take(np.flatnonzero(~gone))

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A row below a waterline doesn't pass: that is the filter."""
        own: dict[int, Bound] = {one.key: (waterlines[one.name],) for one in self.lateness}
        return {**inputs[0], **own}

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return {*needed, *(one.column for one in self.lateness)}


@dataclass(frozen=True)
class Late(Changes):
    """The rows that `OnTime` leaves out, each as a row of `late_rows`.

    Inputs: that of the OnTime node, and the OnTime node. names: of the relation's columns; the input may
    have a further column, of sequence numbers.
    """

    history: ClassVar[str] = "LATENESS: which rows came too late"

    relation: str
    lateness: tuple[Lateness, ...]
    names: tuple[str, ...]

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return LATE_SCHEMA

    def placement(self, *inputs: object) -> None:
        return None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta, on_time = (delta_of(value) for value in inputs)
        if len(on_time) == len(delta):
            return ZSet.empty(LATE_SCHEMA)
        late, jumping = rejected(self.lateness, delta.rows, context)
        gone = np.flatnonzero(late | jumping)
        retracted = delta.weights[gone] < 0
        reasons = np.where(late[gone], np.where(retracted, "late retraction", "late"), "jump")
        rejects = delta.take(gone)
        named = rejects.rows.select(list(range(len(self.names)))).rename_columns(list(self.names))
        return late_rows(self.relation, self.lateness, ZSet(named, rejects.weights), reasons, context)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Any number of rows may be late."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False


@dataclass(frozen=True)
class Frozen(Changes):
    """The changes `Upsert` refuses since the key's stored row is below the waterline, as `late_rows`.

    Inputs: the changes, as Upsert gets them, and the Upsert node.
    """

    history: ClassVar[str] = "LATENESS: which rows came too late"

    relation: str
    key: tuple[int, ...]
    lateness: tuple[Lateness, ...]

    @property
    def cost(self) -> str:
        return "lookup"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return LATE_SCHEMA

    def placement(self, *inputs: object) -> None:
        return None

    def step(self, context: Context, *inputs: Value) -> ZSet:
        changes, table = delta_of(inputs[0]), inputs[1]
        assert isinstance(table, Integral)
        frozen = np.flatnonzero(frozen_keys(self.key, self.lateness, changes.rows, table, context))
        if not len(frozen):
            return ZSet.empty(LATE_SCHEMA)
        refused = changes.take(frozen)
        context.count_late(self.relation, int(np.abs(refused.weights).sum()))
        rows = refused.rows.select(list(range(refused.rows.num_columns - 1)))
        reasons = np.full(len(frozen), "frozen key")
        return late_rows(self.relation, self.lateness, ZSet(rows, refused.weights), reasons, context)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        assert inputs[1].operator.is_trace, f"{where}: the table must be a trace"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        return {}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """A key's row is looked up by changes of the key."""
        return of_bounds(inputs[1]) if position == 1 else None

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Any number of changes may be refused."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False


def candidates(
    lateness: tuple[Lateness, ...], rows: pa.RecordBatch, jumping: np.ndarray
) -> Iterator[tuple[Lateness, pa.Scalar]]:
    """What the rows prove of each waterline that they say anything of."""
    for one in lateness:
        if one.percentile is not None:
            continue  # raised by `LastEventTimes`, which knows the order of arrival
        column = rows.column(one.column)
        # a row that is rejected for its jump must not move the waterline after all
        candidate = one.candidate(column.filter(pa.array(~jumping)) if jumping.any() else column)
        if candidate is not None:
            yield one, candidate


def rejected(
    lateness: tuple[Lateness, ...], rows: pa.RecordBatch, context: Context
) -> tuple[np.ndarray, np.ndarray]:
    """(late bool[n], jumping bool[n]) by the waterlines as of the step before."""
    late = np.zeros(rows.num_rows, dtype=np.bool_)
    jumping = np.zeros(rows.num_rows, dtype=np.bool_)
    for one in lateness:
        waterline = context.waterlines.get(one.name)
        if waterline is not None and not one.passes(rows.column(one.column), waterline):
            late |= one.late(rows.column(one.column), waterline)
            jumping |= one.jumps(rows.column(one.column), waterline)
    return late, jumping


def frozen_keys(
    key: tuple[int, ...],
    lateness: tuple[Lateness, ...],
    changes: pa.RecordBatch,
    table: Integral,
    context: Context,
) -> np.ndarray:
    """bool[n]: the changes whose key has a stored row below a waterline."""
    frozen = np.zeros(changes.num_rows, dtype=np.bool_)
    if not any(one.name in context.waterlines for one in lateness):
        return frozen
    columns = [changes.column(i) for i in key]
    keys = hash_rows(columns, changes.num_rows, context.seed)
    stored = np.zeros(changes.num_rows, dtype=np.int64)
    for wanted, batch, there in table.find(columns, keys, key, whole_key=False):
        late, _ = rejected(lateness, take(batch.rows, there), context)
        np.add.at(stored, wanted[late], batch.weights[there][late])
    return np.asarray(stored > 0)


def late_rows(
    relation: str, lateness: tuple[Lateness, ...], late: ZSet, reasons: np.ndarray, context: Context
) -> ZSet:
    """The late rows as rows of `late_rows`; a weight of ±n gives n of them."""
    known = [one for one in lateness if one.name in context.waterlines]
    now = waterline_row(known, as_shown(context.waterlines)).rename_columns(
        [column_name(one.name).rpartition(".")[2] for one in known]
    )
    columns = [
        pa.repeat(relation, len(late)),
        pa.repeat(context.step, len(late)),
        row_text(late.rows),
        pa.repeat(row_text(now)[0], len(late)),
        pa.array(reasons.tolist(), pa.string()),
    ]
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=LATE_SCHEMA), np.abs(late.weights))


def row_text(rows: pa.RecordBatch) -> pa.Array:
    """Each row as a JSON object. Late rows are few: their values are spelled one by one."""
    parts: list[pa.Array | str] = []
    for position, (name, column) in enumerate(zip(rows.schema.names, rows.columns, strict=True)):
        parts.append(f"{', ' if position else '{'}{encode_basestring(name)}: ")
        parts.append(pa.array(encode(column), pa.string()))
    return pc.binary_join_element_wise(*parts, "}", "")
