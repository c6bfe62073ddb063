"""Lowering of recursion: the queries of recursive views, over rows that carry their iteration.

The plan's columns keep their places, and the iteration comes last. What doesn't depend on the recursion is
lowered as usual, moved to one partition, and enters at iteration 0.

    recursive views     rᵢ₊₁ = distinct(query(rᵢ)): a pair's iteration is the greater one of its rows'
    WITH RECURSIVE      levelᵢ₊₁ = term(levelᵢ), all added up: only rows of one level make pairs
    LEFT JOIN           a ⟕ b = (a ⋈ b) + (a − a ⋈ distinct(keys of b)) × NULL, b from outside: linear in a
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of, remap
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.generate import Generate
from dbsp.circuits.operators.joins.join import LEFT, RIGHT, Join
from dbsp.circuits.operators.linear import Filter, FlatMap, Map, Negate, Union
from dbsp.circuits.operators.recursion import ITERATION_FIELD, Earliest, Recurrence
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import View
from dbsp.sql.plans.schemas import Field, Schema, arrow_schema, columns_of_schema
from dbsp.sql.rules.traverse import bottom_up

_FIRST = Literal(0, ITERATION_FIELD.type)


def lower_component(lowering: Lowering, views: Sequence[View]) -> dict[str, int]:
    """The node of each view of a component, whose stream is the view's change."""
    names = frozenset(view.name for view in views)
    plans = {view.name: _without_distinct(_in_pairs(view.plan, names), names) for view in views}
    loop = _Loop(lowering, list(plans.values()), names, by_level=False)
    for view in views:
        past_limit = (
            f"recursive view '{view.name}' still has new rows after {view.max_iterations} iterations; "
            f"bound them in its query, or allow more: "
            f"CREATE RECURSIVE VIEW {view.name} (...) WITH (max_iterations = n) AS ..."
        )
        loop.recur(view.name, view.plan.schema, view.max_iterations, past_limit)
    grown = [loop.distinct(loop.plan(plan)) for plan in plans.values()]
    feedback = [(node, loop.recurrences[name]) for node, name in zip(grown, plans, strict=True)]
    return dict(zip(plans, lowering.builder.loop(feedback, grown), strict=True))


def lower_levels(lowering: Lowering, plan: p.Levels) -> int:
    """The node whose stream is the change of all levels together."""
    names = frozenset({LEVEL})
    whole = p.Union((plan.anchor, _in_pairs(plan.term, names)), plan.schema)
    loop = _Loop(lowering, [whole], names, by_level=True)
    past_limit = (
        f"[RECURSION_LEVEL_LIMIT_EXCEEDED] WITH RECURSIVE still has new rows after {plan.limit} levels; "
        "end it in its WHERE, or allow more: WITH RECURSIVE name MAX RECURSION LEVEL n AS (...)"
    )
    loop.recur(LEVEL, plan.schema, plan.limit, past_limit)
    levels = loop.plan(whole)
    return lowering.builder.loop([(levels, loop.recurrences[LEVEL])], [levels])[0]


def _in_pairs(plan: Plan, names: Set[str]) -> Plan:
    """The plan with inner joins for semi-joins that depend on the recursion.

    Several matches, where a residual doesn't let them be made one, multiply a row: a view is distinct anyhow.
    """

    def change(node: Plan) -> Plan:
        if not isinstance(node, p.Join) or node.kind != "semi" or not node.scanned() & names:
            return node
        return p.Project(_matched(node), columns_of_schema(node.left.schema), node.left.schema)

    return bottom_up(plan, change)


def _matched(join: p.Join) -> p.Join:
    """The left rows beside what says that they have a match: once, without a residual."""
    right, keys = join.right, join.right_keys
    if join.residual is None:
        schema = tuple(Field(f"key{i}", key.type, key.nullable) for i, key in enumerate(keys))
        right, keys = p.Distinct(p.Project(right, keys, schema)), columns_of_schema(schema)
    both = join_schema("inner", join.left.schema, right.schema)
    return replace(join, kind="inner", right=right, right_keys=keys, schema=both)


