"""Whether a view can be shown in the order that its query asks for; what can't be is said.

A view holds its columns and nothing else. So ORDER BY a column that isn't selected is refused, with the cure;
and so is the order of rows that an INSERT writes, which come when they change. Beside LIMIT an ORDER BY says
which rows there are, and they are shown in as much of it as they tell. A LOCAL view is shown to nobody.
"""

from __future__ import annotations

from dbsp.sql.catalyst.order import Order
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.plans.calls import SortOrder


def shown_order(
    query: Query, order: Order, name: str, kind: str, streaming: bool = False
) -> tuple[SortOrder, ...]:
    """order: of the query's rows. kind: of the view. streaming: its rows leave in that order.

    Raises ProgramError.
    """
    if kind == "local":
        return ()
    if not order.whole or order.limit is not None:
        return order.known  # of a part of the query, or of which rows there are
    if len(order.known) < len(order.items):
        message = "ORDER BY what the query doesn't select: its rows don't tell their order; select it too"
        unknown = order.dumped[len(order.known)]
        raise query.error(unknown, f"{message}, or leave ORDER BY out")
    if name.startswith("insert into ") and not streaming:
        message = "an INSERT writes rows when they change, in no order; leave ORDER BY out, or SELECT STREAM"
        raise query.error(order.dumped[0], message)
    return order.known
