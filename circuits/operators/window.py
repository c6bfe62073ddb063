"""Window functions: every row of a partition, with columns computed from the partition.

    window^Δ(d) = −w(z⁻¹(I)|T) + w(I|T)        T = partitions of d

State: the trace of the input, by partition.  Cost: O(r log r) for the r rows of the touched partitions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from circuits.arrow import concat, int64_array, take
from circuits.equality import equal_rows
from circuits.operator import Context, Operator, Value
from circuits.operators.touched import Touched, touched_groups
from circuits.sorting import SortKey, sort_rows
from circuits.trace import Integral
from circuits.windows.calls import WindowFunction
from circuits.windows.functions import evaluate_window
from circuits.windows.partitions import Partitions
from circuits.zset import ZSet


@dataclass(frozen=True)
class Window(Operator):
    """Input: an Integrate node, placed by `partition` or some of it. Output: its rows, then the functions.

    Where an order leaves rows tied, they follow each other by their values, so that the result is a function
    of what the partition holds.
    """

    partition: tuple[int, ...]
    functions: tuple[WindowFunction, ...]

    @property
    def cost(self) -> str:
        return "touched partitions"

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        computed = [pa.field(f"w{i}", function.type) for i, function in enumerate(self.functions)]
        return pa.schema([*inputs[0], *computed])

    def step(self, context: Context, *inputs: Value) -> ZSet:
        (integral,) = inputs
        assert isinstance(integral, Integral)
        schema = self.schema(integral.layout.schema)
        if not len(integral.delta):
            return ZSet.empty(schema)
        orders = list(dict.fromkeys(function.order for function in self.functions))
        touched = touched_groups(integral, self.partition, orders[0], context.seed)
        sorted_ = {orders[0]: (np.arange(len(touched.group)), touched.peers)}
        for order in orders[1:]:
            sorted_[order] = sort_rows(touched.rows, touched.group, order)
        before = self._side(touched, touched.before, sorted_)
        after = self._side(touched, touched.after, sorted_)
        return _difference(schema, touched, before, after).consolidate(context.seed)

    def _side(
        self,
        touched: Touched,
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
            )
            back = _inverse(positions, weights, copies)
            for i, function in enumerate(self.functions):
                if function.order == order:
                    value = evaluate_window(function, rows)
                    values[i] = value if back is None else value.take(int64_array(back))
        return values


def _inverse(positions: np.ndarray, weights: np.ndarray, copies: np.ndarray) -> np.ndarray | None:
    """Where each copy of each row, in the order of rows, is in the order of `positions`; None: in place."""
    if (positions == np.arange(len(positions))).all():
        return None
    starts = np.empty(len(positions), dtype=np.int64)
    starts[positions] = np.cumsum(copies) - copies
    own = np.cumsum(weights) - weights
    return np.repeat(starts - own, weights) + np.arange(int(weights.sum()))


def _difference(schema: pa.Schema, touched: Touched, before: list[pa.Array], after: list[pa.Array]) -> ZSet:
    """−before + after, without the rows that stay as they are: most of a partition, most of the time."""
    was, is_ = (np.repeat(np.arange(len(touched.group)), w) for w in (touched.before, touched.after))
    as_often = touched.before == touched.after
    gone, come = ~as_often[was], ~as_often[is_]
    old, new = np.flatnonzero(~gone), np.flatnonzero(~come)
    same = equal_rows(before, old, after, new)
    gone[old[~same]] = come[new[~same]] = True
    parts = []
    for rows, values, kept in ((was, before, np.flatnonzero(gone)), (is_, after, np.flatnonzero(come))):
        columns = take(touched.rows, rows[kept]).columns
        columns += [value.take(int64_array(kept)) for value in values]
        parts.append(pa.RecordBatch.from_arrays(columns, schema=schema))
    weights = np.concatenate([np.full(len(parts[0]), -1), np.ones(len(parts[1]))]).astype(np.int64)
    return ZSet(concat(schema, parts), weights)
