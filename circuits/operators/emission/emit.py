"""Emit: the changes of a view that leave, of the keys that fire.

    emit^Δ(K) = Σ { −emitted(k) + v(k) : k ∈ K }        emitted = z⁻¹(I(emit^Δ))

v(k): the view's rows of key k after the step. What hasn't changed cancels. So the sum of all emissions is,
for each key, the view as of a step at which it fired. What was final stays: at the end of the input nothing
leaves of a key whose last result has left.
State: the emitted rows, by key.  Cost: O(|K| log |I(v)|).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import fixed_values, take, validity
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.emission.trigger import STATE, Schedule, Trigger
from dbsp.circuits.operators.families import Keeper
from dbsp.circuits.operators.legal import lies_by
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Value, delta_of
from dbsp.circuits.operators.shown import parameters
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.bounds import Lines
from dbsp.circuits.progress.limits import Limit, Limits
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.sorted_run import SortedRun
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Emit(Keeper):
    """Inputs: the keys that fire (and their result's state), the view's trace, placed by the key.

    schedule: of the trigger, if it has one. limits: emitted rows for which one holds will not be asked for
    again. once: the name of a stream, none of whose rows is ever taken back; DataError where one would be, as
    after the end of its input.
    """

    history: ClassVar[str] = "TRIGGER or EMIT: what has left already"

    key: tuple[int, ...]
    schedule: Schedule | None = None
    limits: tuple[Limit, ...] = ()
    once: str = ""

    @property
    def flagged(self) -> bool:
        """Whether rows say which state of the result they are."""
        return self.schedule is not None and self.schedule.flagged

    @property
    def leaves_once(self) -> bool:
        """Whether nothing follows what has left of a key."""
        if self.schedule is None:
            return bool(self.once)
        return self.schedule.table.first == self.schedule.table.last and not self.schedule.late

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[1].append(pa.field(STATE, pa.string())) if self.flagged else inputs[1]

    def placement(self, *inputs: Placement) -> Placement:
        return self.key

    def layout(self, *inputs: pa.Schema) -> Layout:
        return Layout(self.schema(*inputs), self.key)

    def integrate(
        self, context: Context, layout: Layout, before: tuple[SortedRun, ...], *inputs: Value
    ) -> Integral:
        fired, view = delta_of(inputs[0]).rows, inputs[1]
        assert isinstance(view, Integral)
        emitted = Integral(layout, before, Batch.empty(layout))
        if self.schedule is not None and (context.ending or self.leaves_once):
            fired = self._unfinished(self.schedule, context, fired, emitted)
        keys = fired.columns[: len(self.key)]
        hashes = hash_rows(keys, fired.num_rows, context.seed)
        after = view.stepped
        parts = []
        for _, batch, there in emitted.find(keys, hashes, self.key, whole_key=False):
            parts.append(-batch.zset.take(there))
        for owner, batch, there in after.find(keys, hashes, self.key, whole_key=False):
            rows = take(batch.rows, there)
            if self.flagged:
                state = fired.column(fired.num_columns - 1).take(pa.array(owner))
                rows = rows.append_column(pa.field(STATE, pa.string()), state)
            parts.append(ZSet(rows, np.asarray(batch.weights[there])))
        delta = Batch.build(layout, ZSet.sum(layout.schema, parts), context.seed)
        if self.once and (delta.weights < 0).any():
            raise DataError(
                f"stream '{self.once}': a row that has left would change, as can be only after the end of "
                "the input; go on from a state before that, or declare the view without STREAM"
            )
        return Integral(layout, before, delta)

    def _unfinished(
        self, schedule: Schedule, context: Context, fired: pa.RecordBatch, emitted: Integral
    ) -> pa.RecordBatch:
        """Those of the keys whose last result hasn't left: of one result it is the first that does, as it may
        be called final because the input ends.
        """
        now = schedule.threshold.value(context.waterlines)
        if now is None and not self.leaves_once:
            return fired
        over = np.full(fired.num_rows, self.leaves_once)
        if now is not None:
            end = evaluate(schedule.table.end, fired)
            over |= validity(end) & (now.value >= fixed_values(end) + schedule.table.last)
        left = np.zeros(fired.num_rows, dtype=np.bool_)
        keys = fired.columns[: len(self.key)]
        hashes = hash_rows(keys, fired.num_rows, context.seed)
        for owner, _, _ in emitted.find(keys, hashes, self.key, whole_key=False):
            left[owner] = True
        return take(fired, np.flatnonzero(~(over & left)))

    @property
    def cost(self) -> str:
        return "linear"

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        fired, view = inputs
        assert isinstance(fired.operator, Trigger), f"{where}: keys must come from a Trigger"
        assert isinstance(view.operator, Integrate), f"{where}: the view must be a trace"
        lies_by(view, self.key, where)
        # what fires is the trigger's stream and not its trace, so it can't be sent on
        assert fired.level == node.level, f"{where}: its trigger is on another level"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A key may fire at any time."""
        return {}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """Any key of the view may fire."""
        return () if position == 1 else None

    def own_reach(self, inputs: Sequence[Bounds]) -> Limits | None:
        """Its own limits are below what has fired: such a key's row is never retracted any more."""
        return self.limits

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """What has left stays until its key fires again."""
        return None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return not self.once

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        """The schedule is shown by its trigger; the limits by what the waterlines collect."""
        own = parameters(replace(self, schedule=None, limits=()), *inputs[:1])
        return f"{own} flagged" if self.flagged else own
