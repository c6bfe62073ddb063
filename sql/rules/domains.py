"""A correlated sub-query looks at the rows that its outer row equates, and at no others.

    a ⋈[d, k] g(δ(π[d](a)) ⋈[θ] b) = a ⋈[d, k] g(δ(π[d, k](a)) ⋈[k; θ] b)

Catalyst makes of a sub-query a relation of the values d that its other comparisons read of outer rows, joined
with b by these alone, θ: what the sub-query equates with an outer column k is compared above. g keeps d and k
apart: it filters, groups by them, or takes the first rows of each. Who asks has d and k of one row of a, so
that b's rows with another k are asked for by none. Without k below every d meets all of b: for
`p.cust = o.cust AND p.ts < o.ts` each time would meet all customers' earlier ones. A domain of other rows
than a's, as filters may have made it, is kept beside: (δ(π[d, k](a)) ⋉ δ(π[d](a'))).

K. Neumann, A. Kemper, "Unnesting Arbitrary Queries" (BTW 2015), has the domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dbsp.circuits.expressions.nodes import Column, Expression, columns_of, remap
from dbsp.sql.plans.nodes import Aggregate, Distinct, Filter, Join, Project, Top, Window
from dbsp.sql.plans.nodes.join import join_schema
from dbsp.sql.plans.nodes.leaves import LEVEL
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field, columns_of_schema
from dbsp.sql.rules.merge_projects import substitute
from dbsp.sql.rules.traverse import bottom_up


def domains(plan: Plan) -> Plan:
    return bottom_up(plan, _rewrite)


@dataclass(frozen=True, slots=True)
class _Asked:
    """An equality of the join above: of an outer row's value with a column. null_safe: NULLs are equal."""

    outer: Expression
    column: int
    null_safe: bool


def _rewrite(node: Plan) -> Plan:
    if not isinstance(node, Join) or node.kind == "full" or LEVEL in node.scanned():
        return node
    asked = [
        _Asked(outer, inner.index, safe)
        for outer, inner, safe in zip(node.left_keys, node.right_keys, node.null_safe, strict=True)
        if isinstance(inner, Column)
    ]
    if len(asked) < 2:
        return node
    outer, values = _rows_of(node.left, [one.outer for one in asked])
    asked = [replace(one, outer=value) for one, value in zip(asked, values, strict=True)]
    narrower = _narrower(node.right, asked, outer)
    return node if narrower is None else replace(node, right=narrower)


def _rows_of(plan: Plan, values: Sequence[Expression]) -> tuple[Plan, Sequence[Expression]]:
    """The rows before projections, and before sub-queries put values beside them; the values of these."""
    if isinstance(plan, Project):
        return _rows_of(plan.input, [substitute(value, plan.expressions) for value in values])
    if isinstance(plan, Join) and plan.kind in ("left", "existence"):
        width = len(plan.left.schema)
        if all(column < width for value in values for column in columns_of(value)):
            return _rows_of(plan.left, values)
    return plan, values


def _narrower(plan: Plan, asked: Sequence[_Asked], outer: Plan) -> Plan | None:
    """The plan with less in its domain; None: it has none, or its rows don't go by what is asked."""
    if isinstance(plan, Project):
        return _below(plan, asked, plan.expressions, outer)
    if isinstance(plan, Filter | Distinct):
        return _below(plan, asked, columns_of_schema(plan.schema), outer)
    if isinstance(plan, Aggregate):
        return _below(plan, asked, plan.keys, outer)
    if isinstance(plan, Top | Window):
        together = {key.index for key in plan.partition if isinstance(key, Column)}
        by = [one for one in asked if one.column in together]
        return _below(plan, by, columns_of_schema(plan.input.schema), outer)
    if isinstance(plan, Join):
        if plan.kind == "inner" and _is_domain(plan.left):
            return _with_keys(plan, asked, outer)
        if plan.kind != "full" and all(one.column < len(plan.left.schema) for one in asked):
            left = _narrower(plan.left, asked, outer)
            return None if left is None else plan.over(left, plan.right)
    return None


def _is_domain(plan: Plan) -> bool:
    """Whether no row is there twice."""
    while isinstance(plan, Filter):
        plan = plan.input
    return isinstance(plan, Distinct)


def _below(
    plan: Project | Filter | Distinct | Aggregate | Top | Window,
    asked: Sequence[_Asked],
    kept: Sequence[Expression],
    outer: Plan,
) -> Plan | None:
    """kept: what the plan's first columns are of its input, by which its rows are kept apart."""
    moved = [
        replace(one, column=column.index)
        for one in asked
        if one.column < len(kept) and isinstance(column := kept[one.column], Column)
    ]
    below = _narrower(plan.input, moved, outer)
    return None if below is None else plan.over(below)


def _with_keys(join: Join, asked: Sequence[_Asked], outer: Plan) -> Plan | None:
    """The join of a domain with the sub-query's relation, by what is equated above, too."""
    domain, width = join.left, len(join.left.schema)
    of_domain = {one.column: one for one in asked if one.column < width}
    keys = [one for one in asked if one.column >= width]
    if len(of_domain) < width or not keys:
        return None
    values = [*(of_domain[i].outer for i in range(width)), *(one.outer for one in keys)]
    names = [*domain.schema, *(join.schema[one.column] for one in keys)]
    fields = tuple(Field(at.name, e.type, e.nullable) for at, e in zip(names, values, strict=True))
    asking: Plan = Distinct(Project(outer, tuple(values), fields))
    if not _has_all(domain, outer, values[:width]):
        if not all(one.null_safe for one in of_domain.values()):
            return None  # a join that somebody wrote, of which less may be known than of the outer rows
        asking = _within(domain, asking)
    right = columns_of_schema(join.right.schema)
    beside = {i: i if i < width else i + len(keys) for i in range(len(join.schema))}
    joined = Join(
        asking,
        join.right,
        "inner",
        (*join.left_keys, *columns_of_schema(asking.schema)[width:]),
        (*join.right_keys, *(right[one.column - width] for one in keys)),
        (*join.null_safe, *(one.null_safe for one in keys)),
        None if join.residual is None else remap(join.residual, beside),
        join_schema("inner", asking.schema, join.right.schema),
    )
    whole = columns_of_schema(joined.schema)
    return Project(joined, tuple(whole[beside[i]] for i in range(len(join.schema))), join.schema)


def _has_all(domain: Plan, outer: Plan, values: Sequence[Expression]) -> bool:
    """Whether the domain has these values of all outer rows, as it is made of the same rows."""
    if not isinstance(domain, Distinct):
        return False
    rows, made = _rows_of(domain.input, columns_of_schema(domain.schema))
    while outer != rows and isinstance(outer, Filter | Distinct):
        outer, values = _rows_of(outer.input, values)
    return outer == rows and tuple(values) == tuple(made)


def _within(domain: Plan, asking: Plan) -> Plan:
    """The rows whose first columns the domain has. They are the domain's, which may never be NULL."""
    width = len(domain.schema)
    pairs = Join(
        domain,
        asking,
        "inner",
        columns_of_schema(domain.schema),
        columns_of_schema(asking.schema)[:width],
        (True,) * width,
        None,
        join_schema("inner", domain.schema, asking.schema),
    )
    kept = [*range(width), *range(2 * width, len(pairs.schema))]
    columns = columns_of_schema(pairs.schema)
    return Project(pairs, tuple(columns[i] for i in kept), tuple(pairs.schema[i] for i in kept))
