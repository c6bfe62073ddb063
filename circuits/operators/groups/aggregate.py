"""Aggregation: one row a group, replaced when it changes.

    aggregate^Δ(d)[g] = −row(z⁻¹(I)[g]) + row(I[g])      for the groups g that the deltas touch

I: the integrals of what the results are made of: accumulators (`Combine`), parts that add up
(`CombineParts`), values ordered within groups (`extremes`), or all values (`Finalizer`). A group exists while
its weight is positive; the global group (no keys) always does.

DBSP, PVLDB 16(7), §7.  State: those integrals.  Cost: O(g log |I|) for g touched groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, fixed_values, take, type_name
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.exact_sums import divide_half_up, join_doubles, to_decimal, to_double, to_int64
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.months import fitting
from dbsp.circuits.columns.order_codes import from_order_bits
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.groups.aggregates.members import Finalizer, Members
from dbsp.circuits.operators.groups.combine import keep_keys
from dbsp.circuits.operators.groups.extremes import extremes
from dbsp.circuits.operators.operator import Context, Node, Placement, Value
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines, union
from dbsp.circuits.progress.limits import Limits, of_columns
from dbsp.circuits.traces.batch import Layout
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Result:
    """One output column.

    function: 'weight' (count(*)), 'count', 'sum', 'avg', 'min', 'max'. input: which integral holds its
    accumulators, or its ordered values ('min', 'max' with `ordered`). count: the accumulator that counts
    the argument's values, None for the group's weight; without values the result is NULL. parts: the
    accumulators of the value. limbs: the integral with the limbs of a double's sum. lenient: NULL where the
    result is out of range, instead of an error. finalizer: any other function, of the rows of `input`.
    """

    function: str
    type: pa.DataType
    input: int = 0
    count: int | None = None
    parts: tuple[int, ...] = ()
    scale: int = 0
    ordered: bool = False
    limbs: int | None = None
    text: str = ""
    lenient: bool = False
    finalizer: Finalizer | None = None


@dataclass(frozen=True)
class Aggregate(Reader):
    """Inputs: Integrate nodes keyed by the same `keys` leading columns; the first one holds the weights.

    Output: the keys, then the results.
    """

    keys: int
    results: tuple[Result, ...]
    output: pa.Schema

    @property
    def cost(self) -> str:
        return "touched groups"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.output

    def placement(self, *inputs: Placement) -> Placement:
        return keep_keys(inputs[0], self.keys)

    def step(self, context: Context, *inputs: Value) -> ZSet:
        integrals = [value for value in inputs if isinstance(value, Integral)]
        assert len(integrals) == len(inputs)
        groups = self._touched(context, integrals)
        if not groups.count:
            return ZSet.empty(self.output)
        before = _Side(self, groups, integrals)
        after = _Side(self, groups, integrals, earlier=before)
        there_before = before.exists() & (self.keys > 0 or not context.first)
        there_after = after.exists()
        before_rows, after_rows = before.rows(there_before), after.rows(there_after)
        everywhere = np.arange(groups.count)
        same = there_before & there_after
        same &= equal_rows(before_rows.columns, everywhere, after_rows.columns, everywhere)
        gone, come = np.flatnonzero(there_before & ~same), np.flatnonzero(there_after & ~same)
        rows = concat(self.output, [take(before_rows, gone), take(after_rows, come)])
        return ZSet(rows, np.concatenate([np.full(len(gone), -1), np.ones(len(come))]).astype(np.int64))

    def _touched(self, context: Context, integrals: list[Integral]) -> Groups:
        """The groups of all rows of all deltas, each once."""
        if not self.keys:
            touched = any(len(integral.delta) for integral in integrals) or context.first
            return Groups([], int(touched and context.owns_empty_key), context.seed)
        deltas = [i.delta.rows.select(list(range(self.keys))) for i in integrals if len(i.delta)]
        if not deltas:
            return Groups([], 0, context.seed)
        schema = pa.schema([self.output.field(i) for i in range(self.keys)])
        rows = concat(schema, deltas)
        if len(integrals) > 1 or integrals[0].layout.order is not None:
            order, starts = group_rows(rows.columns, hash_rows(rows.columns, rows.num_rows, context.seed))
            rows = take(rows, order[starts])
        return Groups(rows.columns, rows.num_rows, context.seed)

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        super().verify(node, inputs, where)
        for child in inputs:
            placement = child.placement
            assert placement is not None and all(i < self.keys for i in placement), f"{where}: placement"
            assert placement == inputs[0].placement, f"{where}: inputs lie differently"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A group's row changes only when an input has a row of it: the least of the inputs' bounds."""
        return {i: bound for i, bound in union(inputs).items() if i < self.keys}

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """Any input may touch a group, and then all are looked up."""
        return of_columns(union(inputs), range(self.keys))

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < self.keys else None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A group's row is replaced."""
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        results = ", ".join(result.text or result.function for result in self.results)
        return f"by {listed(inputs[0], range(self.keys))} {results}".rstrip()