def _without_distinct(plan: Plan, names: Set[str]) -> Plan:
    """The plan of a view without DISTINCT where the view's own one does the same (DBSP, Proposition 4.4)."""
    if isinstance(plan, p.Distinct) and plan.scanned() & names:
        return _without_distinct(plan.input, names)
    if isinstance(plan, p.Project | p.Filter):
        return replace(plan, input=_without_distinct(plan.input, names))
    if isinstance(plan, p.Union):
        return replace(plan, parts=tuple(_without_distinct(input_, names) for input_ in plan.inputs))
    return plan


def _outside(plan: Plan, names: Set[str]) -> Iterator[Plan]:
    """The largest parts of a plan that don't depend on the recursion."""
    if not plan.scanned() & names:
        yield plan
    else:
        for input_ in plan.inputs:
            yield from _outside(input_, names)
        if isinstance(plan, p.Join) and plan.kind == "left":
            yield _matched(plan).right


class _Loop:
    """Turns plans over recursive relations into nodes of one loop."""

    def __init__(
        self, lowering: Lowering, plans: Sequence[Plan], names: frozenset[str], by_level: bool
    ) -> None:
        self.builder, self.names, self.by_level = lowering.builder, names, by_level
        parts = dict.fromkeys(part for plan in plans for part in _outside(plan, names))
        self.outside = {part: self.builder.placed(lowering.plan(part), ()) for part in parts}
        self.recurrences: dict[str, int] = {}
        self._nodes: dict[Plan, int] = {}

    def recur(self, name: str, schema: Schema, limit: int, past_limit: str) -> None:
        """Add a recursive relation."""
        operator = Recurrence(len(self.builder.loops), name, _inside(schema), limit, past_limit)
        self.recurrences[name] = self.builder.add(operator, *self.outside.values(), name=name)

    def plan(self, plan: Plan) -> int:
        """The node of a plan's rows and their iteration."""
        if plan not in self._nodes:
            self._nodes[plan] = self._lower(plan)
        return self._nodes[plan]

    def _lower(self, plan: Plan) -> int:
        if plan in self.outside:
            return self._map(self.outside[plan], (*columns_of_schema(plan.schema), _FIRST), plan.schema)
        match plan:
            case p.Scan():
                return self.recurrences[plan.relation]
            case p.Project(input=p.Join(kind="inner") as join):
                return self._join(join, plan.expressions, plan.schema)
            case p.Project():
                iteration = _iteration(len(plan.input.schema))
                return self._map(self.plan(plan.input), (*plan.expressions, iteration), plan.schema)
            case p.Filter():
                return self.builder.add(Filter(plan.condition), self.plan(plan.input))
            case p.Union():
                return self.builder.add(Union(_inside(plan.schema)), *map(self.plan, plan.inputs))
            case p.Expand():
                iteration = _iteration(len(plan.input.schema))
                projections = tuple((*row, iteration) for row in plan.projections)
                return self.builder.add(FlatMap(projections, _inside(plan.schema)), self.plan(plan.input))
            case p.Generate():
                return self._generate(plan)
            case p.Distinct():
                return self.distinct(self.plan(plan.input))
            case p.Join(kind="left"):
                return self._left_join(plan)
            case p.Join():
                return self._join(plan, columns_of_schema(plan.schema), plan.schema)
            case _:
                raise AssertionError(f"the front end lets no such recursion through: {plan}")

    def _generate(self, plan: p.Generate) -> int:
        """The iteration is kept with the columns that are, and then moved to the end."""
        kept = len(plan.kept)
        fields = list(arrow_schema(plan.schema))
        schema = pa.schema([*fields[:kept], ITERATION_FIELD, *fields[kept:]])
        columns = (*plan.kept, len(plan.input.schema))
        operator = Generate(columns, plan.elements, schema, plan.outer, plan.position, plan.fields)
        generated = self.builder.add(operator, self.plan(plan.input))
        moved = tuple(
            Column(i + (i >= kept), field.type, field.nullable) for i, field in enumerate(plan.schema)
        )
        return self._map(generated, (*moved, _iteration(kept)), plan.schema)

    def distinct(self, node: int) -> int:
        """Its rows once: from their first iteration on, or in every level."""
        width = len(self.builder.nodes[node].schema)
        if self.by_level:
            return self.builder.add(Distinct(), self._trace(node, range(width)))
        return self.builder.add(Earliest(), self._trace(node, range(width - 1)))

    def _join(self, plan: p.Join, read: Sequence[Expression], schema: Schema) -> int:
        """The expressions `read` over the join."""
        width = len(plan.left.schema)
        both = [(LEFT, i) for i in range(width)] + [(RIGHT, i) for i in range(len(plan.right.schema))]
        residual = () if plan.residual is None else (plan.residual,)
        needed = sorted({i for e in (*read, *residual) for i in columns_of(e)})
        position = {column: i for i, column in enumerate(needed)}
        left, left_key, left_at = self._keyed(plan.left, plan.left_keys, plan.null_safe)
        right, right_key, right_at = self._keyed(plan.right, plan.right_keys, plan.null_safe)
        columns = [both[i] for i in needed]
        iteration: Expression = _iteration(len(columns))
        if left_at is None or right_at is None:
            columns.append((RIGHT, right_at) if left_at is None else (LEFT, left_at))  # type: ignore[arg-type]
        elif self.by_level:
            columns.append((LEFT, left_at))
            left_key, right_key = (*left_key, left_at), (*right_key, right_at)
        else:
            columns += [(LEFT, left_at), (RIGHT, right_at)]
            later = (iteration, _iteration(len(columns) - 1))
            iteration = Call("greatest", later, ITERATION_FIELD.type, nullable=False)
        operator = Join(
            left_key, right_key, tuple(columns), remap(residual[0], position) if residual else None
        )
        joined = self.builder.add(operator, self._trace(left, left_key), self._trace(right, right_key))
        return self._map(joined, (*(remap(e, position) for e in read), iteration), schema)

    def _left_join(self, plan: p.Join) -> int:
        """The right side is from outside."""
        width = len(plan.left.schema)
        pairs = replace(plan, kind="inner", schema=join_schema("inner", plan.left.schema, plan.right.schema))
        beside = tuple(Literal(None, field.type) for field in plan.right.schema)
        unmatched: tuple[Expression, ...] = (*columns_of_schema(plan.left.schema), *beside)
        rows = self._map(self.plan(plan.left), (*unmatched, _iteration(width)), plan.schema)
        matched = self.builder.add(Negate(), self._join(_matched(plan), unmatched, plan.schema))
        inner = self._join(pairs, columns_of_schema(pairs.schema), plan.schema)
        return self.builder.add(Union(_inside(plan.schema)), inner, rows, matched)

    def _keyed(
        self, side: Plan, keys: Sequence[Expression], null_safe: Sequence[bool]
    ) -> tuple[int, tuple[int, ...], int | None]:
        """(node, its key columns, its iteration's column); None: it is from outside.

        Rows whose key matches nothing are left out.
        """
        inside = side not in self.outside
        node = self.plan(side) if inside else self.outside[side]
        expressions: list[Expression] = list(columns_of_schema(side.schema))
        fields = list(side.schema)
        for key in keys:
            if key not in expressions:
                expressions.append(key)
                fields.append(Field(f"key{len(fields)}", key.type, key.nullable))
        columns = tuple(map(expressions.index, keys))
        schema = tuple(fields)
        if inside:
            node = self._map(node, (*expressions, _iteration(len(side.schema))), schema)
        elif len(fields) > len(side.schema):
            node = self.builder.add(Map(tuple(expressions), arrow_schema(schema)), node)
        for i, safe in zip(columns, null_safe, strict=True):
            if fields[i].nullable and not safe:
                condition = Call("is_not_null", (Column(i, fields[i].type),), pa.bool_(), nullable=False)
                node = self.builder.add(Filter(condition), node)
        return node, columns, len(fields) if inside else None

    def _trace(self, node: int, columns: Iterable[int]) -> int:
        return self.builder.add(Integrate(tuple(columns), gathered=True), node)

    def _map(self, node: int, expressions: tuple[Expression, ...], schema: Schema) -> int:
        """A projection to the schema's columns and the iteration; the node itself where nothing changes."""
        there = self.builder.nodes[node].schema
        columns = [e.index if isinstance(e, Column) else None for e in expressions]
        if columns == list(range(len(there))):
            return node
        return self.builder.add(Map(expressions, _inside(schema)), node)


def _inside(schema: Schema) -> pa.Schema:
    return arrow_schema(schema).append(ITERATION_FIELD)


def _iteration(index: int) -> Column:
    return Column(index, ITERATION_FIELD.type, nullable=False)
