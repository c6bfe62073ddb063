"""From a state and a new program: what is kept, what is back-filled from what, and what can't be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import named_views
from dbsp.circuits.operators.inputs.arrival_times import ArrivalTime
from dbsp.circuits.operators.inputs.arrivals import Arrival
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.traces.spine import Spine
from dbsp.evolution.fill import Fill, Filling
from dbsp.evolution.given import Given, Holdings, Kept, changed_columns, computed_columns, is_wider
from dbsp.evolution.known import Known, is_late_otherwise, known_before
from dbsp.evolution.plan import DROPPED, FILLED, KEPT, NEW, Item, Plan
from dbsp.evolution.rules import new_checks, new_rules
from dbsp.sql.plans.collations import column_of
from dbsp.sql.plans.program import Program
from dbsp.state.records.commits import Commit
from dbsp.state.records.identity import FORMAT, NUMBERED, Identity, identity_of
from dbsp.state.records.manifest import Manifest, Shown, manifest_of


@dataclass(frozen=True)
class Change:
    """program: the new one. before: the one whose state it is, as of the commit `last`.

    delivered: per sink the last step that it has. from_source: sources may be read again, for rows that
    nothing holds.
    """

    program: Program
    before: Identity
    last: Commit
    delivered: Mapping[str, int] = field(default_factory=dict)
    from_source: bool = False

    # -- what there is ------------------------------------------------------------------------------

    @cached_property
    def after(self) -> Identity:
        return identity_of(self.program)

    @property
    def old(self) -> Manifest:
        return self.before.manifest

    @cached_property
    def known(self) -> Known:
        """The program, as the old one knows its streams."""
        return known_before(self.program, self.old)

    @cached_property
    def new(self) -> Manifest:
        """What it keeps, under the names that the old one knows."""
        return manifest_of(self.known.program)

    @property
    def circuit(self) -> Circuit:
        """The program's, under these names. Its nodes have the same numbers."""
        return self.known.program.circuit

    @property
    def record(self) -> Mapping[str, Any]:
        """The state, as it is written."""
        return self.last.state

    @cached_property
    def is_same(self) -> bool:
        if self.last.fingerprint != self.program.fingerprint:
            return False
        return self.last.format == NUMBERED or self.kept.keys() == self.new.traces.keys()

    @cached_property
    def kept(self) -> dict[str, int]:
        """The traces that the new circuit goes on with, and its nodes."""
        names = self.new.goes_on_with(self.record)
        return {
            name: node
            for node, name in self.circuit.names.items()
            if name in names and node not in self.checked
        }

    @cached_property
    def checked(self) -> dict[int, list[Operator]]:
        """What rows must be that are there, by the node that has them."""
        return new_rules(self.known, self.new.tables, self.old.tables)

    @cached_property
    def missing(self) -> list[int]:
        """The nodes of the new circuit whose trace or log is not there."""
        return [node for node, name in self.circuit.names.items() if name not in self.kept]

    @cached_property
    def changed(self) -> dict[str, Shown]:
        """The views that have other contents than before under the same name, as they were."""
        return {
            name: self.old.views[name]
            for name, shown in self.new.views.items()
            if name in self.old.views and self.old.views[name].kept != shown.kept
        }

    @cached_property
    def waited(self) -> dict[str, Shown]:
        """The views whose changes wait by a TRIGGER or EMIT that is another now, or none, as they were."""
        return {
            name: before
            for name, shown in self.new.views.items()
            if (before := self.old.views.get(name)) is not None
            and before.emits
            and before.changes != shown.changes
        }

    @cached_property
    def _columns(self) -> tuple[dict[str, str], dict[str, pa.Scalar], list[str]]:
        was: dict[str, str] = {}
        constants: dict[str, pa.Scalar] = {}
        wrong: list[str] = []
        for name, table in self.program.inputs.items():
            if name in self.old.tables:
                found = changed_columns(table, self.new.tables[name], self.old.tables[name])
                was |= found[0]
                constants |= found[1]
                wrong += found[2]
        return was, constants, wrong

    @cached_property
    def holdings(self) -> Holdings:
        collected = self.record["collected"]
        kept = [
            Kept(name, held, Spine.from_json(self.record["spines"][name]), self._owner(name))
            for name, held in self.old.traces.items()
            if held.whole and name in self.record["spines"]
        ]
        whole = tuple(one for one in kept if one.name not in collected)
        left = tuple((one, frozenset(collected[one.name])) for one in kept if one.name in collected)
        was, constants, _ = self._columns
        there = {name: table for name, table in self.program.inputs.items() if name in self.old.tables}
        return Holdings(whole, was, constants, left, computed_columns(there, self.new.tables))

    def _owner(self, name: str) -> str:
        shown = [view for view, one in self.old.views.items() if one.kept == name]
        return f"view '{shown[0]}'" if shown else "the state"

    @cached_property
    def filling(self) -> tuple[Fill, Filling]:
        """The circuit of what is missing, and what was found out about it."""
        empty = {*self.program.inputs, BAD_ROWS} - self.old.tables.keys() - self.old.views.keys()
        readable = self._readable if self.from_source else ()
        filling = Filling(self.circuit, self.holdings, empty, readable, self.checked)
        return filling.fill(self.missing, self.left), filling

    @cached_property
    def _readable(self) -> list[str]:
        """The tables of which it is known what was read of their sources, and can be read again."""
        return [
            name
            for name, table in self.program.inputs.items()
            if (table.is_file or (table.format or "").lower() == _KAFKA)
            and not table.changelog
            and not table.is_snapshot
            if name in self.old.tables and self.old.tables[name].source and not self.old.tables[name].snapshot
        ]

    def _of_source(self, table: str) -> str:
        return "files" if self.program.inputs[table].is_file else "messages"

    @cached_property
    def left(self) -> dict[str, Given]:
        """What had left of views that are others now, of those that have the same columns."""
        found = {}
        for view, shown in (self.changed | self.waited).items():
            kept = self._left_of(shown)
            schema = self.circuit.nodes[self.circuit.output(view).node].schema
            if kept is None or shown.types != self.new.views[view].types:
                continue
            if len(kept.held.stored().schema) == len(schema):  # else it says which result it is
                found[view] = Given(kept, tuple(range(len(schema))), schema)
        return found

    def _left_of(self, shown: Shown) -> Kept | None:
        """The trace of it, if nothing of that has been collected."""
        name, spines = shown.changes, self.record["spines"]
        if name in self.record["collected"] or name not in spines:
            return None
        return Kept(name, self.old.traces[name], Spine.from_json(spines[name]), self._owner(shown.kept))

    # -- the plan -----------------------------------------------------------------------------------

    @cached_property
    def plan(self) -> Plan:
        step = self.last.step
        if self.is_same:
            return Plan(step, is_same=True)
        if self.last.format == NUMBERED:
            return Plan(
                step,
                refused=(
                    f"the state was written by an older release, and says nothing of what it keeps: make a "
                    f"step with '{self.before.name}' first, and then change it",
                ),
            )
        refused = tuple(self._refused())
        fill = self.filling[0]
        rows = sum(given.kept.spine.rows for given in fill.given.values())
        dropped = len(self.record["spines"].keys() - self.kept.keys())
        items = (*self._tables(), *self._views(), *self._sinks())
        return Plan(step, items, rows, len(self.kept), len(self.missing), dropped, refused)

    def _tables(self) -> Iterator[Item]:
        for name, table in self.new.tables.items():
            if name not in self.old.tables:
                yield Item("table", name, NEW)
                continue
            before = self.old.tables[name].fields
            added = [column for column in table.fields if column not in before]
            gone = [column for column in before if column not in table.fields]
            other = [
                c
                for c in table.fields
                if c in before and column_of(before[c]).ddl != column_of(table.fields[c]).ddl
            ]
            wider = [c for c in other if is_wider(before[c].type, table.fields[c].type)]
            other = [c for c in other if c not in wider]
            said = [("with", added), ("without", gone), ("wider", wider), ("of another type", other)]
            whys = [f"{word} {', '.join(columns)}" for word, columns in said if columns]
            if before_ := self._redeclared(name):
                whys.append(before_)
            whys += [f"its {self._of_source(name)} are read again"] if name in self.filling[1].again else []
            yield Item("table", name, KEPT, ", ".join(whys))
        for name in self.old.tables:
            if name not in self.new.tables:
                yield Item("table", name, DROPPED)

    def _redeclared(self, name: str) -> str:
        """What else is said of a table than was, in words."""
        table, before = self.new.tables[name], self.old.tables[name]
        said = []
        if before.key != table.key:
            key = f"the key is {', '.join(table.key)}" if table.key else "without a key"
            said.append(key + (", by which its rows must be apart" if table.key else ""))
        if before.lateness != table.lateness:
            said.append("of another LATENESS or WATERMARK from its next row on")
        checks = new_checks(self.program.inputs[name], table, before)
        said += [f"{check.said}, by which its rows are looked at" for check in checks]
        other = [
            c for c in table.computed if c in before.fields and table.computed[c] != before.column(name, c)
        ]
        said += [f"{', '.join(other)} computed otherwise"] if other else []
        return ", ".join(said)

    def _views(self) -> Iterator[Item]:
        for view, shown in self.new.views.items():
            yield Item("view", view, KEPT if shown.kept in self.kept else FILLED, self._why(view, shown))
        goes_on = {shown.kept for shown in self.new.views.values()}
        for view, shown in self.old.views.items():
            if view not in self.new.views and shown.kept not in goes_on:
                yield Item("view", view, DROPPED)

    def _why(self, view: str, shown: Shown) -> str:
        was = self.old.views.get(view)
        if was is not None and (was.emits or shown.emits) and was.changes != shown.changes:
            rest = "what waits leaves now" if was.emits else "all of it has left"
            return f"of another TRIGGER or EMIT from its next row on, {rest}"
        if view in self.changed:
            return "it is computed otherwise"
        before = self.old.triggers.get(view)
        if before is not None and before != self.after.manifest.triggers.get(view, before):
            return "of another TRIGGER from its next row on"
        if view not in self.old.views:
            as_ = next((name for name, one in self.old.views.items() if one.kept == shown.kept), None)
            return "new" if as_ is None else f"was '{as_}'" if as_ not in self.new.views else f"as '{as_}'"
        below = any(view in self.circuit.views_of(node) for node in self.missing)
        return "what it is computed with is back-filled" if below else ""

    def _sinks(self) -> Iterator[Item]:
        before = {sink.target for sink in self.old.sinks}
        for target in dict.fromkeys(sink.target for sink in self.new.sinks):
            if target in before:
                yield Item("sink", target, KEPT)
            else:
                yield Item("sink", target, NEW, "gets what its view holds, and then every change")
        for target in sorted(before - {sink.target for sink in self.new.sinks}):
            yield Item("sink", target, DROPPED)

    # -- what can't be done -------------------------------------------------------------------------

    def _refused(self) -> Iterator[str]:
        yield from self._columns[2]
        yield from self._other_tables()
        yield from self._other_sources()
        yield from self._other_sinks()
        yield from self._other_emission()
        for missing in self.filling[1].missing:
            cure = _CURE
            if missing.why in (Arrival.history, ArrivalTime.history):
                cure = f"{_BY_VALUE}, or {_CURE}"
            elif missing.table in self._readable:
                again = f"read its {self._of_source(missing.table)} again by --backfill from-source"
                cure = f"{again} (backfill='from-source'), or {_CURE}"
            yield f"{self._whose(missing.node)} can't be computed from what is there ({missing.why}); {cure}"

    @property
    def unfilled(self) -> frozenset[str]:
        """The views that can't be computed, where nothing else is in the way."""
        if self.last.format == NUMBERED:
            return frozenset()
        missing = self.filling[1].missing
        if len(missing) < len(self.plan.refused):
            return frozenset()
        return frozenset(view for each in missing for view in self._views_of(each.node))

    def views_of(self, node: int) -> list[str]:
        """The views that the rows reach of a node of the back-fill."""
        fill, filling = self.filling
        reached = fill.circuit.reached(node)
        stands_for = [i for i, made in filling.made.items() if made in reached]
        found = {view for i in stands_for for view in self._views_of(i)}
        return [output.view for output in self.circuit.outputs if output.view in found]

    def _views_of(self, node: int) -> list[str]:
        reached = self.circuit.reached(node)
        return [o.view for o in self.circuit.outputs if reached & {o.node, o.kept, o.changes}]

    def _whose(self, node: int) -> str:
        """In words, the views that a node's rows reach; or the table whose they are."""
        circuit, views = self.circuit, self._views_of(node)
        if views:
            return named_views(views)
        return "; ".join(
            f"table '{name}'" for name, i in circuit.sources.items() if node in circuit.reached(i)
        )

    def _other_tables(self) -> Iterator[str]:
        for name, table in self.new.tables.items():
            before = self.old.tables.get(name)
            if before is None:
                continue
            if before.key != table.key and name not in self.known.rekeyed:
                was = f"PRIMARY KEY ({', '.join(before.key)})" if before.key else "no PRIMARY KEY"
                yield (
                    f"table '{name}' had {was}, and LATENESS, by which changes of its keys were left out; "
                    "give it another name"
                )
            if before.lateness != table.lateness and is_late_otherwise(self.program, self.old, name):
                cure = "give the table another name, or a new state directory"
                if self.before.format < FORMAT:
                    cure = f"or make a step with '{self.before.name}' first, which writes down what it is"
                yield (
                    f"table '{name}' had LATENESS or WATERMARK of other columns, or LATENESS of percentiles, "
                    f"by which rows were taken or left; {cure}"
                )

    def _other_sources(self) -> Iterator[str]:
        """What has been read of a source is known by the table's name."""
        for name, table in self.new.tables.items():
            before = self.old.tables.get(name)
            if before is None or not before.source or not table.source or self.last.batch is None:
                continue
            if before.snapshot and not table.snapshot:
                yield f"table '{name}' was compared with its source, which would be read once more; {_OTHER}"
            elif before.source != table.source:
                yield f"table '{name}' was read as {before.source}, and is read as {table.source}; {_OTHER}"

    def _other_emission(self) -> Iterator[str]:
        for view in self.waited.keys() - self.left.keys():
            yield (
                f"view '{view}' had another TRIGGER or EMIT, and what has left of it isn't held, or says "
                "which result it is; give the view another name"
            )

    def _other_sinks(self) -> Iterator[str]:
        """A target that goes on must go on with the rows of what it has."""
        for target in dict.fromkeys(sink.target for sink in self.new.sinks):
            before = {sink.view: sink for sink in self.old.sinks if sink.target == target}
            if not before:
                continue
            cure = "insert into another table, with another path"
            now = [sink for sink in self.new.sinks if sink.target == target]
            for sink in now:
                was = before.pop(sink.view, None) or self._renamed(sink.view, before)
                if was is None or was.form != sink.form:
                    yield f"sink '{target}' holds rows that were written otherwise; {cure}"
                elif sink.view in self.changed.keys() - self.left.keys():
                    yield f"sink '{target}' holds rows of other columns of view '{sink.view}'; {cure}"
                elif self.delivered.get(target, 0) < self.last.step and not self._is_as_before(sink.view):
                    yield (
                        f"sink '{target}' hasn't got step {self.last.step} yet, which is of the program "
                        f"before; open the state with '{self.before.name}' once more"
                    )
            if before:
                yield f"sink '{target}' holds rows of view '{next(iter(before))}'; {cure}"

    def _renamed(self, view: str, before: dict[str, Any]) -> Any:
        """What a sink had of a view that had another name."""
        for name in before:
            if self.old.views[name].kept == self.new.views[view].kept:
                return before.pop(name)
        return None

    def _is_as_before(self, view: str) -> bool:
        return view in self.old.views and view not in self.changed | self.waited


_KAFKA = "kafka"
_OTHER = "give the table another name"
_BY_VALUE = (
    "say an order, as sort_array(collect_list(x)), listagg(x) WITHIN GROUP (ORDER BY x) or min_by(x, time) do"
)
_CURE = "take a new state directory, and feed it the tables from their start"
