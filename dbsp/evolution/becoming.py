"""The one record by which a state directory passes from its program to a changed one.

It is a step of its own without input: the traces that go on, those that were made beside, and what changes in
each view. Until it is there, the directory is the old program's; from then on it is the new one's. Whatever
ends the attempt leaves one or the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import StateError
from dbsp.circuits.progress.waterline import to_json
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.steps.contents import open_chunk
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.spine import Run, Spine
from dbsp.evolution.backfill import Backfill
from dbsp.evolution.change import Change
from dbsp.evolution.fill import Fill
from dbsp.evolution.sources import moved
from dbsp.running.clock import instant
from dbsp.state.records.commits import Commit
from dbsp.state.records.delivered import Delivery, read_delivered, write_delivered
from dbsp.state.records.manifest import Sink
from dbsp.state.store import Store
from dbsp.views.outputs import layouts_of_changes


@dataclass
class Becoming:
    """change: of the state's last step. made: up to that step."""

    change: Change
    made: Backfill
    store: Store

    @property
    def step(self) -> int:
        """That it happens at."""
        return self.change.last.step + 1

    def commit(self) -> None:
        """Do it, or leave nothing. Raises StateError."""
        fill = self.made.fill
        commit: Commit | None = None
        try:
            commit = self._commit(fill)
            # one of which nothing is noted gets all steps that are kept
            self._begin_sinks(self.change.beginning - self.change.anew.keys())
            self.store.commit(commit, self.change.after)
            # until then it was the old program's, whose path it had
            self._begin_sinks(self.change.anew.keys())
        finally:
            if commit is None or not self.store.settle(commit):
                self.store.discard_attempt(self.made.name)
            else:
                self._discard_others(commit)

    def _discard_others(self, commit: Commit) -> None:
        """What was merged away while the traces were made."""
        written = self.store.segments.names(self.made.name)
        self.store.discard({*written} - commit.segments)

    # -- what is true then --------------------------------------------------------------------------

    def _commit(self, fill: Fill) -> Commit:
        change, last, circuit = self.change, self.change.last, self.change.program.circuit
        state = self._next_state(fill)
        changes = {}
        initial: dict[str, dict[str, list[list[object]]]] = {}
        for output in circuit.outputs:
            whole = state.spines[output.changes].live
            if output.view not in change.old.views:
                changes[output.view] = whole
            elif output.view in fill.differences:
                changes[output.view] = self._difference(fill, output.view)
            elif output.view in change.changed:
                changes[output.view] = whole
            for sink in change.new.sinks:
                if sink.view != output.view:
                    continue
                if sink.target not in change.beginning and self._has_all(sink):
                    initial.setdefault(sink.target, {})[sink.view] = []
                elif sink.target in change.beginning and output.view in change.old.views:
                    initial.setdefault(sink.target, {})[sink.view] = [chunk.to_json() for chunk in whole]
        segments = {chunk.segment for chunks in changes.values() for chunk in chunks}
        reading = change.reading.goes_on(change.program, last.batch is not None)
        places = [*change.reading.streams], [*reading.streams]
        checkpoint, offsets = moved(self.store.root, last, *places, self.step, self.store.durable)
        made = instant(last.clock, last.machine_clock, last)
        return Commit(
            self.step,
            change.program.fingerprint,
            state.to_json(circuit),
            last.clock,
            {view: [chunk.to_json() for chunk in chunks] for view, chunks in changes.items() if chunks},
            frozenset(segments | state.segments()),
            last.stream,
            last.batch,
            offsets,
            to_json(state.waterlines),
            last.machine_clock,
            self.made.name,
            layouts_of_changes(circuit),
            initial,
            instant=made[0],
            driven=made[1],
            checkpoint=checkpoint,
            requests=last.requests,
            oldest=self.store.oldest_with(self.step, *made),
            reading=reading,
        )

    def _next_state(self, fill: Fill) -> State:
        change, circuit = self.change, self.change.program.circuit
        known: Mapping[str, Any] = change.record
        names = {name: circuit.names[node] for name, node in change.kept.items()}
        kept = {now: known["spines"][name] for name, now in names.items()}
        pieces = [[names[name], *rest] for name, *rest in known["pieces"] if name in names]
        state = State.from_json(circuit, {**known, "spines": kept, "pieces": pieces})
        spines = {
            node: _without_tops(spine) if node in circuit.retentions else spine
            for node, spine in state.spines.items()
        }
        due = list(state.pieces)
        for node, made in fill.filled.items():
            spines[node] = self.made.state.spines.get(made, Spine())
            due += [replace(piece, node=node) for piece in self.made.state.pieces if piece.node == made]
        spines |= {node: Spine() for node in fill.begun}
        return replace(state, spines=dict(sorted(spines.items())), pieces=tuple(due))

    def _difference(self, fill: Fill, view: str) -> list[Chunk]:
        """What is added to a view, and taken from it. Raises StateError where a sink takes nothing back."""
        node = fill.differences[view]
        chunks = self.made.state.spines[node].live
        given = {
            sink.target for sink, was in self.change.went_on.items() if was and was.view == sink.view == view
        }
        inserts = [i for i in self.change.program.inserts if i.target in given]
        appended = [i.target for i in inserts if (i.view, i.shape) == (view, "append")]
        if appended and self._retracts(fill.circuit, node, chunks):
            raise StateError(
                f"{self.store.root}: the program can't be changed: view '{view}' loses rows by it, and sink "
                f"'{appended[0]}' takes none back; insert into another table, with another path"
            )
        return chunks

    def _retracts(self, circuit: Circuit, node: int, chunks: list[Chunk]) -> bool:
        batches = (open_chunk(circuit, node, chunk, self.store.segments) for chunk in chunks)
        return any((batch.weights < 0).any() for batch in batches)

    # -- sinks --------------------------------------------------------------------------------------

    def _has_all(self, sink: Sink) -> bool:
        """Whether a sink has what its view holds already, from when that had another name."""
        was = self.change.went_on.get(sink)
        return was is not None and was.view != sink.view

    def _begin_sinks(self, begun: Set[str]) -> None:
        """They begin with this step."""
        if begun:
            delivered = read_delivered(self.store.root)
            delivered |= dict.fromkeys(sorted(begun), Delivery(self.step - 1, began=self.step - 1))
            write_delivered(self.store.root, delivered, self.store.durable)


def _without_tops(spine: Spine) -> Spine:
    """The greatest values of chunks are in the order of readers, which may be others now."""
    runs = tuple(Run(run.id, tuple(replace(c, tops=()) for c in run.chunks)) for run in spine.runs)
    merges = tuple(
        replace(merge, done=tuple(tuple(replace(c, tops=()) for c in piece) for piece in merge.done))
        for merge in spine.merges
    )
    return replace(spine, runs=runs, merges=merges)
