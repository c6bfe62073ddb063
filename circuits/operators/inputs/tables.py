"""What stands between a table's incoming changes and the circuit.

A bag's delta must not retract rows that aren't there; a keyed table's changes say only what a key's row
is to be, and the retraction of the old row is filled in from the table's own trace.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, take
from dbsp.circuits.columns.forms.json_text import described
from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.errors import AbsentRow, DataError, SharedKey
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.distinct import weights_before
from dbsp.circuits.operators.families import Keeper, RowReader, RowWise, Unchanged
from dbsp.circuits.operators.inputs.late import frozen_keys
from dbsp.circuits.operators.legal import lies_by
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limits, of_columns
from dbsp.circuits.progress.waterline import Lateness
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

# what holds a keyed table; the program knows its name
PRIMARY_KEY = "its primary key"


@dataclass(frozen=True)
class NonNegative(RowReader):
    """The identity on a bag whose weights stay at zero or above; DataError where one would not.

    Input: an Integrate node over whole rows.  State: that trace.  Cost: O(|d| log |I(d)|).
    """

    table: str

    def step(self, context: Context, *inputs: Value) -> ZSet:
        (integral,) = inputs
        assert isinstance(integral, Integral)
        delta = integral.delta
        if (delta.weights < 0).any():
            after = weights_before(integral) + delta.weights
            missing = np.flatnonzero(after < 0)
            if len(missing):
                raise _absent(self.table, delta, missing, after)
        return delta.zset


@dataclass(frozen=True)
class OneOfEach(RowReader):
    """The identity on rows of which no two have the same key; SharedKey at the first that have.

    Input: an Integrate node, placed by the key: columns `key`.  State: that trace.  Cost: O(|d| log |I(d)|).
    """

    table: str
    key: tuple[int, ...]

    def step(self, context: Context, *inputs: Value) -> ZSet:
        (integral,) = inputs
        assert isinstance(integral, Integral)
        delta = integral.delta
        if not len(delta):
            return delta.zset
        groups = groups_of(delta.rows, self.key, context.seed)
        count = np.zeros(len(groups.first), dtype=np.int64)
        np.add.at(count, groups.owner, delta.weights)
        for found, batch, there in integral.find(groups.keys, groups.hashes, self.key, whole_key=False):
            np.add.at(count, found, batch.weights[there])
        several = np.flatnonzero((count < 0) | (count > 1))
        if len(several):
            rows = delta.rows.select(list(self.key))
            told, i = min((described(rows, int(groups.first[i])), int(i)) for i in several[:100])
            raise SharedKey(f"table '{self.table}' has {count[i]} rows with the key ({told})")
        return delta.zset


@dataclass(frozen=True)
class AppendOnly(Unchanged, RowWise):
    """The identity on a table declared append-only; DataError at the first retraction."""

    table: str

    def step(self, context: Context, *inputs: Value) -> ZSet:
        delta = delta_of(inputs[0])
        retracted = np.flatnonzero(delta.weights < 0)
        if len(retracted):
            row = described(delta.rows, int(retracted[0]))
            raise DataError(
                f"table '{self.table}' is append-only and can't retract the row ({row}); "
                "declare it without append_only to allow retractions"
            )
        return delta

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        """Nothing more than of every node."""

    def reads(self, position: int, needed: Set[int], schema: pa.Schema) -> Set[int]:
        return needed

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return False


@dataclass(frozen=True)
class Upsert(Keeper):
    """A keyed table: upserts (weight +1) and deletes by key (weight −1) become a delta of rows.

        upsert^Δ(c)[·] = Σₖ −old(k) + new(k)     old(k): the row of key k in z⁻¹(I), new(k): its last change

    Input: the table's columns and a last column `__sequence` (int64) that orders changes, placed by the
    key. The last change of a key in a step wins; deleting a key that isn't there changes nothing.
    lateness: a change of a key whose stored row is below a waterline is refused (`Frozen` records it).
    State: the table, by key.  Cost: O(|c| log |I|).
    """

    key: tuple[int, ...]
    lateness: tuple[Lateness, ...] = ()

    is_trace: ClassVar[bool] = True

    @property
    def cost(self) -> str:
        return "lookup"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([inputs[0].field(i) for i in range(len(inputs[0]) - 1)])

    def placement(self, *inputs: Placement) -> Placement:
        return self.key

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(self.schema(*inputs), self.key)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        given = delta_of(inputs[0])
        table = Integral(layout, before, Batch.empty(layout))
        if not len(given):
            return table
        frozen = frozen_keys(self.key, self.lateness, given.rows, table, context)
        given = given.take(np.flatnonzero(~frozen)) if frozen.any() else given
        width = given.rows.num_columns - 1
        changes, sequence = given.rows.select(list(range(width))), fixed_values(given.rows.column(width))
        groups = groups_of(changes, self.key, context.seed)
        is_last = sequence == groups.total(sequence, np.maximum)[groups.owner]
        new = take(changes, (is_last & (given.weights > 0)).nonzero()[0])
        parts = [Batch(layout.sort_keys(new, context.seed), new, np.ones(len(new), np.int64))]
        for _, batch, there in table.find(groups.keys, groups.hashes, self.key, whole_key=False):
            parts.append(-batch.take(there))  # whose sort keys are known
        return Integral(layout, before, Batch.sum(layout, parts))

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        lies_by(inputs[0], self.key, where)

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """The retraction of a key's old row isn't below a waterline either: such a key is frozen."""
        return inputs[0]

    def own_reach(self, inputs: Sequence[Bounds]) -> Limits | None:
        """A key's row is looked up by changes of the key, so only bounds on key columns count.

        A bound on another column would forget that the key is frozen, and take its next change for a new row.
        """
        return of_columns(inputs[0], self.key)

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return 0, column

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """A key has one row."""
        return (PRIMARY_KEY,)

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return True


def _absent(table: str, delta: Batch, missing: np.ndarray, after: np.ndarray) -> AbsentRow:
    # the same row is named whatever the partitions and hashes: the first by its values
    first, i = min((described(delta.rows, int(i)), int(i)) for i in missing[:100])
    retracted = -int(delta.weights[i])
    there = int(after[i]) + retracted
    if not there:
        problem = f"can't retract the row ({first}): it isn't there"
    else:
        problem = f"can't retract the row ({first}) {_times(retracted)}: it is there {_times(there)}"
    return AbsentRow(table, first, f"table '{table}': {problem}; nothing of this step was kept")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