@dataclass
class Groups:
    """The touched groups: their key columns."""

    columns: list[pa.Array]
    count: int
    seed: int

    def sort_keys(self, layout: Layout, whole: bool) -> np.ndarray:
        """uint64[count]: each group's sort key in a trace; its high half only, unless `whole`."""
        high = hash_rows([self.columns[i] for i in layout.placement], self.count, self.seed)
        if not whole or layout.placement == tuple(range(len(self.columns))):
            return high
        low = hash_rows(self.columns, self.count, self.seed)
        return (high & np.uint64(0xFFFFFFFF00000000)) | (low >> np.uint64(32))


class _Side:
    """The results of the touched groups before the step, or (given that side) after it."""

    def __init__(
        self, aggregate: Aggregate, groups: Groups, integrals: list[Integral], earlier: _Side | None = None
    ) -> None:
        self._aggregate, self._groups, self._integrals, self._earlier = aggregate, groups, integrals, earlier
        self._accumulators: dict[int, tuple[np.ndarray, dict[int, np.ndarray]]] = {}
        self._listed: dict[int, Members] = {}

    def exists(self) -> np.ndarray:
        """bool[groups]: whether the group has rows; the global group always exists."""
        weight, _ = self._of(0)
        return weight > 0 if self._aggregate.keys else np.ones(self._groups.count, dtype=np.bool_)

    def rows(self, there: np.ndarray) -> pa.RecordBatch:
        """The output rows of all groups; results of groups that aren't there are anything."""
        columns = [*self._groups.columns, *(self._result(r, there) for r in self._aggregate.results)]
        return pa.RecordBatch.from_arrays(columns, schema=self._aggregate.output)

    def _reached(self, integral: Integral) -> Integral:
        """The integral whose `before` is what this side sees."""
        if self._earlier is None:
            return integral
        return integral.stepped

    def _of(self, index: int) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        """(weights, accumulators by column) of every group in the integral `index`."""
        if index not in self._accumulators:
            self._accumulators[index] = self._gather(index)
        return self._accumulators[index]

    def _gather(self, index: int) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        integral, groups = self._integrals[index], self._groups
        layout = integral.layout
        if self._earlier is None:
            weights, sums = _zeros(layout, groups.count)
        else:  # after the step is before the step, plus the delta
            weights, sums = self._earlier._of(index)
            weights, sums = weights.copy(), {i: total.copy() for i, total in sums.items()}
            integral = integral.changed
        keys = groups.sort_keys(layout, whole=True)
        for wanted, batch, there in integral.find(groups.columns, keys, layout.identity, whole_key=True):
            # a batch holds each identity once, so no position of `wanted` repeats
            weights[wanted] += batch.weights[there]
            for i, total in sums.items():
                reduce = np.add if i in layout.sums else np.minimum if i in layout.minima else np.maximum
                total[wanted] = reduce(total[wanted], fixed_values(batch.rows.column(i))[there])
        return weights, sums

    def _result(self, result: Result, there: np.ndarray) -> pa.Array:
        if result.ordered:
            return self._extreme(result)
        if result.finalizer is not None:
            members = self._members(result.input)
            try:
                return result.finalizer.result(members, result.type)
            except EvaluationError as error:
                raise self._located(error, result, error.row) from None
        weights, sums = self._of(result.input)
        counts = weights if result.count is None else sums[result.count]
        if result.function in ("weight", "count"):
            return pa.array(counts)
        valid = there & (counts > 0)
        if result.function in ("min", "max"):
            return from_order_bits(sums[result.parts[0]], valid, result.type)
        if result.limbs is not None:
            total = self._double_sum(result.limbs)
            if result.function == "avg":
                total = total / np.where(valid, counts, 1)
            return pa.array(total, mask=~valid)
        if len(result.parts) == 1:
            limbs = np.stack([sums[result.parts[0]] & 0xFFFFFFFF, sums[result.parts[0]] >> 32])
        else:
            limbs = np.stack([sums[part] for part in result.parts])
        divisor = np.where(valid, counts, 1)
        total, fits = (
            _average(result, limbs, divisor, valid)
            if result.function == "avg"
            else _sum(result, limbs, valid)
        )
        if not result.lenient and not (fits | ~valid).all():
            overflow = EvaluationError("ARITHMETIC_OVERFLOW", f"{type_name(result.type)} overflow.")
            raise self._located(overflow, result, int(np.argmin(fits | ~valid)))
        return total

    def _located(self, error: EvaluationError, result: Result, group: int | None) -> EvaluationError:
        """The same error, after the aggregate and the keys of an example group."""
        names = self._aggregate.output.names
        keys = [
            f"{name}={column[group].as_py()!r}"
            for name, column in zip(names, self._groups.columns, strict=False)
            if group is not None
        ]
        where = " where " + ", ".join(keys) if keys else ""
        return error.within(f"{result.text or result.function}{where}")

    def _extreme(self, result: Result) -> pa.Array:
        integral = self._integrals[result.input]
        highs = self._groups.sort_keys(integral.layout, whole=False)
        return extremes(
            self._reached(integral),
            self._groups.columns,
            highs,
            greatest=result.function in ("max", "max_by"),
        )

    def _double_sum(self, index: int) -> np.ndarray:
        members = self._members(index)
        indices, limbs = (fixed_values(column) for column in members.columns)
        return join_doubles(members.owner, indices, limbs, members.count)

    def _members(self, index: int) -> Members:
        """All rows of the groups in the integral `index`."""
        if index not in self._listed:
            self._listed[index] = self._list(index)
        return self._listed[index]

    def _list(self, index: int) -> Members:
        integral, groups, keys = self._integrals[index], self._groups, len(self._groups.columns)
        schema = pa.schema(
            [integral.layout.schema.field(i) for i in range(keys, len(integral.layout.schema))]
        )
        found: list[Members] = []
        if self._earlier is not None:
            found.append(self._earlier._members(index))
            integral = integral.changed
        highs = groups.sort_keys(integral.layout, whole=False)
        for owner, batch, there in integral.find(groups.columns, highs, tuple(range(keys)), whole_key=False):
            rows = take(batch.rows.select(list(range(keys, len(batch.rows.schema)))), there)
            found.append(Members(owner, rows.columns, batch.weights[there], groups.count))
        return Members.sum(schema, found, groups.count)


