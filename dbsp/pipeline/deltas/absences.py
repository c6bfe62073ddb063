"""What a source takes back that isn't there: it becomes bad rows, and the step can be made after all.

    queued ─► late filter, ... ─► exchange ─► the table's trace ─► absent ─► queued, too
                                                                          └─► bad rows

The circuit stands beside the program's, and its state is the table's trace as the last step left it, so that
tasks read the partitions they own. It is run only for a step that was refused. Which rows those are is a
matter of the whole step: what is inserted in it may be taken back in it, be it a default by the step's clock.
What makes up for a row is not filled in: a retraction has a value in each column with a default.
`circuits/operators/inputs/absent.py` has the equation.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.operators.inputs.absent import Absent, Excuses
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.state import State
from dbsp.circuits.steps.task import Input, Step
from dbsp.circuits.traces.spine import Spine
from dbsp.pipeline.deltas.replacing import trace_of
from dbsp.running.runner import Runner, Work
from dbsp.sql.plans.program import Table
from dbsp.state.store import Store


@dataclass(frozen=True)
class Absences:
    """rows: which the table would have less than zero times, with weights that make up for it. bad: the same
    rows, as `bad_rows` takes them. In segments of their own.
    """

    rows: list[Chunk]
    bad: list[Chunk]


def absences(
    circuit: Circuit,
    state: State,
    table: Table,
    queued: Sequence[Input],
    store: Store,
    runner: Runner,
    partitions: int,
    clock: datetime | None,
) -> Absences:
    """Of a bag, as of `state`. queued: what the next step is given for it. clock: the next step's."""
    beside, trace, kept = _circuit(circuit, table)
    runs = state.spines[kept].runs
    name = f"staged-{secrets.token_hex(8)}"
    # no runs are absorbed, and none merged: what is read stays as it is
    traces = State({trace: Spine(runs)}, frozenset(), small=0, waterlines=state.waterlines)
    step = Step(number=1, state=traces, segment=name, clock=clock, partitions=partitions)
    work = Work(circuit=beside, step=step, inputs={table.name: [*queued]}, segments=store.segments)
    try:
        results = runner.run(work)
    except BaseException:
        store.discard_attempt(name)
        raise
    finally:
        store.discard({f"{name}.input"})
    found = {view: [r.changes[view] for r in results if view in r.changes] for view in (table.name, BAD_ROWS)}
    return Absences(found[table.name], found[BAD_ROWS])


def origin_of(table: Table) -> str:
    """What a row comes from, where no more is known."""
    return table.options.get("path") or table.format or ""


def _circuit(circuit: Circuit, table: Table) -> tuple[Circuit, int, int]:
    """(the circuit beside, its trace, the program's trace)"""
    kept = trace_of(circuit, table)
    builder = CircuitBuilder(circuit.seed, lateness=[*circuit.lateness])
    source = circuit.nodes[circuit.sources[table.name]].operator
    assert isinstance(source, Source)
    node = builder.sources[table.name] = builder.add(source, name=table.name)
    for operator in _on_the_way(circuit, circuit.sources[table.name], kept):
        node = builder.add(operator, node, name=table.name)
    placement = circuit.nodes[kept].placement
    assert placement is not None
    trace = builder.add(Integrate(placement), builder.placed(node, placement), name=table.name)
    absent = builder.add(Absent(), trace, name=table.name)
    names = tuple(field.name for field in table.schema)
    builder.pass_on(table.name, absent)
    builder.pass_on(BAD_ROWS, builder.add(Excuses(table.name, origin_of(table), names), absent))
    return replace(builder.build(), bags=frozenset()), trace, kept


def _on_the_way(circuit: Circuit, source: int, trace: int) -> list[Operator]:
    """What rows go through between the two, but for being moved."""
    found: list[Operator] = []
    node = trace
    while node != source:
        if node != trace and not isinstance(circuit.nodes[node].operator, Exchange):
            found.append(circuit.nodes[node].operator)
        (node,) = circuit.nodes[node].inputs
    return found[::-1]
