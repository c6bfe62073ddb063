"""A table's rows replaced by others: what is queued is the difference, which the runner finds.

    wanted ─► exchange ───────────┐
    (nothing) ─► the table's trace ─► replacement ─► chunks, as a source's rows are staged

The circuit stands beside the program's, and its state is the table's trace as the last step left it. So tasks
read the partitions they own, and the driver holds references. `circuits/operators/inputs/replacement.py` has
the equations.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dbsp.circuits.circuit import Circuit, CircuitBuilder
from dbsp.circuits.errors import DataError
from dbsp.circuits.operators.inputs.replacement import Replacement
from dbsp.circuits.operators.inputs.tables import NonNegative, Upsert
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.streams import Integrate
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.state import State
from dbsp.circuits.steps.task import Step
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.spine import Spine
from dbsp.running.queue import Queue, Rows
from dbsp.running.runner import Runner, Work
from dbsp.sql.plans.program import Table
from dbsp.state.store import Store

_WANTED, _HELD, _DIFFERENCE = "wanted", "held", "difference"


@dataclass(frozen=True)
class _Compared:
    """circuit: of the difference. trace: its node that is the table's trace. kept: that of the program's."""

    circuit: Circuit
    trace: int
    kept: int


@dataclass
class Replacing:
    """Finds differences for the tables of a program's circuit."""

    circuit: Circuit
    store: Store
    runner: Runner
    _compared: dict[str, _Compared] = field(default_factory=dict)

    def check(self, table: Table) -> None:
        """Raises DataError where not all that the table holds is kept."""
        why = None
        if table.append_only:
            why = "is append-only, so none of its rows is taken back"
        elif table.lateness:
            why = "has a LATENESS, so rows that none can reach any more are forgotten"
        elif table.unchecked and not table.primary_key:
            why = "is unchecked, so what it holds isn't kept"
        if why:
            raise DataError(f"table '{table.name}' {why}, and nothing says what its rows are replaced by")

    def difference(self, state: State, table: Table, wanted: Sequence[Rows], partitions: int) -> list[Chunk]:
        """The changes that make the table the wanted rows, in segments of their own.

        wanted: with weights of 1. Raises DataError where two rows have one key.
        """
        if table.name not in self._compared:
            self._compared[table.name] = _compared(self.circuit, table)
        compared = self._compared[table.name]
        runs = state.spines[compared.kept].runs
        name = f"staged-{secrets.token_hex(8)}"
        # no runs are absorbed, and none merged: what is read stays as it is
        traces = State({compared.trace: Spine(runs)}, frozenset(), small=0)
        step = Step(number=1, state=traces, segment=name, partitions=partitions)
        queue = Queue([(_WANTED, rows) for rows in wanted])
        work = Work(
            circuit=compared.circuit,
            step=step,
            inputs=queue.inputs,
            segments=self.store.segments,
            scanned=sum(run.rows for run in runs),
        )
        try:
            results = self.runner.run(work)
        except BaseException:
            self.store.discard_attempt(name)
            raise
        finally:
            self.store.discard({f"{name}.input", *queue.segments})
        return [result.changes[_DIFFERENCE] for result in results if _DIFFERENCE in result.changes]


def _compared(circuit: Circuit, table: Table) -> _Compared:
    kept = trace_of(circuit, table)
    layout = circuit.layouts[kept]
    assert layout == Layout(layout.schema, layout.placement), f"table '{table.name}': rows are kept otherwise"
    names = [field.name for field in table.schema]
    key = tuple(names.index(name) for name in table.primary_key)
    builder = CircuitBuilder(circuit.seed)
    sources = [builder.add(Source(name, layout.schema), name=table.name) for name in (_WANTED, _HELD)]
    builder.sources = dict(zip((_WANTED, _HELD), sources, strict=True))
    wanted, held = (builder.placed(source, layout.placement) for source in sources)
    trace = builder.add(Integrate(layout.placement), held, name=table.name)
    builder.pass_on(_DIFFERENCE, builder.add(Replacement(table.name, key), wanted, trace, name=table.name))
    return _Compared(replace(builder.build(), bags=frozenset()), trace, kept)


def trace_of(circuit: Circuit, table: Table) -> int:
    """The node that keeps the table."""
    for i, node in enumerate(circuit.nodes):
        operator = node.operator
        if isinstance(operator, NonNegative) and operator.table == table.name:
            return node.inputs[0]
        if isinstance(operator, Upsert) and node.name == table.name:
            return i
    raise AssertionError(f"nothing keeps table '{table.name}'")
