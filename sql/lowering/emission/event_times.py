"""The event time of windows: a column of one table, after whose values the windows of their rows end.

EMIT's clock is the largest event time. A result is complete once the clock is at its window's end: so no row
of the window may come with a later time than that. It holds of windows of the column itself, and of windows
of windows; not of `window(at - INTERVAL 1 HOUR, ...)`, nor of times in a zone whose clocks are set.
"""

from __future__ import annotations

from datetime import timedelta

import pyarrow.types as pt

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.monotone import floored, is_fixed_zone, is_on_the_time_line
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of
from dbsp.circuits.progress.proofs import lineage
from dbsp.sql.lowering.emission.keyed import Keyed, KeyValue
from dbsp.sql.plans.schemas import UNITS

_MICROSECOND = timedelta(microseconds=1)
_SAME = ("precise_timestamp_conversion", "known_not_null")


def event_time(keyed: Keyed, end: KeyValue, location: str) -> tuple[str, int]:
    """(table, position of its column) that the window with that end is made of. Raises ProgramError."""
    lowering, builder = keyed.lowering, keyed.lowering.builder
    columns = set(columns_of(end.made))
    circuit = builder.build()
    origin = lineage.origin(circuit, end.node, columns.pop()) if len(columns) == 1 else None
    if origin is not None:
        table, name = origin
        schema = builder.nodes[lowering.relation(table)].schema
        column = schema.get_field_index(name)
        if column >= 0 and pt.is_timestamp(schema.field(column).type):
            delays = [least_delay(one) for one in lineage.made(circuit, end.node, end.made)]
            if all(delay is not None and delay > 0 for delay in delays):
                return table, column
            raise ProgramError(
                f"{location}: EMIT of view '{keyed.view.name}' goes by the largest '{name}' of '{table}', "
                f"but a window may end before the '{name}' of one of its rows; GROUP BY window({name}, ...)"
            )
    raise ProgramError(
        f"{location}: EMIT needs an event time for view '{keyed.view.name}': a TIMESTAMP column of "
        "one table that the window is made of"
    )


def least_delay(time: Expression) -> int | None:
    """By how many microseconds at least it comes after the column that it is made of; None: nobody knows."""
    if isinstance(time, Column):
        return 0
    step = _step(time)
    below = None if step is None else least_delay(step[0])
    return None if step is None or below is None else below + step[1]


def _step(time: Expression) -> tuple[Expression, int] | None:
    """What a time is made of, and by how much at least it comes after that."""
    match time:
        case Call(function, (inner,)) if function in _SAME:
            return inner, 0
        case Call("add", (inner, Literal(int(more)))):
            return inner, more
        case Call("subtract", (inner, Literal(int(less)))):
            return inner, -less
        case Call("timestamp_add_interval", (inner, Literal(timedelta() as length))):
            return (inner, length // _MICROSECOND) if is_on_the_time_line(time) else None
        case Call("subtract", (_, Call("pmod", (_, Literal(int(width)))))) if floored(time) is not None:
            return _aligned(time, width), 1 - width
        case Call("trunc_timestamp", (Literal(str(unit)), inner)) if is_fixed_zone(time):
            return (inner, 1 - UNITS[unit.upper()]) if unit.upper() in UNITS else None
    return None


def _aligned(time: Call, width: int) -> Expression:
    """What a start of windows of that width is made of; where that starts narrower ones, what these are."""
    inner, remainder = time.arguments
    part = inner
    while isinstance(part, Call) and part.function in _SAME:
        part = part.arguments[0]
    match part, remainder:
        case Call("subtract", (value, Call("pmod", (same, Literal(int(narrow)))))), Call("pmod", (whole, _)):
            if value == same and whole == inner and width % narrow == 0:
                return value
    return inner
