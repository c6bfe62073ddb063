"""The order of a query's rows: ORDER BY over its own columns, so that whoever shows the rows can sort them.

    SELECT e… ORDER BY o           o over e…, each part of o that is one of e… being its column

What is in the middle of a query says nothing of its result. A column that is ordered by and not selected has
no place in the rows of a view: there the order is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from dbsp.circuits.expressions.nodes import Call, Column, Expression, columns_of, substitute
from dbsp.sql.catalyst.joins.scalars import scalars_in
from dbsp.sql.catalyst.reading.clock import reads_clock
from dbsp.sql.catalyst.reading.expressions import expression
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.calls import SortOrder

# what leaves rows in the order in which it finds them
_PASSING = {"Sort", "LocalLimit", "GlobalLimit", "Offset", "SubqueryAlias", "View", "ResolvedHint"}

# of a node's columns, each over those of the lowest node below; None: no row tells it
Made = list[Expression | None]
# an item of ORDER BY, and as dumped
Item = tuple[SortOrder | None, Node]


@dataclass(frozen=True)
class Order:
    """items: what a query's rows are in the order of, over its columns, None for what these don't tell; ()
    where they have none. dumped: each of them, for its place. whole: the query as a whole says so, and no
    part of it. limit: its LIMIT or OFFSET, as dumped.
    """

    items: tuple[SortOrder | None, ...]
    dumped: tuple[Node, ...]
    whole: bool
    limit: Node | None

    @property
    def known(self) -> tuple[SortOrder, ...]:
        """As much of the order as the rows tell."""
        return tuple(by for by in takewhile(lambda by: by is not None, self.items) if by is not None)


def order_of(query: Query, node: Node) -> Order:
    """Of the dumped plan's rows.

    Catalyst adds to a Project what a Sort above it orders by, and takes it away again above the Sort. So both
    are compared as what they are of the columns below all of these.
    """
    items, made = _traced(query, node)
    columns = [
        (expression_, Column(i, expression_.type, expression_.nullable))
        for i, expression_ in enumerate(made)
        if expression_ is not None
    ]
    own = [below for below in _passed(node) if query.ends(below)]
    return Order(
        tuple(None if by is None else _over(by, columns) for by, _ in items),
        tuple(item for _, item in items),
        any(below["op"] == "Sort" for below in own),
        next((_constant(below) for below in own if below["op"] in ("GlobalLimit", "Offset")), None),
    )


def _passed(node: Node) -> Iterator[Node]:
    """From the top down, the nodes that leave rows in their order, or make it."""
    while node["op"] in _PASSING or node["op"] == "Project":
        yield node
        (node,) = node["k"]


def _constant(limit: Node) -> Node:
    found: Node = limit["o"].get("limitExpr") or limit["o"]["offsetExpr"]
    return found


def _traced(query: Query, node: Node) -> tuple[tuple[Item, ...], Made]:
    """(the order, over the lowest node's columns; the node's own columns)."""
    if node["op"] not in _PASSING and node["op"] != "Project":
        out = enumerate(node["out"])
        return (), [Column(i, query.column_type(node, type_), null) for i, (_, _, type_, null, _) in out]
    order, made = _traced(query, node["k"][0])
    position = {id_: i for i, (_, id_, *_) in enumerate(node["k"][0]["out"])}
    if node["op"] == "Project":
        return order, [_expression(query, item, position, made) for item in node["o"]["projectList"]]
    if node["op"] == "Sort":  # SORT BY is the order within some part of the rows
        items = node["o"]["order"] if node["o"]["global"] else ()
        order = tuple((_item(query, item, position, made), item) for item in items)
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
