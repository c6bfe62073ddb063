"""The event time of windows: a column of one table, after whose values the windows of their rows end.

EMIT's clock is the largest event time. A result is complete once the clock is at its window's end: so no row
of the window may come with a later time than that. It holds of windows of the column itself, of a later time,
and of the windows, or the starts of the windows, that lie in it; not of `window(at - INTERVAL 1 HOUR, ...)`,
and of times in a zone whose clocks are set nobody knows.
"""

from __future__ import annotations

from datetime import timedelta
from math import gcd
from typing import NamedTuple

import pyarrow.types as pt

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.monotone import floored, is_fixed_zone, is_on_the_time_line, is_utc
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of
from dbsp.circuits.progress.proofs import lineage
from dbsp.sql.lowering.emission.keyed import Keyed, KeyValue
from dbsp.sql.plans.schemas import UNITS

_MICROSECOND = timedelta(microseconds=1)
_MONDAY = 4 * UNITS["DAY"]  # the first one after 1970 began
_SAME = ("precise_timestamp_conversion", "known_not_null", "unix_micros", "micros_to_timestamp")


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
            if all(map(ends_later, lineage.made(circuit, end.node, end.made))):
                return table, column
            raise ProgramError(
                f"{location}: EMIT of view '{keyed.view.name}' goes by the largest '{name}' of '{table}', "
                f"and a window isn't known to end after that of its rows; GROUP BY window({name}, ...)"
            )
    raise ProgramError(
        f"{location}: EMIT needs an event time for view '{keyed.view.name}': a TIMESTAMP column of "
        "one table that the window is made of"
    )


class Grid(NamedTuple):
    """Instants that are `step` microseconds apart. shift: from 1970 to one of them; None: not known."""

    step: int
    shift: int | None

    def has(self, others: Grid) -> bool:
        """Whether it is known to have all of the others' instants."""
        if self.shift is None or others.shift is None:
            return False
        return not others.step % self.step and not (others.shift - self.shift) % self.step


def ends_later(end: Expression) -> bool:
    """Whether a window's end is known to come after the column that it is made of.

    It comes after the time that the window is of.
    """
    start, more = _shifted(end)
    found = _floor(start)
    if found is None:
        return False
    time, grid = found
    return _is_earlier(time, Grid(gcd(grid.step, more), grid.shift))


def _is_earlier(time: Expression, ends: Grid) -> bool:
    """Whether the column comes before each end, one of the grid's instants, that `time` comes before."""
    inner, more = _shifted(time)
    if isinstance(inner, Column):
        return more >= 0
    found = _floor(inner)
    if found is None:
        return False
    value, grid = found
    is_earlier = more >= grid.step - 1 or (more >= 0 and grid.has(ends))
    return is_earlier and _is_earlier(value, ends)


def _shifted(time: Expression) -> tuple[Expression, int]:
    """(another time, by how many microseconds this one comes after it)."""
    match time:
        case Call(function, (inner,)) if function in _SAME:
            return _shifted(inner)
        case Call("get_struct_field", (Call("create_named_struct", parts),)):
            at = time.option("ordinal")
            assert isinstance(at, int)
            return _shifted(parts[1::2][at])
        case Call("add", (inner, Literal(int(more)))):
            found, after = _shifted(inner)
            return found, after + more
        case Call("subtract", (inner, Literal(int(less)))):
            found, after = _shifted(inner)
            return found, after - less
        case Call("timestamp_add_interval", (inner, Literal(timedelta() as length))):
            if is_on_the_time_line(time):
                found, after = _shifted(inner)
                return found, after + length // _MICROSECOND
    return time, 0


def _floor(time: Expression) -> tuple[Expression, Grid] | None:
    """The time of which it is the last instant of a grid, and that grid."""
    match time:
        case Call("subtract", (value, Call("pmod", (number, Literal(int(step)))))):
            if floored(time) is not None:
                return value, Grid(step, (_shifted(value)[1] - _shifted(number)[1]) % step)
        case Call("trunc_timestamp", (Literal(str(unit)), value)):
            step = UNITS.get(unit.upper(), 0)
            if step and is_fixed_zone(time):
                is_known = is_utc(time) or not UNITS["MINUTE"] % step  # a zone is whole minutes off
                return value, Grid(step, (_MONDAY if unit.upper() == "WEEK" else 0) if is_known else None)
    return None
