"""Lowering of joins: every kind is made of pairs and of semi- and anti-joins.

    a ⟕ b = (a ⋈ b) ∪ pad(a ▷ b)        a ⟗ b = (a ⋈ b) ∪ pad(a ▷ b) ∪ pad(b ▷ a)
    existence(a, b) = (a ⋉ b) × {true} ∪ (a ▷ b) × {false}

A side's row is *eligible* if its keys aren't NULL, nor what a difference is of, nor what a residual that may
fail can't be true without, and it meets the conditions that read this side only. Any other row has no match,
and is neither stored nor looked at for one. What then remains of the residual is judged of pairs: a left row
has a match if it is the left half of a pair,

    a ⋉ b ON keys AND residual = a ⋉ π_a(a ⋈ b ON keys AND residual)

That takes all pairs of a key. Where the residual is one comparison, and all that counts is whether a left row
has a match, the ends of the key's right values say it (`circuits/operators/joins/compared.py`).

Where the residual bounds an expression of a side by the other (`sql/plans/expressions/bands.py`), the side's
trace is in its order, so that pairs are looked for within the bounds; but not where a key has one row at
most: others may share that trace.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of, remap
from dbsp.circuits.expressions.partial import can_fail
from dbsp.circuits.expressions.predicates import conjunction, conjuncts
from dbsp.circuits.functions.logic.interval_codes import INTERVAL_CODE
from dbsp.circuits.operators.joins.compared import ComparedSemiJoin
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.joins.semijoin import SemiJoin
from dbsp.circuits.operators.linear import Filter, Union
from dbsp.circuits.progress.bounds import projected
from dbsp.circuits.progress.proofs.bounds import all_bounds
from dbsp.circuits.traces.band import Band, ValueBand
from dbsp.circuits.traces.interval_band import IntervalBand
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.expressions.bands import ValueBounds, interval_bounds, value_bounds
from dbsp.sql.plans.expressions.compared import Compared, compared
from dbsp.sql.plans.nodes.filter import required
from dbsp.sql.plans.nodes.join import is_unique
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, Schema, arrow_schema, columns_of_schema


def lower_join(lowering: Lowering, plan: p.Join) -> int:
    """The node whose stream is the join's change."""
    return lower_columns_of_join(lowering, plan, set(range(len(plan.schema))))[0]


def lower_columns_of_join(lowering: Lowering, plan: p.Join, needed: set[int]) -> tuple[int, dict[int, int]]:
    """(the node whose stream is the join's change, where each needed column of the plan is in it)."""
    columns = sorted(needed or {0})
    node = _Joining(lowering, plan, columns).lower()
    return node, {column: position for position, column in enumerate(columns)}


@dataclass(frozen=True)
class _Side:
    """One input of a join. node: its rows, followed by computed keys.

    condition: what makes a row eligible, if not every row is. eligible: the rows that are. band: what a row
    of the other side bounds; the trace is in the order of its column. value: where the side has what is
    compared, if that is all that counts.
    """

    plan: Plan
    node: int
    schema: Schema
    key: tuple[int, ...]
    keys: tuple[Expression, ...]
    condition: Expression | None
    eligible: int
    band: Band | None
    value: int | None = None


