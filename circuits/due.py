"""When the step clock, going on by itself, next has something to do.

    next_due(I, c) = min { c' > c : some row that waits in a timeline of the clock is passed at c' }

Read from the traces as they are between two steps, so that nothing is kept for it. A row that was retracted
since, and not yet merged with its retraction, counts too: then a step at that moment finds nothing to do, and
the moment after it is another's.  Cost: a search a slot and run.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from circuits.batch import Layout
from circuits.circuit import Circuit
from circuits.contents import open_chunk
from circuits.operators.agenda import Agenda
from circuits.operators.ahead import Ahead
from circuits.segments import Segments
from circuits.state import State
from circuits.stretch import Stretch, stretches
from circuits.timeline import earliest, passed
from circuits.waterline import CLOCK

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# further ahead than any clock will get: 4,500 years, in microseconds
_FAR = 1 << 57


def next_due(circuit: Circuit, state: State, segments: Segments) -> datetime | None:
    """None: nothing waits, or the clock was never read."""
    if CLOCK.name not in state.waterlines:
        return None
    now = state.waterlines[CLOCK.name].value
    moments = []
    for operator, layout, trace in _timelines(circuit, state, segments):
        at = earliest(layout, trace, _reading(operator, now), operator.at_once)
        moment = None if at is None else _when(operator, at, now)
        if moment is not None:
            moments.append(moment)
    return _EPOCH + timedelta(microseconds=min(moments)) if moments else None


def _timelines(
    circuit: Circuit, state: State, segments: Segments
) -> Iterator[tuple[Agenda | Ahead, Layout, list[Stretch]]]:
    for i, node in enumerate(circuit.nodes):
        operator = node.operator
        if isinstance(operator, Ahead) or (isinstance(operator, Agenda) and operator.watches_clock):
            layout = circuit.layouts[i]
            chunks = [chunk for run in state.spines[i].runs for chunk in run.chunks]
            yield operator, layout, list(stretches(open_chunk(layout, chunk, segments) for chunk in chunks))


def _reading(operator: Agenda | Ahead, clock: int) -> pa.Scalar | None:
    return operator.reading({CLOCK.name: pa.scalar(clock, CLOCK.type)})


def _when(operator: Agenda | Ahead, at: pa.Scalar, now: int) -> int | None:
    """The first clock after `now` at which the instant is passed: by halves, since readings never fall."""
    instant = pa.array([at], at.type)

    def is_passed(clock: int) -> bool:
        return bool(passed(instant, _reading(operator, clock), operator.at_once)[0])

    least, most = now, now + 1
    while not is_passed(most):
        if most - now >= _FAR:
            return None
        least, most = most, now + 2 * (most - now)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if is_passed(middle) else (middle, most)
    return most
