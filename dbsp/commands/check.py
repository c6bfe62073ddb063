"""`dbsp check`: of every operator that keeps state, what bounds it; and what each sink promises.

A state is bounded by waterlines that collect it, by the keys of the tables whose rows it holds, by columns
of constant domain, or by being one row; what a view holds is as large as the view. Anything else grows with
the history of its tables, and the hint says what would stop that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow.types as pt

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.nodes import columns_of
from dbsp.circuits.operators.clock.temporal_filter import Ahead
from dbsp.circuits.operators.clock.timed_projection import Phases
from dbsp.circuits.operators.emission.trigger import Trigger
from dbsp.circuits.operators.groups.top import TopOfAppends
from dbsp.circuits.operators.recursion import Recurrence
from dbsp.circuits.progress.proofs.lineage import origin
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.commands.explain import keeps
from dbsp.running.metrics import label
from dbsp.sql.plans.program import BUILT_IN, FILE_FORMATS, STEP, Program, Table


@dataclass(frozen=True)
class Bound:
    """by: what bounds the operator's state; None: nothing does, and `hint` says what might."""

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
        tables = [program.tables[name] for name in sorted(_tables(circuit, i))]
        by = _bound(circuit, i, tables) or _constant_domain(program, i)
        hint = "" if by is not None else _hint(circuit, i, tables)
        yield Bound(label(circuit, i), keeps(circuit, i), by, hint)


def notes(program: Program) -> Iterator[str]:
    """What each sink promises, and where formats promise less than the rest of the program."""
    for name in dict.fromkeys(insert.target for insert in program.inserts):
        shapes = dict.fromkeys(insert.shape for insert in program.inserts if insert.target == name)
        yield f"sink {name}: {_promise(program.tables[name], ' and '.join(shapes))}"
    for table in program.tables.values():
        form = (table.format or "").lower()
        if form == "socket":
            lost = "what it sent and no step has committed is lost in a crash"
            yield f"table {table.name}: socket can't be read again; {lost}"
        if form == "kafka" and table.name in program.inputs:
            options = {name.lower(): value.lower() for name, value in table.options.items()}
            if "startingoffsets" not in options and "startingtimestamp" not in options:
                cure = "give OPTIONS (startingOffsets 'earliest') to read all"
                yield f"table {table.name}: kafka is read from its end as of the first run; {cure}"
            if options.get("failondataloss") == "false":
                lost = "what Kafka has deleted is skipped silently"
                yield f"table {table.name}: failOnDataLoss 'false': {lost}"
        if form and form not in BUILT_IN:
            why = "is no format of Spark's own; its run needs the package"
            yield f"table {table.name}: {table.format} {why}"


def _promise(target: Table, shape: str) -> str:
    """How often a step's changes are written, and what tells a reader of a repetition."""
    form = (target.format or "").lower()
    if form in FILE_FORMATS:
        less = "; NULL is an empty line, and a value with line breaks is several" if form == "text" else ""
        return f"{shape}, exactly once: a directory {STEP}=n a step{less}"
    if form == "noop":
        return f"{shape}, written nowhere"
    twice = "at least once: a crash between a step's write and its record writes that step again"
    if form == "kafka" and shape == "upsert":
        return f"{shape}, {twice}, which leaves each key the same last record"
    if form == "kafka":
        return f"{shape}, {twice}; nothing tells which, unless value has something of its own that does"
    told = "" if any(f.name.lower() == STEP for f in target.schema) else f"; {STEP} BIGINT tells which"
    if form == "jdbc":
        told += "; a unique key of the database's would refuse the repetition, so let it have none"
    return f"{shape}, {twice}{told}"