class _Joining:
    def __init__(self, lowering: Lowering, plan: p.Join, columns: list[int]) -> None:
        self.lowering, self.builder, self.plan, self.columns = lowering, lowering.builder, plan, columns
        self.width = len(plan.left.schema)
        parts = conjuncts(plan.residual)
        own: tuple[list[Expression], list[Expression]] = ([], [])
        self.residual: list[Expression] = []
        for part in parts:
            sides = {column >= self.width for column in columns_of(part)}
            if len(sides) != 1 or can_fail(part):
                self.residual.append(part)
            elif True in sides:
                moved = {i: i - self.width for i in columns_of(part)}
                own[RIGHT].append(remap(part, moved))
            else:
                own[LEFT].append(part)
        self.comparison = self._comparison()
        self.left = self._side(LEFT, plan.left, plan.left_keys, own[LEFT])
        self.right = self._side(RIGHT, plan.right, plan.right_keys, own[RIGHT])

    def lower(self) -> int:
        match self.plan.kind:
            case "inner":
                return self._pairs(self._both(self.columns))
            case "semi":
                if self.comparison is None and self.residual and self._has_one_match():
                    return self._left_of_pairs()
                return self._of_left(self._with_match(self.left))
            case "anti":
                return self._of_left(self._without_match(self.left))
            case "existence":
                return self._union(
                    self._flagged(self._with_match(self.left), True),
                    self._flagged(self._without_match(self.left), False),
                )
            case "left":
                return self._union(self._of_both(), self._padded(self.left))
            case "full":
                return self._union(self._of_both(), self._padded(self.left), self._padded(self.right))
        raise AssertionError(f"no kind of join: {self.plan.kind}")

    def _comparison(self) -> Compared | None:
        """What the sides are compared by beside the keys, where the ends of the right values are looked up.

        Of pairs a waterline may let go, which it doesn't of ends: so they are kept where one bounds a key, or
        what is compared.
        """
        found = compared(self.plan.kind, self.residual, self.width)
        if found is None or not self.builder.lateness:
            return found
        sides = (
            (self.lowering.plan(self.plan.left), self.plan.left_keys, found.left),
            (self.lowering.plan(self.plan.right), self.plan.right_keys, found.right),
        )
        bounds = all_bounds(self.builder.build())  # of the sides' nodes, too
        bounded = (projected((*keys, value), bounds[node]) for node, keys, value in sides)
        return None if any(bounded) else found

    def _has_one_match(self) -> bool:
        """Whether each left row is in one pair at most."""
        return is_unique(self.plan.right_keys, self.lowering.stream_key(self.plan.right))

    def _left_of_pairs(self) -> int:
        """Without what only the residual reads."""
        columns = tuple(Column(i, field.type) for i, field in enumerate(self._output()))
        return self.lowering.map(self._pairs(self._both(self.columns)), columns, self._output())

    # ---- the sides

    def _side(self, which: int, plan: Plan, keys: tuple[Expression, ...], own: list[Expression]) -> _Side:
        """Computed keys, and what is within bounds, become further columns of the trace."""
        node, fields = self.lowering.plan(plan), list(plan.schema)
        expressions: list[Expression] = list(columns_of_schema(plan.schema))
        positions = []
        for key in keys:
            if key in expressions:
                positions.append(expressions.index(key))
            else:
                positions.append(len(expressions))
                expressions.append(key)
                fields.append(Field(f"key{len(positions)}", key.type, key.nullable))
        band = at = None
        known = self._never_null(which, plan.schema)
        if self.comparison is not None:
            value = (self.comparison.left, self.comparison.right)[which]
            if value not in expressions:
                expressions.append(value)
                fields.append(Field("compared", value.type, value.nullable))
            at = expressions.index(value)
        elif not is_unique(keys, self.lowering.stream_key(plan)):
            bounded = value_bounds(self.residual, self.width, which == RIGHT, self.plan.asks_of_nulls)
            if bounded is not None:
                band = self._band(which, bounded, expressions, fields)
                if bounded.never_null and isinstance(band, ValueBand) and fields[band.column].nullable:
                    known.add(band.column)
        node = self.lowering.map(node, tuple(expressions), tuple(fields))
        keyed = [
            i
            for i, safe in zip(positions, self.plan.null_safe, strict=True)
            if fields[i].nullable and not safe
        ]
        there = dict.fromkeys([*keyed, *sorted(known)])
        conditions: list[Expression] = [_is_not_null(Column(i, fields[i].type)) for i in there]
        condition = conjunction(conditions + own)
        eligible = node if condition is None else self.builder.add(Filter(condition), node)
        return _Side(plan, node, tuple(fields), tuple(positions), keys, condition, eligible, band, at)

    def _never_null(self, which: int, schema: Schema) -> set[int]:
        """The columns of a side where Spark leaves rows with NULL out before a condition that may fail."""
        kinds = ("inner", "semi") if which == LEFT else ("inner", "semi", "left", "anti")
        if self.plan.kind not in kinds or not any(map(can_fail, self.residual)):
            return set()
        first = self.width if which == RIGHT else 0
        asked = {column - first for column in required(self.plan.residual)}
        return {i for i, field in enumerate(schema) if i in asked and field.nullable}

    def _band(
        self, which: int, bounded: ValueBounds, expressions: list[Expression], fields: list[Field]
    ) -> ValueBand | IntervalBand:
        """What a row of the other side bounds; its order becomes a further column, unless it is one."""
        interval = interval_bounds(self.residual, self.width, which == RIGHT)
        value, name = bounded.value, "bounded"
        if interval is not None and not (bounded.lower and bounded.upper):
            nullable = interval.start.nullable or interval.end.nullable
            value, name = (
                Call("interval_code", (interval.start, interval.end), INTERVAL_CODE, nullable),
                "interval",
            )
        if value not in expressions:
            expressions.append(value)
            fields.append(Field(name, value.type, value.nullable))
        column = expressions.index(value)
        if name == "bounded" or interval is None:
            ends = bounded.lower, bounded.upper, bounded.under, bounded.over
            return ValueBand(column, *map(tuple, ends))
        return IntervalBand(column, tuple(interval.least), tuple(interval.most))

    def _trace(self, side: _Side) -> int:
        """The eligible rows, by key."""
        return self._integrated(side.eligible, side.key, side.band)

    def _integrated(self, node: int, key: tuple[int, ...], band: Band | None = None) -> int:
        return self.lowering.integrated(node, key, None if band is None else band.column)

    def _other(self, side: _Side) -> _Side:
        return self.right if side is self.left else self.left

    def _with_match(self, side: _Side) -> int:
        return self._compared(side, anti=False)

    def _without_match(self, side: _Side) -> int:
        node = self._compared(side, anti=True)
        if side.condition is None:
            return node
        never = Call("not", (_or_false(side.condition),), pa.bool_(), nullable=False)
        # placed like the others, so that their union is
        missing = self.builder.placed(self.builder.add(Filter(never), side.node), side.key)
        return self.builder.add(Union(self.builder.nodes[node].schema), node, missing)

    def _compared(self, side: _Side, anti: bool) -> int:
        """The semi- or anti-join of a side's eligible rows with the other side."""
        if self.comparison is not None:
            return self._by_ends(self.comparison, anti)
        mine, other = self._trace(side), self._other(side)
        if self.residual:
            everything = tuple(range(len(side.schema)))
            return self.builder.add(SemiJoin(everything, everything, anti), mine, self._halves(side))
        if is_unique(other.keys, self.lowering.stream_key(other.plan)):
            return self.builder.add(SemiJoin(side.key, other.key, anti), mine, self._trace(other))
        on = tuple(range(len(other.key)))
        return self.builder.add(SemiJoin(side.key, on, anti), mine, self._keys(other))

    def _by_ends(self, comparison: Compared, anti: bool) -> int:
        """The same of the left side, by the least or greatest right value of each key."""
        left, right, width = self.left, self.right, len(self.right.key)
        assert left.value is not None and right.value is not None
        read = (*right.key, right.value)
        columns = tuple(Column(i, right.schema[i].type) for i in read)
        values = self.lowering.map(right.eligible, columns, tuple(right.schema[i] for i in read))
        ends = comparison.least, comparison.greatest
        return self.builder.add(
            ComparedSemiJoin(left.key, left.value, comparison.residual, *ends, anti),
            self.lowering.integrated(left.eligible, left.key, left.value),
            self.lowering.integrated(values, tuple(range(width)), width),
        )

    def _keys(self, side: _Side) -> int:
        """The trace of the keys of a side's eligible rows."""
        columns: tuple[Expression, ...] = tuple(Column(i, side.schema[i].type) for i in side.key)
        # without keys all that counts is whether there is a row, but rows need a column
        columns = columns or (Literal(True, pa.bool_()),)
        fields = tuple(Field(f"key{i + 1}", column.type) for i, column in enumerate(columns))
        node = self.lowering.map(side.eligible, columns, fields)
        return self._integrated(node, tuple(range(len(side.key))))

    def _halves(self, side: _Side) -> int:
        """The trace of the side's halves of all pairs, laid out like the side's own."""
        if side is self.left:
            half = [(LEFT, i) for i in range(len(side.schema))]
        else:
            # pairs lie by the left keys, which are equal to the right ones
            equal = dict(zip(side.key, self.left.key, strict=True))
            half = [(LEFT, equal[i]) if i in equal else (RIGHT, i) for i in range(len(side.schema))]
        columns = tuple(
            Column(self._wide.index(column), field.type, field.nullable)
            for column, field in zip(half, side.schema, strict=True)
        )
        halves = self.lowering.map(self._pairs(self._wide), columns, side.schema)
        return self._integrated(halves, side.key, side.band)

    # ---- pairs

    @cached_property
    def _wide(self) -> list[tuple[int, int]]:
        """The columns of pairs from which everything else follows, so that they are made once."""
        wide = [(LEFT, i) for i in range(len(self.left.schema))]
        if self.plan.kind == "full":
            wide += [(RIGHT, i) for i in range(len(self.right.schema))]
        if self.plan.kind in ("left", "full"):
            wide += [column for column in self._both(self.columns) if column not in wide]
        return wide

    def _both(self, columns: list[int]) -> list[tuple[int, int]]:
        return [(LEFT, i) if i < self.width else (RIGHT, i - self.width) for i in columns]

    def _pairs(self, columns: list[tuple[int, int]]) -> int:
        """The pairs' columns, maybe followed by what only the residual reads."""
        read = [*columns]
        for part in self.residual:
            read += [c for c in self._both(sorted(set(columns_of(part)))) if c not in read]
        residual = conjunction(self.residual)
        if residual is not None:
            residual = remap(residual, {i: read.index(c) for i, c in self._residual_columns.items()})
        bands = (self.left.band, self.right.band)
        operator = Join(self.left.key, self.right.key, tuple(read), residual, *bands)
        return self.builder.add(operator, self._trace(self.left), self._trace(self.right))

    @cached_property
    def _residual_columns(self) -> dict[int, tuple[int, int]]:
        columns = sorted({i for part in self.residual for i in columns_of(part)})
        return dict(zip(columns, self._both(columns), strict=True))

    # ---- what the join puts out

    def _output(self) -> Schema:
        return tuple(self.plan.schema[i] for i in self.columns)

    def _of_both(self) -> int:
        """Pairs, as the needed columns."""
        wanted = self._both(self.columns)
        read = self._wide if self.residual else wanted
        positions = [read.index(column) for column in wanted]
        columns = tuple(Column(i, f.type) for i, f in zip(positions, self._output(), strict=True))
        return self.lowering.map(self._pairs(read), columns, self._output())

    def _of_left(self, node: int) -> int:
        columns = tuple(Column(i, self.left.schema[i].type) for i in self.columns)
        return self.lowering.map(node, columns, self._output())

    def _flagged(self, node: int, flag: bool) -> int:
        columns: tuple[Expression, ...] = tuple(
            Literal(flag, pa.bool_()) if i == self.width else Column(i, self.plan.schema[i].type)
            for i in self.columns
        )
        return self.lowering.map(node, columns, self._output())

    def _padded(self, side: _Side) -> int:
        """The side's rows without a match, beside NULLs."""
        where = LEFT if side is self.left else RIGHT
        columns: tuple[Expression, ...] = tuple(
            Column(i, side.schema[i].type) if s == where else Literal(None, field.type)
            for (s, i), field in zip(self._both(self.columns), self._output(), strict=True)
        )
        return self.lowering.map(self._without_match(side), columns, self._output())

    def _union(self, *nodes: int) -> int:
        return self.builder.add(Union(arrow_schema(self._output())), *nodes)


def _is_not_null(expression: Expression) -> Call:
    return Call("is_not_null", (expression,), pa.bool_(), nullable=False)


def _or_false(condition: Expression) -> Call:
    return Call("coalesce", (condition, Literal(False, pa.bool_())), pa.bool_(), nullable=False)
