"""The end of a key's window: a value of the key that is one, or a start, and the windows' width later."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call, Expression, Literal
from dbsp.sql.lowering.emission.keyed import Keyed, KeyValue
from dbsp.sql.plans.schemas import Windows


def window_end(keyed: Keyed, location: str) -> KeyValue:
    """Raises ProgramError where the key tells no end of a window."""
    known = [(value, value.window) for value in keyed.values() if value.window is not None]
    for value, window in known:
        if window.part == "end":
            return value
    for value, window in known:
        if window.part == "start" and window.width is not None:
            over_key, made = (_later(start, window.width) for start in (value.over_key, value.made))
            return KeyValue(over_key, made, value.node, Windows("end", window.width))
    raise ProgramError(
        f"{location}: EMIT needs the end of a window in the stream key of view '{keyed.view.name}' "
        f"({keyed.names}); group by window(ts, '10 minutes') and select it, its start or its end"
    )


def _later(time: Expression, width: int) -> Expression:
    """A time that many microseconds later, as Catalyst writes a window's end."""
    number = Call("precise_timestamp_conversion", (time,), pa.int64(), time.nullable)
    ansi = (("evalMode", "ANSI"),)
    sum_ = Call("add", (number, Literal(width, pa.int64())), pa.int64(), time.nullable, ansi)
    return Call("precise_timestamp_conversion", (sum_,), time.type, time.nullable)
