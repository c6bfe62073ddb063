"""A state beside a new program: what is kept, what is missing, and what it could be made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.traces.spine import Spine
from dbsp.evolution.fill import Fill, Filling
from dbsp.evolution.given import Given, Holdings, Kept, changed_columns, computed_columns
from dbsp.evolution.known import Known, known_before
from dbsp.evolution.late import late_before
from dbsp.evolution.rules import kept_by, new_rules
from dbsp.evolution.sources import reading_of
from dbsp.sql.plans.program import Program
from dbsp.state.records.commits import Commit
from dbsp.state.records.identity import NUMBERED, Identity, identity_of
from dbsp.state.records.manifest import Manifest, Shown, Sink, manifest_of
from dbsp.state.records.reading import Reading, streams_of


@dataclass(frozen=True)
class Comparison:
    """program: the new one. before: the one whose state it is, as of the commit `last`.

    delivered: per sink the last step that it has. from_source: sources may be read again, for rows that
    nothing holds. anew: the paths of sinks that are written elsewhere from now on.
    """

    program: Program
    before: Identity
    last: Commit
    delivered: Mapping[str, int] = field(default_factory=dict)
    from_source: bool = False
    anew: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def after(self) -> Identity:
        made = identity_of(self.program)
        tables = {
            name: replace(table, grown=self.grown(name)) for name, table in made.manifest.tables.items()
        }
        return replace(made, manifest=replace(made.manifest, tables=tables))

    def grown(self, table: str) -> tuple[str, ...]:
        """The columns that rows have been given, or are now, of which their source may say otherwise."""
        before, now = self.old.tables.get(table), self.new.tables[table]
        if before is None:
            return ()
        given = self.filling[1].constants
        return tuple(
            name
            for name in now.fields
            if name in before.grown or (name not in before.fields and now.column(table, name) in given)
        )

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
        if self.last.fingerprint != self.program.fingerprint or self.anew:
            return False
        if self.last.format == NUMBERED:
            return True
        return self.kept.keys() == self.new.traces.keys() and self.is_read_as_before

    @cached_property
    def reading(self) -> Reading:
        """How the tables were read so far."""
        return reading_of(self.old, self.last)

    @property
    def is_read_as_before(self) -> bool:
        """Whether each stream goes on at its place in the checkpoint, if there is one.

        Of a record that doesn't say whose the places are it is for the next run to find out.
        """
        if self.last.batch is None or self.last.reading is None:
            return True
        return [*streams_of(self.program).items()] == [*self.reading.streams.items()]

    @cached_property
    def kept(self) -> dict[str, int]:
        """The traces that the new circuit goes on with, and its nodes."""
        names = self.new.goes_on_with(self.record)
        return {
            name: node
            for node, name in self.circuit.names.items()
            if name in names and (node in self.circuit.logs or node not in self.checked)
        }

    @cached_property
    def checked(self) -> dict[int, list[Operator]]:
        """What rows must be that are there, by the node that has them."""
        return new_rules(self.known, self.new.tables, self.old.tables)

    def is_unseen(self, table: str) -> bool:
        """Whether nothing holds the rows of a table for its new rules to look at."""
        node = kept_by(self.circuit, table)
        return node is None or node in self.filling[1].unseen

    @cached_property
    def missing(self) -> list[int]:
        """The nodes of the new circuit whose trace or log is not there."""
        return [node for node, name in self.circuit.names.items() if name not in self.kept]

    @cached_property
    def beginning(self) -> frozenset[str]:
        """The sinks that get what their view holds."""
        return frozenset(self.new.targets - self.old.targets | self.anew.keys())

    @cached_property
    def went_on(self) -> dict[Sink, Sink | None]:
        """What each sink that goes on was: of the same view, or of one by another name; None: nothing."""
        found: dict[Sink, Sink | None] = {}
        left = [*self.old.sinks]
        for sink in self.new.sinks:
            if sink.target in self.beginning:
                continue
            same = [was for was in left if (was.target, was.view) == (sink.target, sink.view)]
            same += [was for was in left if was.target == sink.target and self._is_told_alike(was, sink)]
            found[sink] = same[0] if same else None
            if same:
                left.remove(same[0])
        return found

    def _is_told_alike(self, was: Sink, sink: Sink) -> bool:
        """Whether the view of the one has told all that the other's has."""
        before, now = self.old.views[was.view], self.new.views[sink.view]
        return (before.kept, before.changes) == (now.kept, now.changes)

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
    def columns(self) -> tuple[dict[str, str], dict[str, pa.Scalar], list[str]]:
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
        was, constants, _ = self.columns
        there = {name: table for name, table in self.program.inputs.items() if name in self.old.tables}
        return Holdings(whole, was, constants, left, computed_columns(there, self.new.tables))

    def _owner(self, name: str) -> str:
        shown = [view for view, one in self.old.views.items() if one.kept == name]
        return f"view '{shown[0]}'" if shown else "the state"

    @cached_property
    def filling(self) -> tuple[Fill, Filling]:
        """The circuit of what is missing, and what was found out about it."""
        empty = self.program.inputs.keys() - self.old.tables.keys()
        empty |= {BAD_ROWS} - self.old.views.keys()
        readable = self.readable if self.from_source else {}
        late = late_before(self.circuit, self.new, self.old, self.holdings)
        filling = Filling(self.circuit, self.holdings, empty, readable, self.checked, late)
        return filling.fill(self.missing, self.left), filling

    @cached_property
    def readable(self) -> dict[str, list[int]]:
        """The tables of which it is known what was read of their sources, and can be read again; each with
        its columns of which rows that were held have other values than those that are read again would.
        """
        known = self.reading.streams if self.last.batch is not None else self.old.streams
        return {
            name: [i for i, column in enumerate(table.schema) if column.name in self.old.tables[name].grown]
            for name, table in self.program.inputs.items()
            if (table.is_file or (table.format or "").lower() == _KAFKA)
            and not table.changelog
            and not table.is_snapshot
            if name in self.old.tables and name in known
        }

    def read_of(self, table: str) -> str:
        """What is read of its source, in words."""
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

    def views_of(self, node: int) -> list[str]:
        """The views that the rows reach of a node of the back-fill."""
        fill, filling = self.filling
        reached = fill.circuit.reached(node)
        stands_for = [i for i, made in filling.made.items() if made in reached]
        found = {view for i in stands_for for view in self.views_reached(i)}
        return [output.view for output in self.circuit.outputs if output.view in found]

    def views_reached(self, node: int) -> list[str]:
        reached = self.circuit.reached(node)
        return [o.view for o in self.circuit.outputs if reached & {o.node, o.kept, o.changes}]


_KAFKA = "kafka"
