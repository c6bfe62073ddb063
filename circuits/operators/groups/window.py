"""Window functions: every row of a partition, with columns computed from the partition.

    window^Δ(d) = −w(z⁻¹(I)|T) + w(I|T)        T = partitions of d

State: the trace of the input, by partition.  Cost: O(r log r) for the r rows of the touched partitions, or of
those near the changed ones, or from these on, where the functions see no more, or add up the rest
(`windows/near.py`), or of partitions of which another row comes first where that tells their values
(`windows/leads.py`), and the lengths of their frames for functions that list a frame's values
(`windows/values.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.forms.json_text import described
from dbsp.circuits.columns.groups import Groups, groups_of
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.columns.sorting import SortKey, sort_rows
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.groups.leading import touched_leading
from dbsp.circuits.operators.groups.nearby import touched_nearby
from dbsp.circuits.operators.groups.touched import Side, Touched, difference, of_groups, touched_groups
from dbsp.circuits.operators.groups.windows.calls import WindowFunction
from dbsp.circuits.operators.groups.windows.functions import FUNCTIONS, evaluate_window
from dbsp.circuits.operators.groups.windows.heads import Heads
from dbsp.circuits.operators.groups.windows.leads import Lead, leading
from dbsp.circuits.operators.groups.windows.near import Sight, listed_of, sight
from dbsp.circuits.operators.groups.windows.partitions import Partitions
from dbsp.circuits.operators.groups.windows.rolling import reach
from dbsp.circuits.operators.groups.windows.values import is_gathered
from dbsp.circuits.operators.legal import has_columns
from dbsp.circuits.operators.operator import Context, Node, Placement, Value
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines, of_partition
from dbsp.circuits.progress.limits import Limits, limit, of_columns
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Window(Reader):
    """Input: an Integrate node, placed by `partition` or some of it. Output: its rows, then the functions.

    Where an order leaves rows tied, they follow each other by their values, so that the result is a function
    of what the partition holds. made: what the columns of `partition` hold, over the input's columns, as far
    as it is known: only what waterlines prove follows from it.
    """

    partition: tuple[int, ...]
    functions: tuple[WindowFunction, ...]
    made: tuple[Expression, ...] = ()

    @property
    def cost(self) -> str:
        framed = dict.fromkeys(call.text or call.function for call in self.functions if is_gathered(call))
        read = listed_of(self.functions, attrgetter("column"))
        return "; ".join([read, *(f"every row's frame for {text}" for text in framed)])

    @cached_property
    def sight(self) -> Sight | None:
        """How far the functions see, if a change shows in rows near it alone: in a trace by their order those
        are found.
        """
        return sight(self.functions)

    @cached_property
    def leads(self) -> tuple[Lead, ...]:
        """By what the rows come first that tell the functions' values, if those are a partition's alone."""
        return leading(self.functions, attrgetter("column"))

    @cached_property
    def read_by(self) -> SortKey | None:
        """The order of a trace in which the rows that a change shows in are found; None: they are all."""
        if self.leads:
            lead = self.leads[0]
            return SortKey(lead.value, lead.descending, lead.nulls_last)
        return self.functions[0].order[0] if self.sight is not None else None

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        computed = [pa.field(f"w{i}", function.type) for i, function in enumerate(self.functions)]
        return pa.schema([*inputs[0], *computed])

    def step(self, context: Context, *inputs: Value) -> ZSet:
        (integral,) = inputs
        assert isinstance(integral, Integral)
        schema = self.schema(integral.layout.schema)
        if not len(integral.delta):
            return ZSet.empty(schema)
        groups = groups_of(integral.delta.rows, self.partition, context.seed)
        given = integral, groups, self.partition, self.functions[0].order
        is_in_order = self.read_by is not None and integral.layout.order == self.read_by.column
        if self.leads and is_in_order:
            led = touched_leading(*given, self.leads, context.seed)
            if led is not None:
                return self._change_of_led(integral, groups, led, schema, context.seed)
        elif self.sight is not None and is_in_order:
            near = touched_nearby(*given, self.sight, context.seed)
            # an error may be of a row whose frame is cut, and whose value isn't put out
            with suppress(EvaluationError):
                if near is not None:
                    return self._change(*near, schema, context.seed)
        return self._change(touched_groups(*given, context.seed), None, schema, context.seed)

    def _change_of_led(
        self, integral: Integral, groups: Groups, led: Touched, schema: pa.Schema, seed: int
    ) -> ZSet:
        """The same, of partitions whose values change of all their rows. led: those that tell the values."""
        before, after = self._sides(led, None)
        other = _differ(led, before, after)
        same = ~other[led.group]
        changes = [difference(schema, led.rows, of_groups(before, same), of_groups(after, same), seed)]
        if other.any():
            delta = integral.delta.take(other[groups.owner].nonzero()[0])
            whole = Integral(integral.layout, integral.before, delta)
            touched = groups_of(delta.rows, self.partition, seed)
            order = self.functions[0].order
            changes.append(
                self._change(touched_groups(whole, touched, self.partition, order, seed), None, schema, seed)
            )
        return ZSet.sum(schema, changes)

    def _change(self, touched: Touched, heads: Heads | None, schema: pa.Schema, seed: int) -> ZSet:
        """What the functions' values of these rows become, less what they were. heads: of their partitions,
        the same on both sides.
        """
        return difference(schema, touched.rows, *self._sides(touched, heads), seed)

    def _sides(self, touched: Touched, heads: Heads | None) -> tuple[Side, Side]:
        """The rows and the functions' values, as they were and as they are."""
        orders = list(dict.fromkeys(function.order for function in self.functions))
        sorted_ = {orders[0]: (np.arange(len(touched.group)), touched.peers)}
        for order in orders[1:]:
            sorted_[order] = sort_rows(touched.rows, touched.group, order)
        before, after = (
            (np.repeat(np.arange(len(w)), w), self._values(touched, heads, w, sorted_))
            for w in (touched.before, touched.after)
        )
        return before, after

    def _values(
        self,
        touched: Touched,
        heads: Heads | None,
        weights: np.ndarray,
        sorted_: dict[tuple[SortKey, ...], tuple[np.ndarray, np.ndarray]],
    ) -> list[pa.Array]:
        """The functions' values, one for each copy of each row of `touched`, in its order."""
        values: list[pa.Array] = [None] * len(self.functions)
        for order, (positions, peers) in sorted_.items():
            copies = weights[positions]
            rows = Partitions(
                touched.rows,
                np.repeat(positions, copies),
                np.repeat(touched.group[positions], copies),
                np.repeat(peers, copies),
                order,
                heads,
            )
            back = _inverse(positions, weights, copies)
            for i, function in enumerate(self.functions):
                if function.order == order:
                    value = self._value(function, rows)
                    values[i] = value if back is None else value.take(int64_array(back))
        return values

    def _value(self, function: WindowFunction, rows: Partitions) -> pa.Array:
        """Raises EvaluationError after the function and what it reads of an example row."""
        try:
            return evaluate_window(function, rows)
        except EvaluationError as error:
            where = ""
            if error.row is not None:
                read = {*self.partition, *(by.column for by in function.order), *function.arguments}
                where = f" where {described(rows.distinct, int(rows.row[error.row]), sorted(read))}"
            raise error.within(f"{function.text or function.function}{where}") from None

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0]

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        super().verify(node, inputs, where)
        (child,) = inputs
        for call in self.functions:
            assert call.values or call.function in FUNCTIONS, f"{where}: no function {call.function}"
            read = (*call.arguments, *(by.column for by in call.order))
            assert all(0 <= i < len(child.schema) for i in read), f"{where}: no column"
            for edge in (call.frame.lower, call.frame.upper):
                if isinstance(edge, Expression):
                    assert not call.frame.rows and len(call.order) == 1, (
                        f"{where}: a RANGE bound needs one order"
                    )
                    has_columns(edge, child, where)
        placement = child.placement
        assert placement is not None and set(placement) <= set(self.partition), f"{where}: placement"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A delta puts out rows of the partitions it has rows of: of any age, but with its partition's keys.

        Of rolling windows only rows whose frame can hold a new one (`windows/rolling.py`).
        """
        found = of_partition(self.partition, self.made, inputs[0])
        rolling = reach(self.functions, inputs[0])
        return found if rolling is None else {rolling.column: rolling.changed, **found}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """A partition is listed when a new row has its keys, of rolling windows what such rows can see."""
        limits = of_columns(inputs[0], self.partition)
        rolling = reach(self.functions, inputs[0])
        if rolling is None:
            return limits
        return (*limits, limit(rolling.column, rolling.seen))

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < len(inputs[0]) else None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A row in between changes others' ranks."""
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        calls = ", ".join(function.text or function.function for function in self.functions)
        return f"by {listed(inputs[0], self.partition)} {calls}"


def _differ(touched: Touched, before: Side, after: Side) -> np.ndarray:
    """bool per group: whether it has rows on both sides, and other values."""
    groups = np.arange(touched.count)
    (was, old), (is_, new) = ((touched.group[row], columns) for row, columns in (before, after))
    first = [side.searchsorted(groups) for side in (was, is_)]
    (both,) = np.logical_and(np.isin(groups, was), np.isin(groups, is_)).nonzero()
    differ = np.zeros(touched.count, dtype=np.bool_)
    differ[both] = ~equal_rows(old, first[0][both], new, first[1][both])
    return differ


def _inverse(positions: np.ndarray, weights: np.ndarray, copies: np.ndarray) -> np.ndarray | None:
    """Where each copy of each row, in the order of rows, is in the order of `positions`; None: in place."""
    if (positions == np.arange(len(positions))).all():
        return None
    starts = np.empty(len(positions), dtype=np.int64)
    starts[positions] = np.cumsum(copies) - copies
    return expand_ranges(starts, starts + weights)[1]
