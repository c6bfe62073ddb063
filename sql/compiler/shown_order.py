"""Whether a view can be shown in the order that its query asks for; what can't be is said.

A view holds its columns and nothing else. So ORDER BY a column that isn't selected is refused, with the cure;
and so is the order of rows that an INSERT writes, which come when they change. Beside LIMIT an ORDER BY says
which rows there are, and they are shown in as much of it as they tell. A LOCAL view is shown to nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from dbsp.sql.compiler.streams import is_limited, is_ordered, is_streaming, order_item, words_of
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice


def shown_order(
    source: Source, text: Slice, order: Sequence[SortOrder | None], name: str, kind: str
) -> tuple[SortOrder, ...]:
    """order: of the query's rows, None for what its columns don't tell. text: as written. kind: of the view.

    Raises ProgramError.
    """
    known = tuple(by for by in takewhile(lambda by: by is not None, order) if by is not None)
    inside = words_of(source, text)
    if kind == "local":
        return ()
    if not is_ordered(inside) or is_limited(inside):
        return known  # of a part of the query, or of which rows there are
    if len(known) < len(order):
        message = "ORDER BY what the query doesn't select: its rows don't tell their order; select it too"
        raise source.error(order_item(inside, len(known)), f"{message}, or leave ORDER BY out")
    if name.startswith("insert into ") and not is_streaming(inside):
        message = "an INSERT writes rows when they change, in no order; leave ORDER BY out, or SELECT STREAM"
        raise source.error(order_item(inside), message)
    return known
