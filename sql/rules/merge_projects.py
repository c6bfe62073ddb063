"""One Project for two that follow each other, one Filter for two; a Project that changes nothing is dropped.

    π[f](π[g](a)) = π[f∘g](a)    σ[p](σ[q](a)) = σ[q ∧ p](a)    σ[p](π[g](a)) = π[g](σ[p∘g](a))
    π[f](expand[g…](a)) = expand[f∘g…](a)               σ[p](expand[g…](a)) = expand[g…](σ[p∘g](a))

The inner expression must not be computed more often than before: a call that the outer Project reads
twice keeps the two apart, unless it only makes a struct that is taken apart again. A Filter sinks below
columns, not below calls; and below an Expand whose rows all have the same in these columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from dbsp.circuits.expressions import nodes
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of
from dbsp.sql.plans.nodes import Expand, Filter, Project, Values
from dbsp.sql.plans.plan import Plan
from dbsp.sql.rules.traverse import bottom_up


def merge_projects(plan: Plan) -> Plan:
    schema = plan.schema
    merged = bottom_up(plan, _merge)
    if merged.schema == schema:
        return merged
    # the root's names are the user's: keep the Project that gives them
    columns = tuple(Column(i, field.type, field.nullable) for i, field in enumerate(merged.schema))
    return _merge(Project(merged, columns, schema))


def _merge(node: Plan) -> Plan:
    if isinstance(node, Project):
        return _merge_project(node)
    if isinstance(node, Filter):
        return _merge_filter(node)
    return node


def _merge_project(node: Project) -> Plan:
    below = node.input
    if isinstance(below, Project) and not _repeats(node, below.expressions):
        expressions = tuple(substitute(e, below.expressions) for e in node.expressions)
        return _merge_project(Project(below.input, expressions, node.schema))
    if isinstance(below, Expand) and not any(_repeats(node, row) for row in below.projections):
        rows = tuple(tuple(substitute(e, row) for e in node.expressions) for row in below.projections)
        return Expand(below.input, rows, node.schema)
    if isinstance(below, Values) and all(isinstance(e, (Column, Literal)) for e in node.expressions):
        rows = tuple(tuple(substitute(e, row) for e in node.expressions) for row in below.rows)
        return Values(rows, node.schema)
    if node.schema == below.schema and all(
        isinstance(e, Column) and e.index == i for i, e in enumerate(node.expressions)
    ):
        return below
    return node


def _merge_filter(node: Filter) -> Plan:
    below = node.input
    if isinstance(below, Filter):
        both = Call("and", (below.condition, node.condition), pa.bool_(), True)
        return Filter(below.input, both)
    if isinstance(below, Project) and all(
        isinstance(below.expressions[i], Column) for i in columns_of(node.condition)
    ):
        condition = substitute(node.condition, below.expressions)
        return Project(_merge_filter(Filter(below.input, condition)), below.expressions, below.schema)
    if isinstance(below, Expand):
        first, *others = below.projections
        read = set(columns_of(node.condition))
        if all(isinstance(first[i], Column) and all(row[i] == first[i] for row in others) for i in read):
            condition = substitute(node.condition, first)
            return Expand(_merge_filter(Filter(below.input, condition)), below.projections, below.schema)
    return node


def _repeats(outer: Project, inner: tuple[Expression, ...]) -> bool:
    """Whether merging would compute a call of the inner expressions more than once."""
    uses = Counter(column for e in outer.expressions for column in _computed(e, inner))
    return any(count > 1 and isinstance(inner[column], Call) for column, count in uses.items())


def _computed(expression: Expression, inner: tuple[Expression, ...]) -> Iterator[int]:
    """The columns an expression reads, but for fields of a struct that `inner` makes."""
    if isinstance(expression, Column):
        yield expression.index
    elif isinstance(expression, Call) and not _is_field_of_made(expression, inner):
        for argument in expression.arguments:
            yield from _computed(argument, inner)


def _is_field_of_made(call: Call, inner: tuple[Expression, ...]) -> bool:
    struct = call.arguments[0] if call.function == "get_struct_field" else None
    made = inner[struct.index] if isinstance(struct, Column) else None
    return isinstance(made, Call) and made.function == "create_named_struct"


def substitute(expression: Expression, columns: tuple[Expression, ...]) -> Expression:
    """The expression with each column replaced by what computes it."""
    return nodes.substitute(expression, lambda column: columns[column.index])
