"""When rows and values change by the clock alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dbsp.circuits.expressions.nodes import Expression
from dbsp.sql.plans.calls import Change


@dataclass(frozen=True, slots=True)
class TimeBound:
    """From when (or, if `leaves`, until when) a row is visible: its `value` is passed by the clock's reading.

    value: over the input's columns. clock: over the step clock as the only column, never decreasing. at_once:
    a value that equals the reading is passed.
    """

    value: Expression
    clock: Expression
    leaves: bool
    at_once: bool


@dataclass(frozen=True, slots=True)
class Crossing:
    """A row changes when a reading of the clock comes to the other side of its `value`.

    value: over the input's columns. clock: over the step clock as the only column. at_once: a reading that
    equals the value is beyond it. low: never decreasing, and below no later reading; None: nothing is known.
    """

    value: Expression
    clock: Expression
    at_once: bool
    low: Expression | None

    @property
    def turns(self) -> bool:
        """Whether the reading may come back."""
        return self.low != self.clock


@dataclass(frozen=True, slots=True)
class Changes:
    """When the values of expressions over the clock may change.

    crossings: of a row. readings: of all rows, as soon as one of them changes; over the clock as the only
    column. ahead: crossings that no row for which the expressions, as conditions, are true has behind it.
    restless: a reading changes all the time, of which only the steps see anything.
    """

    crossings: tuple[Crossing, ...]
    readings: tuple[Expression, ...]
    ahead: tuple[Crossing, ...]
    restless: bool

    def with_values(self, change: Change) -> Changes:
        """`change` on the value of every crossing."""
        of_rows, ahead = (
            tuple(replace(one, value=change(one.value)) for one in some)
            for some in (self.crossings, self.ahead)
        )
        return replace(self, crossings=of_rows, ahead=ahead)
