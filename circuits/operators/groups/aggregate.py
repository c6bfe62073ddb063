"""Aggregation: one row a group, replaced when it changes.

    aggregate^Δ(d)[g] = −row(z⁻¹(I)[g]) + row(I[g])      for the groups g that the deltas touch

I: the integrals of what the results are made of (`aggregates/function.py`): accumulators (`Combine`), parts
that add up (`CombineParts`), values ordered within groups, or all values. A group exists while its weight is
positive; the global group (no keys) always does.

DBSP, PVLDB 16(7), §7.  State: those integrals.  Cost: O(g log |I|) for g touched groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import concat, positions_of, take_values
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.groups import groups_of
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.groups.aggregates.function import Function
from dbsp.circuits.operators.groups.combine import keep_keys
from dbsp.circuits.operators.groups.state.accumulators import Accumulator
from dbsp.circuits.operators.groups.state.sides import Groups, Sides
from dbsp.circuits.operators.operator import Context, Node, Placement, Value
from dbsp.circuits.operators.shown import listed
from dbsp.circuits.progress.bounds import Lines, of_columns_alone, union
from dbsp.circuits.progress.limits import Limits, of_columns
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet

_SIGNS = np.array([-1, 1])  # of what a group's row was, and of what it is


@dataclass(frozen=True)
class Result:
    """One output column. text: the user's spelling, for messages."""

    text: str
    data_type: pa.DataType
    function: Function


@dataclass(frozen=True)
class Aggregate(Reader):
    """Inputs: Integrate nodes keyed by the same `keys` leading columns: first those of accumulators, of which
    the first has the groups' weights; then the others. accumulated: the accumulators of each, after its keys.

    Output: the keys, then the results.
    """

    keys: int
    accumulated: tuple[tuple[Accumulator, ...], ...]
    results: tuple[Result, ...]
    output: pa.Schema

    @property
    def cost(self) -> str:
        return "touched groups"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.output

    def placement(self, *inputs: Placement) -> Placement:
        return keep_keys(inputs[0], self.keys)

    def rows_a_value(self, width: int) -> tuple[tuple[int, ...], str]:
        return tuple(range(self.keys)), "being one row"

    def step(self, context: Context, *inputs: Value) -> ZSet:
        integrals = [value for value in inputs if isinstance(value, Integral)]
        assert len(integrals) == len(inputs)
        groups = self._touched(context, integrals)
        if not groups.count:
            return ZSet.empty(self.output)
        sides = Sides(groups, self.accumulated, integrals)
        there = self._exists(context, sides)
        results = [self._result(result, sides, there) for result in self.results]
        before = np.arange(groups.count)
        after = before + groups.count
        same = there[before] & there[after] & equal_rows(results, before, results, after)
        gone, come = ((there[side] & ~same).nonzero()[0] for side in (before, after))
        keys, places = (positions_of(np.concatenate((gone, to))) for to in (come, after[come]))
        columns = [take_values(column, keys) for column in groups.columns]
        columns += [take_values(column, places) for column in results]
        weights = _SIGNS.repeat((len(gone), len(come)))
        return ZSet(pa.RecordBatch.from_arrays(columns, schema=self.output), weights)

    def _touched(self, context: Context, integrals: list[Integral]) -> Groups:
        """The groups of all rows of all deltas, each once."""
        if not self.keys:
            touched = any(len(integral.delta) for integral in integrals) or context.first
            return Groups([], int(touched and context.owns_empty_key), context.seed)
        deltas = [i.delta.rows.select(list(range(self.keys))) for i in integrals if len(i.delta)]
        if not deltas:
            return Groups([], 0, context.seed)
        if len(integrals) == 1:  # of accumulators, which has each group once
            return Groups(deltas[0].columns, deltas[0].num_rows, context.seed, integrals[0].delta)
        schema = pa.schema([self.output.field(i) for i in range(self.keys)])
        rows = concat(schema, deltas)
        found = groups_of(rows, range(self.keys), context.seed)
        return Groups(found.keys, len(found.starts), context.seed)

    def _exists(self, context: Context, sides: Sides) -> np.ndarray:
        """bool[places]: whether the group has rows; the global group exists since the first step."""
        if self.keys:
            return sides.totals(0).weights > 0
        return np.repeat([not context.first, True], sides.groups.count)

    def _result(self, result: Result, sides: Sides, there: np.ndarray) -> pa.Array:
        """At all places; where the group isn't there it is anything. Raises EvaluationError after the
        aggregate and the keys of an example group.
        """
        try:
            return result.function.finalize(sides, there, result.data_type)
        except EvaluationError as error:
            row, columns = error.row, zip(self.output.names, sides.groups.columns, strict=False)
            group = None if row is None else row % sides.groups.count
            keys = [f"{name}={column[group].as_py()!r}" for name, column in columns if group is not None]
            where = f" where {', '.join(keys)}" if keys else ""
            raise error.within(f"{result.text}{where}") from None

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        super().verify(node, inputs, where)
        for child in inputs:
            placement = child.placement
            assert placement is not None and all(i < self.keys for i in placement), f"{where}: placement"
            assert placement == inputs[0].placement, f"{where}: inputs lie differently"
        for child, accumulators in zip(inputs, self.accumulated, strict=False):
            width = self.keys + len(accumulators)
            assert len(child.schema) == width, f"{where}: {len(child.schema)} columns, not {width}"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """A group's row changes only when an input has a row of it: the least of the inputs' bounds."""
        return of_columns_alone(union(inputs), range(self.keys))

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """Any input may touch a group, and then all are looked up."""
        return of_columns(union(inputs), range(self.keys))

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return (0, column) if column < self.keys else None

    def retracts(self, inputs: Sequence[bool]) -> bool:
        """A group's row is replaced."""
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        results = ", ".join(result.text for result in self.results)
        return f"by {listed(inputs[0], range(self.keys))} {results}".rstrip()