def _bound(circuit: Circuit, i: int, tables: list[Table]) -> str | None:
    if not tables:
        return "constants"
    views = [output.view for output in circuit.outputs if output.kept == i]
    if views:
        return f"what the view {views[0]} holds"
    emitting = _emits_for(circuit, i)
    if emitting is not None:
        return f"what the view {emitting} holds"
    retention = circuit.retentions.get(i)
    if retention is not None:
        columns = {
            column for limit in retention.limits for bound in limit.bounds for column in columns_of(bound)
        }
        names = [circuit.lateness[column].name for column in sorted(columns)]
        lines = [name for name in names if name != CLOCK.name]
        return " and ".join(
            ["the clock"] * (CLOCK.name in names) + ["the waterline of " + " and ".join(lines)] * bool(lines)
        )
    operator = circuit.nodes[i].operator
    if isinstance(operator, Ahead) and operator.clock is not None:
        return "the clock, which its rows are ahead of"
    if isinstance(operator, TopOfAppends) and not operator.partition:
        return f"being the first {operator.size} rows"
    if i in circuit.layouts and not circuit.layouts[i].identity:
        return "being one row"
    if _recursions(circuit, i):
        return None  # which may have more rows than its tables
    if i in circuit.layouts and all(table.primary_key for table in tables):
        return "the primary key of " + " and ".join(
            f"{table.name} ({', '.join(table.primary_key)})" for table in tables
        )
    return None


def _emits_for(circuit: Circuit, i: int) -> str | None:
    """The view whose changes the operator holds back: for each of its keys at most, and until they leave."""
    for output in circuit.outputs:
        if output.emission is not None:
            (fired, _) = circuit.nodes[output.emission].inputs
            trigger = circuit.nodes[fired]
            assert isinstance(trigger.operator, Trigger)
            if i in (output.emission, fired, *trigger.inputs[2 : 2 + trigger.operator.agendas]):
                return output.view
    return None


def _constant_domain(program: Program, i: int) -> str | None:
    """Every column that tells the trace's rows apart has a set of values that doesn't grow."""
    circuit = program.circuit
    if i not in circuit.layouts:
        return None
    origins = [origin(circuit, i, column) for column in circuit.layouts[i].identity]
    if any(o is None or o[1] not in program.tables[o[0]].constant_domain for o in origins):
        return None
    names = dict.fromkeys(f"{table}.{column}" for table, column in filter(None, origins))
    return "the constant domain of " + " and ".join(names)


def _is_phased(circuit: Circuit, i: int) -> bool:
    """Whether it keeps rows that the clock changes again and again."""
    return any(isinstance(node.operator, Phases) and i in node.inputs[1:] for node in circuit.nodes)


def _hint(circuit: Circuit, i: int, tables: list[Table]) -> str:
    grows = f"grows with {', '.join(table.name for table in tables)}"
    if _is_phased(circuit, i):
        cure = "leave old ones out, as by ts > now() - INTERVAL 1 DAY"
        return f"{grows}, and the clock changes every row; {cure}"
    recursions = _recursions(circuit, i)
    if recursions:
        return f"{grows}, and with what the recursion of {', '.join(recursions)} makes of it"
    annotated = {lateness.name for lateness in circuit.lateness}
    columns = [(f"{t.name}.{f.name}", f.type) for t in tables for f in t.schema]
    times = [name for name, kind in columns if name in annotated or pt.is_temporal(kind)]
    missing = [name for name in times if name not in annotated]
    if missing:
        return f"{grows}; LATENESS on {' or '.join(missing)} bounds what is joined or grouped by that time"
    if times:
        return f"{grows}; join or group by {' or '.join(times)} to bound it"
    which = "which has" if len(tables) == 1 else "which have"
    keyed = "it" if len(tables) == 1 else "them"
    return f"{grows}, {which} no time to bound it by; retract old rows, or give {keyed} a PRIMARY KEY"


def _tables(circuit: Circuit, i: int) -> set[str]:
    """The tables whose rows reach a node."""
    above = _above(circuit, i)
    return {table for table, source in circuit.sources.items() if source in above}


def _recursions(circuit: Circuit, i: int) -> list[str]:
    """The recursive relations whose rows reach a node."""
    operators = (circuit.nodes[at].operator for at in _above(circuit, i))
    return sorted({operator.name for operator in operators if isinstance(operator, Recurrence)})


def _above(circuit: Circuit, i: int) -> set[int]:
    """The node and everything whose rows reach it."""
    found = {i}
    todo = [i]
    while todo:
        new = {*circuit.nodes[todo.pop()].inputs} - found
        found |= new
        todo += new
    return found
