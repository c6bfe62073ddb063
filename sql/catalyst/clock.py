"""NOW() in a query: what it reads, and the error where it can't be maintained.

Dumper.java puts a reference to no column where the query reads the clock; its number says how.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from circuits.errors import ProgramError
from circuits.expressions.nodes import Call, Expression
from sql.catalyst.query import Node, Query, nodes_in
from sql.readings import NOW

MARK = "BoundReference"
EXAMPLE = "ts > now() - INTERVAL 5 MINUTES"


def marks_in(value: Any) -> list[Node]:
    """Where a dumped expression, or any number of them, read the clock; sub-queries aside."""
    return [inner for inner in nodes_in(value) if inner["c"] == MARK]


def reads_clock(node: Node) -> bool:
    return bool(marks_in(node))


def clock_value(query: Query, mark: Node) -> Expression:
    """The step clock as a TIMESTAMP, a DATE or a TIMESTAMP_NTZ."""
    type_ = {-1: NOW.type, -2: pa.date32(), -3: pa.timestamp("us")}[mark["o"]["ordinal"]]
    if type_ == NOW.type:
        return NOW
    return Call("cast", (NOW,), type_, False, (("evalMode", "ANSI"), ("timeZoneId", query.timezone)))


def refused(query: Query, value: Any) -> ProgramError:
    """The error for the first clock that is read in a dumped value."""
    mark = marks_in(value)[0]
    name = query.spelled(mark) or "now()"
    return query.error(
        mark,
        f"{name} here would change rows in every step: not supported; compare it with an expression of the "
        f"row, as {EXAMPLE}, or take its date, hour or minute",
    )