def _zeros(layout: Layout, count: int) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """The weights and accumulators of `count` groups without rows."""
    info = np.iinfo(np.int64)
    start = {**dict.fromkeys(layout.sums, 0), **dict.fromkeys(layout.minima, info.max)}
    start.update(dict.fromkeys(layout.maxima, info.min))
    return np.zeros(count, dtype=np.int64), {i: np.full(count, v, dtype=np.int64) for i, v in start.items()}


def _sum(result: Result, limbs: np.ndarray, valid: np.ndarray) -> tuple[pa.Array, np.ndarray]:
    """(the sums, which of them fit their type)"""
    if pa.types.is_decimal(result.type):
        return to_decimal(limbs, result.type, valid)
    values, fits = _to_integers(result, limbs)
    return pa.array(values, mask=~(valid & fits)).cast(result.type), fits


def _to_integers(result: Result, limbs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, fits = to_int64(limbs)
    return values, fits & fitting(values, result.type)


def _average(
    result: Result, limbs: np.ndarray, counts: np.ndarray, valid: np.ndarray
) -> tuple[pa.Array, np.ndarray]:
    """(the averages, which of them fit their type)"""
    if pa.types.is_floating(result.type):
        return pa.array(to_double(limbs) / counts, mask=~valid), np.ones(len(counts), np.bool_)
    if pa.types.is_duration(result.type):
        # Spark divides a sum that must fit
        _, fits = _to_integers(result, limbs)
        average, _ = to_int64(divide_half_up(limbs, 0, counts)[:2])
        return pa.array(average, mask=~(valid & fits)).cast(result.type), fits
    return to_decimal(divide_half_up(limbs, result.scale, counts), result.type, valid)
