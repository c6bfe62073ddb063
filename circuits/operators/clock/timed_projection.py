"""TimedProjection: values of rows that read the step clock, where it is known when they may change.

    phases(I)ₜ[x, v] = I[x]  where v = f(x, clockₜ) and p(x, clockₜ)

    phases^Δ(d)ₜ = π_now(d) + π_now(T) − π_before(T)          T = the rows of z⁻¹(I(d)) that change

A row changes where a reading g of the clock comes to the other side of a value of the row: those between the
two steps' readings lie side by side in a timeline (`temporal_filter.py`), whichever way the reading went. All
rows may change where a reading that mostly stands still, as a date, has changed.
State: none of its own.  Cost: O(|d| + |T|).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.clock.forecast import at_clock, first_change, first_drop, first_passed
from dbsp.circuits.operators.clock.temporal_filter import Ahead
from dbsp.circuits.operators.families import Reader
from dbsp.circuits.operators.inputs.thresholds import reached
from dbsp.circuits.operators.linear import where_true
from dbsp.circuits.operators.operator import Context, Node, Placement, Reasons, Standing, Value, delta_of
from dbsp.circuits.operators.shown import spelled
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.progress.bounds import Lines, union
from dbsp.circuits.progress.limits import Limits, waterline_row
from dbsp.circuits.progress.waterline import CLOCK, Waterlines
from dbsp.circuits.traces.sorted_run import batches_of
from dbsp.circuits.traces.timeline import due, passed
from dbsp.circuits.traces.trace import Integral
from dbsp.circuits.traces.zset import ZSet


@dataclass(frozen=True)
class Crossing:
    """column: of the value. clock: g over the clock alone. at_once: a reading that equals it is beyond it.

    turns: the reading may go back.
    """

    column: int
    clock: Expression
    at_once: bool
    turns: bool


@dataclass(frozen=True)
class TimedProjection(Reader):
    """Inputs: rows, then of each crossing their timeline, then, if there are readings, the trace of all rows.

    values, condition: over the rows, and the clock as a further column. Output: the rows' columns, then the
    values, of rows for which the condition is true; none of those has a crossing of `ahead` behind it.
    restless: a reading differs in every step, and so makes none happen.
    """

    history: ClassVar[str] = "NOW(): what the clock has passed"

    crossings: tuple[Crossing, ...]
    readings: tuple[Expression, ...]
    values: tuple[Expression, ...]
    condition: Expression | None
    ahead: tuple[int, ...]
    restless: bool
    output: pa.Schema

    @property
    def cost(self) -> str:
        crossed = "rows that the clock passes" if self.crossings else ""
        shown = ", ".join(str(e).replace("#0", "now()") for e in self.readings)
        everything = f"all rows when {shown} changes" if self.readings else ""
        return "linear, and " + " and ".join(part for part in (crossed, everything) if part)

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return self.output

    def step(self, context: Context, *inputs: Value) -> ZSet:
        rows, *traces = inputs
        delta, earlier, now = delta_of(rows), context.waterlines, reached(context, ())
        passes = CLOCK.name in earlier and earlier[CLOCK.name] != now[CLOCK.name]
        try:
            found = [self._at(delta, now)]
            for touched in self._touched(traces, earlier, now) if passes else ():
                found += [-self._at(touched, earlier), self._at(touched, now)]
        except EvaluationError:
            # a row that the clock passes may leave in the same step: it was never there at that clock
            crossed = [*self._touched(traces, earlier, now)] if passes else []
            there = ZSet.sum(delta.schema, [delta, *crossed]).consolidate(context.seed)
            found = [self._at(there, now), *(-self._at(touched, earlier) for touched in crossed)]
        total = ZSet.sum(self.output, found)
        return total.consolidate(context.seed) if len(found) > 1 else total

    def _at(self, rows: ZSet, clock: Waterlines) -> ZSet:
        """The rows' phase at that clock."""
        if not len(rows):
            return ZSet.empty(self.output)
        there = pa.repeat(clock[CLOCK.name], len(rows))
        names = [*rows.rows.schema.names, CLOCK.name]
        wide = pa.RecordBatch.from_arrays([*rows.rows.columns, there], names=names)
        columns = [*rows.rows.columns, *(evaluate(value, wide) for value in self.values)]
        phase = ZSet(pa.RecordBatch.from_arrays(columns, schema=self.output), rows.weights)
        return phase if self.condition is None else phase.take(where_true(self.condition, wide))

    def _touched(self, traces: Sequence[Value], earlier: Waterlines, now: Waterlines) -> Iterator[ZSet]:
        """T: a row that several timelines have is taken from the first of them."""
        then, here = ([reading(c.clock, clock) for c in self.crossings] for clock in (earlier, now))
        if any(reading(e, earlier) != reading(e, now) for e in self.readings):
            everything = traces[-1]
            assert isinstance(everything, Integral)
            yield from (batch.zset for batch in batches_of(everything.before))
            return
        for i, crossing in enumerate(self.crossings):
            timeline = traces[i]
            assert isinstance(timeline, Integral)
            ends = (then[i], here[i])
            if crossing.turns and pc.less(here[i], then[i]).as_py():
                ends = (here[i], then[i])
            for rows in due(timeline.layout, timeline.before, ends[0], ends[1], crossing.at_once):
                first = np.ones(len(rows), np.bool_)
                for j, other in enumerate(self.crossings[:i]):
                    instants = rows.rows.column(other.column)
                    first &= passed(instants, then[j], other.at_once) == passed(
                        instants, here[j], other.at_once
                    )
                yield rows.take(np.flatnonzero(first))

    def placement(self, *inputs: Placement) -> Placement:
        return inputs[0]

    def verify(self, node: Node, inputs: Sequence[Node], where: str) -> None:
        rows, *traces = inputs
        kinds = [Ahead] * len(self.crossings) + [Integrate] * bool(self.readings)
        assert [type(n.operator) for n in traces] == kinds, f"{where}: a timeline a crossing, and all rows"
        for crossing, timeline in zip(self.crossings, traces, strict=False):
            ahead = timeline.operator
            assert isinstance(ahead, Ahead), where
            assert ahead.column == crossing.column, f"{where}: the timeline of another column"
            turns = ahead.clock != crossing.clock
            assert crossing.turns == turns == ahead.silent, f"{where}: drops rows too early"
        for expression in (*(c.clock for c in self.crossings), *self.readings):
            assert set(columns_of(expression)) <= {0}, f"{where}: reads more than the clock"
        width = len(rows.schema)
        for value in (*self.values, *([] if self.condition is None else [self.condition])):
            assert set(columns_of(value)) <= {*range(width + 1)}, f"{where}: no column"
        types = [*rows.schema.types, *(value.type for value in self.values)]
        assert self.output.types == types, f"{where}: output"
        assert len({child.placement for child in inputs}) == 1, f"{where}: inputs lie differently"

    def bounds(self, inputs: Sequence[Bounds], waterlines: Lines) -> Bounds:
        """Rows of the output are new rows, rows that a reading comes to the other side of, or all rows.

        The second were in their crossing's timeline as of the step before, so they are bounded as what is put
        into it: least of all inputs. Third, any row may be. But where a crossing is ahead of every visible
        row, all rows of the output were or are in its timeline, whatever brings them.
        """
        rows, *timelines = inputs
        found = {} if self.readings else dict(union([rows, *timelines]))
        for i in self.ahead:
            found.update(timelines[i])
        return found

    def reach(self, position: int, inputs: Sequence[Bounds]) -> Limits | None:
        """All rows are read when a reading changes."""
        return ()

    def origin(self, column: int, *inputs: pa.Schema) -> tuple[int, int] | None:
        return None

    def held(self, inputs: Sequence[Reasons | None]) -> Reasons | None:
        """Each row is one of the first input; one that a crossing of `ahead` has come for is gone."""
        return ("the clock",) if self.ahead else inputs[0]

    def alters(self, position: int) -> bool:
        return position > 0

    def wakeup(self, now: int, own: Standing, inputs: Sequence[Standing]) -> int | None:
        """When a reading goes back, comes to a row's other side, or is another.

        A timeline that drops its own rows wakes up itself.
        """
        moments = []
        for crossing, timeline in zip(self.crossings, inputs[1:], strict=False):
            if crossing.turns and (trace := timeline()).before:
                # until it goes back the reading rises
                drop = first_drop(crossing.clock, now)
                read = partial(_reading_at, crossing.clock)
                moments += [drop, first_passed(trace, read, crossing.at_once, now, drop - 1)]
        if self.readings and not self.restless and inputs[-1]().before:
            moments.append(first_change(self.readings, now))
        return min((moment for moment in moments if moment is not None), default=None)

    def retracts(self, inputs: Sequence[bool]) -> bool:
        return True

    def shown(self, names: Sequence[str], *inputs: Sequence[str]) -> str:
        condition = [] if self.condition is None else [self.condition]
        return " ".join(spelled(e, [*inputs[0], "now()"]) for e in (*self.values, *condition))


def reading(expression: Expression, clock: Waterlines) -> pa.Scalar:
    """The expression's value at a clock. Raises EvaluationError."""
    return evaluate(expression, waterline_row((CLOCK,), clock))[0]


def _reading_at(expression: Expression, clock: int) -> pa.Scalar:
    return reading(expression, at_clock(clock))
