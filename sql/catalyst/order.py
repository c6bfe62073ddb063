"""The order of a query's rows: ORDER BY over its own columns, so that whoever shows the rows can sort them.

    SELECT e… ORDER BY o           o over e…, each part of o that is one of e… being its column

What is in the middle of a query says nothing of its result. A column that is ordered by and not selected has
no place in the rows of a view: there the order is unknown, which `unselected` finds.
"""

from __future__ import annotations

from dataclasses import replace

from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of, substitute
from dbsp.sql.catalyst.joins.scalars import scalars_in
from dbsp.sql.catalyst.reading.clock import reads_clock
from dbsp.sql.catalyst.reading.expressions import expression
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.calls import SortOrder

# what leaves rows in the order in which it finds them
_PASSING = {"Sort", "LocalLimit", "GlobalLimit", "Offset", "SubqueryAlias", "View", "ResolvedHint"}

Order = tuple[SortOrder | None, ...]
# of a node's columns, each over those of the lowest node below; None: no row tells it
Made = list[Expression | None]


def order_of(query: Query, node: Node) -> Order:
    """Of the dumped plan's rows, over its columns; () where there is none, None for what they don't tell.

    Catalyst adds to a Project what a Sort above it orders by, and takes it away again above the Sort. So both
    are compared as what they are of the columns below all of these.
    """
    order, made = _traced(query, node)
    columns = [
        (expression_, Column(i, expression_.type, expression_.nullable))
        for i, expression_ in enumerate(made)
        if expression_ is not None
    ]
    return tuple(None if by is None else _over(by, columns) for by in order)


def _traced(query: Query, node: Node) -> tuple[Order, Made]:
    """(the order, over the lowest node's columns; the node's own columns)."""
    if node["op"] not in _PASSING and node["op"] != "Project":
        out = enumerate(node["out"])
        return (), [Column(i, query.column_type(node, type_), null) for i, (_, _, type_, null, _) in out]
    order, made = _traced(query, node["k"][0])
    position = {id_: i for i, (_, id_, *_) in enumerate(node["k"][0]["out"])}
    if node["op"] == "Project":
        return order, [_expression(query, item, position, made) for item in node["o"]["projectList"]]
    if node["op"] == "Sort":
        order = tuple(_item(query, item, position, made) for item in node["o"]["order"])
    return order, made


def _item(query: Query, item: Node, position: dict[int, int], made: Made) -> SortOrder | None:
    by = _expression(query, item["k"][0], position, made)
    if by is None:
        return None
    descends = item["o"]["direction"] == "Descending"
    return SortOrder(by, descends, item["o"]["nullOrdering"] == "NullsLast")


def _expression(query: Query, node: Node, position: dict[int, int], made: Made) -> Expression | None:
    """None for what rows alone don't tell: other rows, the clock, what only a step may run."""
    if any(scalars_in(node)) or reads_clock(node):
        return None
    found = expression(query, node, position)
    if _runs_python(found) or any(made[column] is None for column in columns_of(found)):
        return None
    return substitute(found, lambda column: made[column.index] or column)


def _runs_python(found: Expression) -> bool:
    if not isinstance(found, Call):
        return False
    return found.function == "python_function" or any(map(_runs_python, found.arguments))


def _over(by: SortOrder, columns: list[tuple[Expression, Column]]) -> SortOrder | None:
    found = _rewritten(by.expression, columns)
    return None if found is None else replace(by, expression=found)


def _rewritten(by: Expression, columns: list[tuple[Expression, Column]]) -> Expression | None:
    for made, column in columns:
        if by == made:
            return column
    if isinstance(by, Call):
        arguments = [_rewritten(argument, columns) for argument in by.arguments]
        known = tuple(argument for argument in arguments if argument is not None)
        return replace(by, arguments=known) if len(known) == len(arguments) else None
    return None if isinstance(by, Column) else by
