"""Aggregate functions that read their group's rows, or parts of them: which function each is.

var_pop, corr, …        exact moments as limbs             (linear: parts add up)
bit_and, bit_or, …      counts of bits                     (linear)
"""

from __future__ import annotations

from circuits.aggregates.bits import Bitwise
from circuits.aggregates.members import Finish
from circuits.aggregates.statistics import FUNCTIONS, Statistic
from sql.plan import AggregateCall


def finish_of(call: AggregateCall) -> Finish | None:
    """None: the function is made of accumulators, or of ordered values."""
    if call.function in FUNCTIONS:
        return Statistic(call.function)
    if call.function in ("bit_and", "bit_or", "bit_xor"):
        return Bitwise(call.function)
    return None


def required(call: AggregateCall) -> tuple[int, ...]:
    """The arguments without whose value a row takes no part."""
    return tuple(range(len(call.arguments)))
