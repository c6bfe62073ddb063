"""Of every operator that keeps state, what bounds it.

A state is bounded by waterlines that collect it, by the clock that takes its rows away, by the keys of the
tables whose rows it holds, by columns of constant domain, or by being so many rows
(`sql/plans/properties/holding.py`). What a view holds is bounded as its rows are: no waterline collects what
can be read. Anything else grows with the history of its tables, and the hint says what would stop that. Only
`late_rows` may grow, with what is late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow.types as pt

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.nodes import columns_of
from dbsp.circuits.operators.emission.trigger import Trigger
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.progress.waterline import CLOCK, column_name
from dbsp.sql.plans.program import SYSTEM_VIEWS, Program, Table
from dbsp.sql.plans.properties.holding import constant_domain, held
from dbsp.sql.plans.shown.boxes import keeps


@dataclass(frozen=True)
class Bound:
    """number: of its node. by: what bounds the operator's state; None: nothing does, and `hint` says what
    might.
    """

    number: int
    operator: str
    keeps: str
    by: str | None
    hint: str = ""

    @property
    def is_bounded(self) -> bool:
        return self.by is not None

    def __str__(self) -> str:
        verdict = f"bounded by {self.by}" if self.by is not None else f"unbounded: {self.hint}"
        return f"{self.operator}: {self.keeps}; {verdict}"


def bounds(program: Program) -> Iterator[Bound]:
    """In the circuit's order."""
    circuit = program.circuit
    for i in sorted({*circuit.layouts, *circuit.logs}):
        names = _tables(circuit, i)
        tables = [program.tables[name] for name in sorted(names & program.tables.keys())]
        by = _REFUSED if names == {BAD_ROWS} else _bound(program, i, tables) or _identified(program, i)
        hint = "" if by is not None else _hint(circuit, i, tables)
        yield Bound(i, circuit.label(i), keeps(circuit, i), by, hint)


def _identified(program: Program, i: int) -> str | None:
    """What tells a trace's rows apart has a set of values that doesn't grow."""
    layout = program.circuit.layouts.get(i)
    if layout is None or _view(program.circuit, i) is not None:
        return None
    return constant_domain(program, i, tuple(layout.identity))


def _bound(program: Program, i: int, tables: list[Table]) -> str | None:
    circuit = program.circuit
    if not tables:
        return "constants"
    retention = circuit.retentions.get(i)
    if retention is not None and retention.limits:
        columns = {
            column for limit in retention.limits for bound in limit.bounds for column in columns_of(bound)
        }
        names = [circuit.lateness[column].name for column in sorted(columns)]
        lines = [name for name in names if name != CLOCK.name]
        return " and ".join(
            ["the clock"] * (CLOCK.name in names) + ["the waterline of " + " and ".join(lines)] * bool(lines)
        )
    view = _view(circuit, i)
    if view in SYSTEM_VIEWS:
        return "what comes too late" if view == LATE_ROWS else _REFUSED
    own = circuit.nodes[i].operator.own_bound()
    if own is not None:
        return own
    if view is None and i in circuit.layouts and not circuit.layouts[i].identity:
        return "being one row"
    reasons = held(program, i if view is None else circuit.output(view).kept)
    if reasons is None:
        return None
    return _listed(reasons) if view is None else f"what the view {view} holds"


def _listed(reasons: Sequence[str]) -> str:
    """With the words that several share said once."""
    keys = [reason.removeprefix(_KEY) for reason in reasons if reason.startswith(_KEY)]
    others = [reason for reason in reasons if not reason.startswith(_KEY) and reason != "constants"]
    return " and ".join([*others, *([_KEY + " and ".join(keys)] if keys else [])]) or "constants"


_KEY = "the primary key of "
_REFUSED = "what sources bring that is no row"


def _view(circuit: Circuit, i: int) -> str | None:
    """The view that a node holds the rows of, or whose changes it holds back."""
    views = [output.view for output in circuit.outputs if output.kept == i]
    return views[0] if views else _emits_for(circuit, i)


def _emits_for(circuit: Circuit, i: int) -> str | None:
    """The view whose changes the operator holds back: for each of its keys at most, and until they leave."""
    for output in circuit.outputs:
        if output.emission is not None:
            (fired, _) = circuit.nodes[output.emission].inputs
            trigger = circuit.nodes[fired]
            assert isinstance(trigger.operator, Trigger)
            if i in (output.emission, fired, *trigger.inputs[trigger.operator.timers]):
                return output.view
    return None


def _is_phased(circuit: Circuit, i: int) -> bool:
    """Whether it keeps rows that the clock changes again and again."""
    return any(reader.alters(position) for reader, position in _readers(circuit, i))


def _readers(circuit: Circuit, i: int) -> list[tuple[Operator, int]]:
    """The operators that read a node, each with the position of that input."""
    return [(node.operator, k) for node in circuit.nodes for k, j in enumerate(node.inputs) if j == i]


def _hint(circuit: Circuit, i: int, tables: list[Table]) -> str:
    grows = f"grows with {', '.join(table.name for table in tables)}"
    if _is_phased(circuit, i):
        cure = "leave old ones out, as by ts > now() - INTERVAL 1 DAY"
        return f"{grows}, and the clock changes every row; {cure}"
    recursions = _recursions(circuit, i)
    if recursions:
        return f"{grows}, and with what the recursion of {', '.join(recursions)} makes of it"
    view = _view(circuit, i)
    if view is not None:
        grows = f"what the view {view} holds {grows}"
    columns = [(f"{t.name}.{f.name}", f.type) for t in tables for f in t.schema]
    annotated = {column_name(lateness.name) for lateness in circuit.lateness}
    times = [name for name, data_type in columns if name in annotated or pt.is_temporal(data_type)]
    recent = [name for name, data_type in columns if pt.is_timestamp(data_type) or pt.is_date(data_type)]
    leaves = [f"leave old rows out, as by {recent[0]} > now() - INTERVAL 1 DAY"] if recent else []
    cures = [*_lateness_cure(circuit, i, tables, times, annotated, view is not None), *leaves]
    if cures:
        return f"{grows}; {', or '.join(cures)}"
    which = "which has" if len(tables) == 1 else "which have"
    keyed = "it" if len(tables) == 1 else "them"
    return f"{grows}, {which} no time to bound it by; retract old rows, or give {keyed} a PRIMARY KEY"


def _lateness_cure(
    circuit: Circuit, i: int, tables: list[Table], times: list[str], annotated: set[str], shown: bool
) -> list[str]:
    """What LATENESS would do for the readers of a trace; of what a view shows it collects nothing."""
    missing = [name for name in times if name not in annotated]
    if shown or not times:
        return []
    if any(reader.compares_times(position) for reader, position in _readers(circuit, i)):
        if missing:
            return [f"LATENESS on the times that the ASOF JOIN compares, {' or '.join(missing)}"]
        grown = [table.name for table in tables if not table.append_only]
        return [f"declare {' and '.join(grown)} WITH (append_only = true)"] if grown else []
    if missing:
        return [f"LATENESS on {' or '.join(missing)} bounds what is joined or grouped by that time"]
    return [f"join or group by {' or '.join(times)} to bound it"]


def _tables(circuit: Circuit, i: int) -> set[str]:
    """The tables whose rows reach a node."""
    above = circuit.above([i])
    return {table for table, source in circuit.sources.items() if source in above}


def _recursions(circuit: Circuit, i: int) -> list[str]:
    """The recursive relations whose rows reach a node."""
    return sorted(circuit.nodes[j].name for j in circuit.above([i]) & circuit.fed_back.keys())
