"""When the step clock, going on by itself, next has something to do.

    next_due(I, c) = min over all operators of { c' > c : its output changes at c' without input }

Each operator says it of itself (`Operator.wakeup`), from the traces as they are between two steps, so that
nothing is kept for it. A row that was retracted since, and not yet merged with its retraction, counts too:
then a step at that moment finds nothing to do, and the moment after it is another's. So does the moment at
which a reading goes back, or a date begins, whatever rows there are
(`circuits/operators/clock/forecast.py`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.contents import open_chunk
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.batch import Batch
from dbsp.circuits.traces.sorted_run import sorted_runs
from dbsp.circuits.traces.trace import Integral

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def next_due(circuit: Circuit, state: State, segments: Segments) -> datetime | None:
    """None: nothing waits, or the clock was never read."""
    if CLOCK.name not in state.waterlines:
        return None
    now = state.waterlines[CLOCK.name].value
    standing = [partial(_standing, circuit, state, segments, i) for i in range(len(circuit.nodes))]
    moments = [
        node.operator.wakeup(now, standing[i], [standing[j] for j in node.inputs])
        for i, node in enumerate(circuit.nodes)
    ]
    first = min((moment for moment in moments if moment is not None), default=None)
    return None if first is None else _EPOCH + timedelta(microseconds=first)


def _standing(circuit: Circuit, state: State, segments: Segments, i: int) -> Integral:
    """Node i's trace between two steps."""
    layout = circuit.layouts[i]
    chunks = state.spines[i].live
    stored = sorted_runs(open_chunk(circuit, i, chunk, segments) for chunk in chunks)
    return Integral(layout, tuple(stored), Batch.empty(layout))
