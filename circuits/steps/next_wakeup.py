"""When the step clock, going on by itself, next has something to do.

    next_due(I, c) = min { c' > c : some row that waits in a timeline of the clock is passed at c' }

Read from the traces as they are between two steps, so that nothing is kept for it. A row that was retracted
since, and not yet merged with its retraction, counts too: then a step at that moment finds nothing to do, and
the moment after it is another's. So does the moment at which a reading goes back, or a date begins, whatever
rows there are (`circuits/operators/clock/forecast.py`).  Cost: a search a slot and run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.operators.clock.forecast import first_change, first_drop, halved
from dbsp.circuits.operators.clock.temporal_filter import Ahead
from dbsp.circuits.operators.clock.timed_projection import TimedProjection, reading
from dbsp.circuits.operators.emission.timers import Timers
from dbsp.circuits.operators.operator import Node
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.steps.contents import open_chunk
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.batch import Layout
from dbsp.circuits.traces.segments import Segments
from dbsp.circuits.traces.sorted_run import SortedRun, sorted_runs
from dbsp.circuits.traces.timeline import earliest, passed

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# further ahead than any clock will get: 4,500 years, in microseconds
_FAR = 1 << 57
Reading = Callable[[int], pa.Scalar | None]


def next_due(circuit: Circuit, state: State, segments: Segments) -> datetime | None:
    """None: nothing waits, or the clock was never read."""
    if CLOCK.name not in state.waterlines:
        return None
    now = state.waterlines[CLOCK.name].value
    moments = [m for m in _moments(circuit, state, segments, now) if m is not None]
    return _EPOCH + timedelta(microseconds=min(moments)) if moments else None


def _moments(circuit: Circuit, state: State, segments: Segments, now: int) -> Iterator[int | None]:
    def trace(i: int) -> tuple[Layout, list[SortedRun]]:
        layout = circuit.layouts[i]
        chunks = [chunk for run in state.spines[i].runs for chunk in run.chunks]
        return layout, list(sorted_runs(open_chunk(circuit, i, chunk, segments) for chunk in chunks))

    for i, node in enumerate(circuit.nodes):
        operator = node.operator
        if isinstance(operator, TimedProjection):
            yield from _of_phases(node, operator, trace, now)
        elif (isinstance(operator, Ahead) and not operator.silent) or (
            isinstance(operator, Timers) and operator.watches_clock
        ):
            yield _first_passed(*trace(i), _readings_of(operator), operator.at_once, now, now + _FAR)


def _of_phases(
    node: Node, operator: TimedProjection, trace: Callable[[int], tuple[Layout, list[SortedRun]]], now: int
) -> Iterator[int | None]:
    for i, crossing in zip(node.inputs[1:], operator.crossings, strict=False):
        if crossing.turns and (held := trace(i))[1]:
            # until it goes back the reading rises
            drop = first_drop(crossing.clock, now)
            instants = lambda clock, g=crossing.clock: reading(g, _at(clock))  # noqa: E731
            yield drop
            yield _first_passed(*held, instants, crossing.at_once, now, drop - 1)
    if operator.readings and not operator.restless and trace(node.inputs[-1])[1]:
        yield first_change(operator.readings, now)


def _at(clock: int) -> dict[str, pa.Scalar]:
    return {CLOCK.name: pa.scalar(clock, CLOCK.type)}


def _readings_of(operator: Timers | Ahead) -> Reading:
    return lambda clock: operator.reading(_at(clock))


def _first_passed(
    layout: Layout, trace: list[SortedRun], readings: Reading, at_once: bool, now: int, last: int
) -> int | None:
    """The first clock after `now`, up to `last`, at which a row is passed; readings don't fall until then."""
    at = earliest(layout, trace, readings(now), at_once)
    if at is None:
        return None
    instant = pa.array([at], at.type)
    return halved(lambda clock: bool(passed(instant, readings(clock), at_once)[0]), now, last)
