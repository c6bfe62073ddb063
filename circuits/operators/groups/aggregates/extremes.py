"""MIN, MAX, MIN_BY, MAX_BY: the least or greatest value of a group, or the one beside it.

    max(i)[g] = max { v : i[g, v] > 0 }

Where nothing is retracted that is an accumulator. Else a trace keeps (key, value) sorted by (hash of key,
order code of value), so the candidates of a group are its outermost rows
(`circuits/operators/joins/outermost.py`), fetched a few at a time: if a complete one has a positive weight
the group is decided, else more is fetched.
Cost: O(log n) a group and batch, as long as few of a group's outermost values have been retracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.order_codes import from_order_bits
from dbsp.circuits.columns.sorting import SortKey, comparable
from dbsp.circuits.operators.groups.aggregates.function import Accumulated, Function
from dbsp.circuits.operators.groups.state.sides import Sides
from dbsp.circuits.operators.joins.edges import Finer
from dbsp.circuits.operators.joins.outermost import Outermost, outermost
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.layout import of_placement
from dbsp.circuits.traces.trace import Integral

_FIRST_FETCH = 4


@dataclass(frozen=True)
class Extreme(Accumulated):
    """Of append-only input; NULL without values. parts: `Least` or `Greatest`."""

    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        (codes,) = self.sums(sides)
        return from_order_bits(codes, there & (self.counts(sides) > 0), data_type)


@dataclass(frozen=True)
class OrderedExtreme(Function):
    """trace: the number of the integral of values, or of (orderings…, value), in the first one's order."""

    trace: int
    greatest: bool

    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        groups = sides.groups

        def of(integral: Integral) -> pa.Array:
            keys = integral.layout.placed(groups.columns, groups.count, groups.seed)
            return extremes(integral, groups.columns, keys, self.greatest)

        return sides.of_integral(self.trace, of)


def extremes(integral: Integral, groups: list[pa.Array], keys: np.ndarray, greatest: bool) -> pa.Array:
    """For each group its extreme value in `integral.before`, or NULL.

    integral: rows (keys…, value), value not NULL, placed by the keys, ordered by the value; or rows (keys…,
    orderings…, value), in the order of the first: the value beside the extreme orderings, of several the
    extreme one. A struct's first field is such an ordering, NULL before all values, since it has a code.
    groups: their key columns. keys: uint64[groups], sort keys of which the high half counts.
    """
    width = len(groups)
    fields = [field.type for field in integral.layout.schema][width:]
    value_type = fields[0] if len(fields) == 1 else pa.struct(list(zip(_names(fields), fields, strict=True)))
    found: list[pa.Array] = []
    owners: list[np.ndarray] = []
    least, most = of_placement(keys)
    left, fetch, columns = np.arange(len(keys)), _FIRST_FETCH, tuple(range(width))
    finer = None
    while len(left):
        span = least[left], most[left]
        fetched = outermost(integral.before, groups, left, *span, columns, greatest, fetch, finer)
        winner_of, winners, undecided = _decide(fetched, width, value_type)
        owners.append(left[winner_of])
        found.append(winners)
        left, fetch = left[undecided], fetch * 8
        # NULL is the least of all
        finer = Finer(tuple(SortKey(width + i, greatest, greatest) for i in range(len(fields))))
    values = _scatter(found, owners, len(keys), value_type)
    if len(fields) > 1:
        return values.flatten()[-1]
    # 0.0 and -0.0 tie: as one value, or which of them was found first would show
    return pc.add(values, pa.scalar(0, value_type)) if pa.types.is_floating(value_type) else values


def _values(batch: Batch, column: int) -> pa.Array:
    """The values from the column on: of more than one, structs."""
    columns = batch.rows.columns[column:]
    return columns[0] if len(columns) == 1 else pa.StructArray.from_arrays(columns, names=_names(columns))


def _names(columns: Sequence[object]) -> list[str]:
    return [f"c{i}" for i in range(len(columns))]


def _decide(
    fetched: Outermost, column: int, value_type: pa.DataType
) -> tuple[np.ndarray, pa.Array, np.ndarray]:
    """(groups decided with a value, their values, groups that need more rows). column: the value's."""
    if not fetched.parts:
        return np.zeros(0, np.int64), pa.array([], value_type), np.flatnonzero(~fetched.everything)
    owner = np.concatenate([owner for owner, _ in fetched.parts])
    value = pa.concat_arrays([_values(batch, column) for _, batch in fetched.parts])
    weight = np.concatenate([batch.weights for _, batch in fetched.parts])
    complete = np.concatenate([fetched.is_complete(*part) for part in fetched.parts])
    if not len(owner):
        return np.zeros(0, np.int64), value, np.flatnonzero(~fetched.everything)
    pairs = [int64_array(np.ascontiguousarray(owner)), value]
    order, starts = group_rows(pairs, hash_rows(pairs, len(owner)))
    total = np.add.reduceat(weight[order], starts)
    first = order[starts]
    first = first[(total > 0) & complete[first]]
    rank = comparable(value.take(int64_array(np.ascontiguousarray(first))))
    by = np.lexsort((rank if fetched.greatest else ~rank, owner[first]))
    last = np.ones(len(by), dtype=np.bool_)
    last[:-1] = owner[first][by[1:]] != owner[first][by[:-1]]
    winner = first[by[last]]
    undecided = ~fetched.everything
    undecided[owner[winner]] = False
    return owner[winner], value.take(int64_array(np.ascontiguousarray(winner))), np.flatnonzero(undecided)


def _scatter(found: list[pa.Array], owners: list[np.ndarray], count: int, data_type: pa.DataType) -> pa.Array:
    """The found values at their groups' positions, NULL elsewhere."""
    position = np.full(count, -1, dtype=np.int64)
    owner = np.concatenate(owners) if owners else np.zeros(0, np.int64)
    position[owner] = np.arange(len(owner))
    values = pa.concat_arrays(found) if found else pa.array([], data_type)
    return values.take(pa.array(position, mask=position < 0))
