"""What a program keeps in its state directory, in words that outlive the program: a part of program.json.

Traces are described under their names, which are digests of what they mean. So an entry is true of a trace of
that name whichever program wrote it, and a record's names are looked up here without asking whose they are.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.identity.streams import computed, digest, filled_column, source_column
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.progress.waterline import CLOCK, Amount
from dbsp.circuits.traces.layout import Layout
from dbsp.sql.plans.collations import arrow_field
from dbsp.sql.plans.program import Insert, Program, Table

if TYPE_CHECKING:
    from dbsp.circuits.operators.emission.trigger import Trigger


@dataclass(frozen=True)
class Held:
    """A trace or log. rows, columns: the digests of the stream that it is the integral of; whole: it is that.

    log: in order of arrival, without sort keys. layout: as (placement, order, sums, minima, maxima,
    nulls_greatest, timeline, bag). schema: Arrow's own bytes of it, in base64.
    """

    rows: str
    columns: tuple[str, ...]
    whole: bool
    log: bool
    layout: tuple[Any, ...]
    schema: str

    def stored(self) -> Layout:
        """How its batches are stored."""
        schema = _read(self.schema)
        placement, order, sums, minima, maxima, nulls_greatest, timeline, bag = self.layout
        accumulators = (tuple(sums), tuple(minima), tuple(maxima))
        return Layout(schema, tuple(placement), order, *accumulators, nulls_greatest, timeline, bag)


@dataclass(frozen=True)
class Columns:
    """A table. schema: as of `Held`. lateness: a digest. defaults: digests of the values, by column.

    source: the format that it is read in, or nothing. snapshot: it is read whole, and compared.
    computed: of columns that are, the digests of their values. checks: the digests of what its rows must be.
    grown: columns that came when there were rows, which have NULL there, or a DEFAULT, whatever their source
    says.
    """

    schema: str
    key: tuple[str, ...]
    lateness: str
    defaults: Mapping[str, str]
    source: str = ""
    snapshot: bool = False
    computed: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[str, ...] = ()
    grown: tuple[str, ...] = ()

    @cached_property
    def fields(self) -> dict[str, pa.Field]:
        """By name. A column with a default is never NULL."""
        return {
            field.name: field.with_nullable(field.nullable and field.name not in self.defaults)
            for field in _read(self.schema)
        }

    def column(self, table: str, name: str) -> str:
        """The digest of a column's values, as it is filled in."""
        if name in self.computed:
            return self.computed[name]
        given = source_column(table, name, self.fields[name].type)
        return filled_column(given, self.defaults[name]) if name in self.defaults else given


@dataclass(frozen=True)
class Shown:
    """A view: the names of the trace or log of its rows, and of what leaves; the digest of its types.

    emits: its changes wait, so that what left isn't what it holds.
    """

    kept: str
    changes: str
    types: str
    emits: bool


@dataclass(frozen=True)
class Sink:
    """INSERT INTO target, of a view. form: the digest of how its changes are written there."""

    target: str
    view: str
    form: str


# a number's kind and digits; None: there is none
Spelled: TypeAlias = tuple[str, str] | None
_KINDS: Mapping[str, type[Amount]] = {kind.__name__: kind for kind in (int, float, Decimal)}


def amount_of(spelled: Spelled) -> Amount | None:
    """The number."""
    return None if spelled is None else _KINDS[spelled[0]](spelled[1])


def _spelling(amount: Amount | None) -> Spelled:
    return None if amount is None else (type(amount).__name__, str(amount))


def _spelled(record: Sequence[str] | None) -> Spelled:
    return None if record is None else (record[0], record[1])


@dataclass(frozen=True)
class Manifest:
    """traces: by name. collected: of those that may lose rows, the readers (`Circuit.collected`).

    lateness: by the names of waterlines their amount and their jump, but for those of percentiles.
    triggers: by the names of views with a TRIGGER after how many records and microseconds their keys fire.
    """

    traces: Mapping[str, Held] = field(default_factory=dict)
    collected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tables: Mapping[str, Columns] = field(default_factory=dict)
    views: Mapping[str, Shown] = field(default_factory=dict)
    sinks: tuple[Sink, ...] = ()
    lateness: Mapping[str, tuple[Spelled, Spelled]] = field(default_factory=dict)
    triggers: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)

    def goes_on_with(self, state: Mapping[str, Any]) -> set[str]:
        """The traces of a record that it can go on with.

        One that may have lost rows has lost those that no reader would look at; so none may look at more now.
        """
        collected = state["collected"]
        return {
            name
            for name in self.traces.keys() & state["spines"].keys()
            if name not in collected
            or (name in self.collected and {*self.collected[name]} <= {*collected[name]})
        }

    @property
    def begun(self) -> set[str]:
        """The log of `bad_rows`: it begins empty in a state that was made before sources kept such rows."""
        return {self.views[BAD_ROWS].kept} if BAD_ROWS in self.views else set()

    @property
    def streams(self) -> dict[str, str]:
        """The tables that are read as streams, in the order of their places, with their formats."""
        return {
            name: table.source.lower()
            for name, table in self.tables.items()
            if table.source and not table.snapshot
        }

    @property
    def targets(self) -> set[str]:
        """The tables that its sinks write."""
        return {sink.target for sink in self.sinks}

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Manifest:
        return Manifest(
            {name: _held(one) for name, one in record["traces"].items()},
            {name: tuple(readers) for name, readers in record["collected"].items()},
            {name: _columns_of(one) for name, one in record["tables"].items()},
            {name: Shown(**one) for name, one in record["views"].items()},
            tuple(Sink(**one) for one in record["sinks"]),
            {
                name: (_spelled(amount), _spelled(jump))
                for name, (amount, jump) in record.get("lateness", {}).items()
            },
            {name: (counting, delay) for name, (counting, delay) in record.get("triggers", {}).items()},
        )


