"""Instants between the clocks of two time zones."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.expressions.registry import Value, kernel
from dbsp.circuits.expressions.vectors.by_value import by_value
from dbsp.circuits.expressions.vectors.numbers import Numbers, result, vector
from dbsp.circuits.functions.times.time_zones import TimeZone, time_zone


def unless_zone(position: int) -> Callable[[Call], str | None]:
    """Why a call is refused whose argument at `position` is a constant that names no time zone."""

    def refuse(call: Call) -> str | None:
        zone = call.arguments[position]
        if not isinstance(zone, Literal):
            return None
        try:
            time_zone("UTC" if zone.value is None else str(zone.value))
        except EvaluationError as error:
            return f"a time zone that does not exist ({error})"
        return None

    return refuse


def _register_shift(name: str, zone_argument: int, shift: Callable[[TimeZone, Numbers], Numbers]) -> None:
    @kernel(name, refuse=unless_zone(zone_argument))
    @by_value(zone_argument)
    def run(call: Call, timestamps: Value, zone: Value) -> Value:
        if not zone.is_valid:
            return pa.scalar(None, call.type)
        instants = vector(timestamps)
        return result(call, shift(time_zone(zone.as_py()), instants.values), instants)


_register_shift("from_utc_timestamp", 1, lambda zone, instants: zone.to_local(instants))
_register_shift("to_utc_timestamp", 1, lambda zone, instants: zone.to_utc(instants))


def _no_zones(call: Call) -> str | None:
    return unless_zone(0)(call) or unless_zone(1)(call)


@kernel("convert_timezone", refuse=_no_zones)
@by_value(0)
@by_value(1)
def convert_timezone(call: Call, source: Value, target: Value, timestamps: Value) -> Value:
    """The same instant on the clocks of another zone, TIMESTAMP_NTZ to TIMESTAMP_NTZ."""
    if not (source.is_valid and target.is_valid):
        return pa.scalar(None, call.type)
    local = vector(timestamps)
    instants = time_zone(source.as_py()).to_utc(local.values)
    return result(call, time_zone(target.as_py()).to_local(instants), local)
