"""Which expressions are NULL where what they are made of is, and nowhere else, whatever Spark says."""

from __future__ import annotations

from collections.abc import Sequence, Set

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal

# what doesn't fit is an error
_TOTAL = frozenset({"precise_timestamp_conversion", "add", "subtract", "multiply"})


def kept_columns(expressions: Sequence[Expression], below: Set[int]) -> set[int]:
    """Where expressions are one of these columns, or made of them by what is NULL for nothing else."""
    return {i for i, e in enumerate(expressions) if is_of(e, below)}


def is_of(expression: Expression, below: Set[int]) -> bool:
    """Whether it is never NULL where these columns aren't.

    The start of a window is ts − pmod(ts, width), of which Spark says that pmod may be NULL, as by 0.
    """
    match expression:
        case Column(index=index):
            return index in below
        case Call("pmod" | "remainder", (number, Literal(value=width))) if width:
            return is_of(number, below)
        case Call("trunc_timestamp", (Literal(value=str() as unit), time)) if _truncates(unit, time=True):
            return is_of(time, below)
        case Call("trunc_date", (day, Literal(value=str() as unit))) if _truncates(unit, time=False):
            return is_of(day, below)
        case Call(function, arguments) if (
            function in _TOTAL and expression.option("evalMode", "ANSI") == "ANSI"
        ):
            found = [one for one in arguments if not isinstance(one, Literal) or one.value is None]
            return bool(found) and all(is_of(one, below) for one in found)
        case Call(nullable=False):
            return True
    return False


def _truncates(unit: str, time: bool) -> bool:
    from dbsp.circuits.functions.times.date_truncation import truncates  # noqa: PLC0415  few expressions do

    return truncates(unit, time=time)