def _held(record: Mapping[str, Any]) -> Held:
    return Held(**{**record, "columns": tuple(record["columns"]), "layout": tuple(record["layout"])})


def _columns_of(record: Mapping[str, Any]) -> Columns:
    listed = {name: tuple(record.get(name, ())) for name in ("key", "checks", "grown")}
    return Columns(**{**record, **listed})


def _written(schema: pa.Schema) -> str:
    return base64.b64encode(schema.serialize()).decode()


def _read(schema: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(schema)))


def manifest_of(program: Program) -> Manifest:
    """Of a compiled program."""
    circuit = program.circuit
    return Manifest(
        {name: _described(circuit, i) for i, name in circuit.names.items()},
        circuit.collected,
        {name: _columns(table) for name, table in program.inputs.items()},
        {
            output.view: Shown(
                circuit.names[output.kept],
                circuit.names[output.changes],
                digest([field.type for field in circuit.nodes[output.kept].schema]),
                output.emission is not None,
            )
            for output in circuit.outputs
        },
        tuple(_sink(program, insert) for insert in program.inserts),
        {
            one.name: (_spelling(one.amount), _spelling(one.jump))
            for one in circuit.lateness
            if one is not CLOCK and one.percentile is None
        },
        {view: (trigger.counting, trigger.delay) for view, (_, trigger) in triggers_of(circuit).items()},
    )


def triggers_of(circuit: Circuit) -> dict[str, tuple[int, Trigger]]:
    """Per view with a TRIGGER its node, and what that is."""
    found = {}
    for output in circuit.outputs:
        if output.emission is not None:
            from dbsp.circuits.operators.emission.trigger import Trigger  # noqa: PLC0415  few programs have one

            node = circuit.nodes[output.emission].inputs[0]
            trigger = circuit.nodes[node].operator
            assert isinstance(trigger, Trigger)
            if trigger.schedule is None:
                found[output.view] = node, trigger
    return found


def _described(circuit: Circuit, i: int) -> Held:
    layout, stream = circuit.stored(i), circuit.streams[i]
    accumulators = (layout.sums, layout.minima, layout.maxima)
    spelled = (layout.placement, layout.order, *accumulators, layout.nulls_greatest)
    return Held(
        stream.rows,
        stream.columns,
        i in circuit.logs or circuit.nodes[i].operator.is_trace,
        i in circuit.logs,
        (*spelled, layout.timeline, layout.bag),
        _written(layout.schema),
    )


def _columns(table: Table) -> Columns:
    names = [column.name for column in table.schema]
    given = Columns(
        _written(pa.schema(map(arrow_field, table.schema))),
        table.primary_key,
        _declared(table, names),
        {names[one.column]: digest(one.value) for one in table.defaults},
        table.format or "",
        table.is_snapshot,
    )
    known = [given.column(table.name, name) for name in names]
    return replace(
        given,
        computed={names[one.column]: computed(one.value, known) for one in table.formulas},
        checks=tuple(computed(check.value, known) for check in table.checks),
    )


def _declared(table: Table, names: Sequence[str]) -> str:
    """The digest of what LATENESS and WATERMARK say; that of the first alone where there is no other."""
    late = [
        (names[one.column], one.amount, one.jump, one.percentile, *[True] * one.decreasing)
        for one in table.lateness
    ]
    waits = [(names[one.column], one.amount) for one in table.watermarks]
    return digest(late, waits) if waits else digest(late)


def _sink(program: Program, insert: Insert) -> Sink:
    target = program.tables[insert.target]
    written = [(column.name, column.type) for column in target.schema]
    form = digest(insert.shape, insert.columns, insert.key, target.format, written)
    return Sink(insert.target, insert.view, form)
