"""OVER without ORDER BY: what goes by places in the partition goes by the order of arrival.

    ω[p; first(x)](a) = π[a, first](ω[p; first(x) ORDER BY arrival](a with its arrival))

The same of last, collect_list and listagg. Frames stay as they are: without ORDER BY they are of ROWS, or the
whole partition. Rows without arrival lie in the order of their values. What the arrival of a row is, is said
in `arrived.py`. With ORDER BY a listagg goes by that, unless it has an order of its own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.operators.groups.aggregates.collected import Join
from dbsp.sql.catalyst.arrival.arrived import Arrived, arrival_of
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.nodes import Project, Window
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import columns_of_schema

_PLACED = ("first", "last", "collect_list")


def over_arrival(query: Query, window: Window, loose: Collection[int] = ()) -> Plan:
    """The same columns; the window itself where nothing of it goes by places, or nothing arrives.

    loose: the calls that take the value of any place.
    """
    window = replace(window, calls=tuple(map(_by_its_window, window.calls)))
    placed = {i for i, call in enumerate(window.calls) if _is_placed(call) and i not in loose}
    if not placed:
        return window
    arrived = arrival_of(query, window.input)
    if arrived is None:
        return window
    width = len(window.input.schema)
    calls = tuple(_in_order(call, arrived) if i in placed else call for i, call in enumerate(window.calls))
    schema = (*arrived.plan.schema, *window.schema[width:])
    columns = columns_of_schema(schema)
    kept = (*columns[:width], *columns[width + arrived.size :])
    return Project(Window(arrived.plan, window.partition, calls, schema), kept, window.schema)


def _is_placed(call: WindowCall) -> bool:
    return not call.order and (call.function in _PLACED or _joined(call) is not None)


def _joined(call: WindowCall) -> Join | None:
    """A listagg without an order of its own."""
    finalizer = None if call.values is None else call.values.finalizer
    return finalizer if isinstance(finalizer, Join) and not finalizer.order else None


def _in_order(call: WindowCall, arrived: Arrived) -> WindowCall:
    return _by_its_window(replace(call, order=tuple(map(SortOrder, arrived.columns))))


def _by_its_window(call: WindowCall) -> WindowCall:
    """A listagg joins values, not rows: it is told the order of the window."""
    joined = _joined(call)
    if joined is None or not call.order:
        return call
    assert call.values is not None
    value, *condition = call.arguments
    order = tuple(SortKey(1 + i, by.descending, by.nulls_last) for i, by in enumerate(call.order))
    values = replace(call.values, finalizer=replace(joined, order=order))
    by = (item.expression for item in call.order)
    return replace(call, arguments=(value, *by, *condition), values=values)
