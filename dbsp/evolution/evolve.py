"""A state directory passes from its program to a changed one: at one commit, a step of its own without input.

What is missing is computed beside what is there, in segments that nothing refers to yet. Then one record
says all of it: the traces that go on, the new ones, and what changes in each view. Until it is there, the
directory is the old program's, whose views can be read all the while; from then on it is the new one's.
Whatever ends the attempt leaves one or the other.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.disk import disk
from dbsp.circuits.errors import EvaluationError, StateError
from dbsp.circuits.progress.waterline import to_json
from dbsp.circuits.steps.contents import open_chunk
from dbsp.circuits.steps.state import State
from dbsp.circuits.steps.task import Input, Step
from dbsp.circuits.traces.chunk import Chunk
from dbsp.circuits.traces.spine import Run, Spine
from dbsp.evolution.change import Change
from dbsp.evolution.fill import Fill
from dbsp.evolution.given import PIECE
from dbsp.evolution.plan import Plan
from dbsp.evolution.sources import moved, streams_before, streams_of
from dbsp.running.clock import instant
from dbsp.running.runner import Runner, Work
from dbsp.sql.plans.program import Program
from dbsp.state.keeping.keep import Keep
from dbsp.state.records.commits import Commit
from dbsp.state.records.delivered import Delivery, read_delivered, write_delivered
from dbsp.state.records.identity import Identity, OtherProgram
from dbsp.state.records.places import place_of
from dbsp.state.store import Store
from dbsp.views.outputs import layouts_of_changes

Say = Callable[[str], None]
# (state, circuit that reads them, tables, streams in the order of their places) → all rows that were read of
# the tables' sources as of the state's last step, in segments of their own
ReadAgain = Callable[[Store, Circuit, Sequence[str], Sequence[str]], Mapping[str, Sequence[Chunk]]]


def plan_of(program: Program, state: str | Path, from_source: bool = False) -> Plan:
    """What a program would do to the state in a directory. Nothing is changed. Raises StateError.

    from_source: where sources are read again, if need be.
    """
    store, before = Store.read(state)
    if store.last is None:
        return Plan(0, is_same=True)
    return _change(program, before, store, from_source).plan


def evolve(
    program: Program,
    state: str | Path,
    runner: Runner,
    partitions: int | None = None,
    keep: Keep | None = None,
    say: Say = lambda line: None,
    read_again: ReadAgain | None = None,
) -> Plan | None:
    """Make the directory the program's. None: it is that already, or of nobody. Raises StateError.

    say: what is about to be done, line by line, and how far it is. When it raises, nothing has changed.
    read_again: reads sources again, of whose tables nothing holds the rows; None: that is refused.
    """
    root = place_of(state)
    with disk(root):
        if not (root / "commits").is_dir():
            return None
        before = Store.read(root)[1]
        store = Store.open(root, before, keep)
        try:
            return _evolved(program, before, store, runner, partitions, say, read_again)
        finally:
            store.close()


def _evolved(
    program: Program,
    before: Identity,
    store: Store,
    runner: Runner,
    partitions: int | None,
    say: Say,
    read_again: ReadAgain | None,
) -> Plan | None:
    if store.last is None:
        return None
    change = _change(program, before, store, read_again is not None)
    if change.is_same:
        return None
    for line in change.plan.lines():
        say(line)
    if change.plan.refused:
        raise refusal(store.root, change.plan)
    _Evolution(change, store, runner, partitions or runner.partitions, say, read_again).run()
    return change.plan


def explained(error: OtherProgram, program: Program, state: str | Path) -> StateError:
    """The error, and what can be done about it."""
    found = plan_of(program, state)
    if found.refused:
        return StateError(f"{error}; it can't be changed into this program: {found.summary()}")
    return StateError(
        f"{error}; or change the program with --evolve (evolve=True): {found.summary()}; `dbsp plan` says "
        "more"
    )


class Unfilled(StateError):
    """The state can't be changed into the program's, as what it holds doesn't say all that is new."""


def refusal(root: object, plan: Plan) -> Unfilled:
    """Why a change can't be made."""
    more = f" (and {len(plan.refused) - 1} more)" if len(plan.refused) > 1 else ""
    return Unfilled(f"{root}: the program can't be changed: {plan.refused[0]}{more}")


def _change(program: Program, before: Identity, store: Store, from_source: bool) -> Change:
    assert store.last is not None
    delivered = {target: each.step for target, each in read_delivered(store.root).items()}
    return Change(program, before, store.last, delivered, from_source)


@dataclass
class _Evolution:
    """One attempt. state: of the circuit of what is missing."""

    change: Change
    store: Store
    runner: Runner
    partitions: int
    say: Say
    read_again: ReadAgain | None
    name: str = field(init=False)
    state: State = field(init=False)

    def __post_init__(self) -> None:
        self.step = self.change.last.step + 1
        self.name = f"{self.step:012d}-{secrets.token_hex(4)}-evolution"

    def run(self) -> None:
        fill = self.change.filling[0]
        self.state = State.empty(fill.circuit)
        commit: Commit | None = None
        try:
            if fill.filled or fill.differences:
                self._fill(fill)
            commit = self._commit(fill)
            self._begin_sinks()
            self.store.commit(commit, self.change.after)
        finally:
            if commit is None or not self.store.settle(commit):
                self.store.discard_attempt(self.name)
            else:
                self._discard_others(commit)

    def _discard_others(self, commit: Commit) -> None:
        """What was merged away while the traces were made."""
        written = self.store.segments.names(self.name)
        self.store.discard({*written} - commit.segments)

    # -- what is missing ----------------------------------------------------------------------------

    def _fill(self, fill: Fill) -> None:
        again: Mapping[str, Sequence[Chunk]] = {}
        if fill.again:
            assert self.read_again is not None
            streams = streams_before(self.change.old)
            again = self.read_again(self.store, fill.circuit, fill.again, streams)
        try:
            self._feed(fill, again)
        finally:
            self.store.discard({chunk.segment for chunks in again.values() for chunk in chunks})

    def _feed(self, fill: Fill, again: Mapping[str, Sequence[Chunk]]) -> None:
        feeds = {name: given.inputs(self.partitions) for name, given in fill.given.items()}
        feeds |= {table: _pieces(chunks) for table, chunks in again.items()}
        rows = 0
        total = self.change.plan.rows + sum(chunk.rows for chunks in again.values() for chunk in chunks)
        for number, batches in enumerate(_together(feeds), 1):
            step = Step(
                number=number,
                state=self.state,
                segment=f"{self.name}-{number}",
                partitions=self.partitions,
                durable=self.store.durable,
            )
            rows += sum(part.rows for parts in batches.values() for part in parts)
            work = Work(circuit=fill.circuit, step=step, inputs=batches, segments=self.store.segments)
            try:
                self.state = self.state.apply(self.runner.run(work))
            except EvaluationError as error:
                raise error.within("the program can't be changed") from None
            if total:
                self.say(f"back-filling: {min(rows, total)} of {total} rows")

    # -- what is true then --------------------------------------------------------------------------

    def _commit(self, fill: Fill) -> Commit:
        change, last, circuit = self.change, self.change.last, self.change.program.circuit
        state = self._next_state(fill)
        changes = {}
        initial: dict[str, dict[str, list[list[object]]]] = {}
        for output in circuit.outputs:
            whole = state.spines[output.kept].live if output.emission is None else []
            if output.view not in change.old.views:
                changes[output.view] = whole
            elif output.view in fill.differences:
                changes[output.view] = self._difference(fill, output.view)
            elif output.view in change.changed:
                changes[output.view] = whole
            for sink in change.new.sinks:
                if sink.view == output.view and output.view in change.old.views and self._begins(sink.target):
                    initial.setdefault(sink.target, {})[sink.view] = [chunk.to_json() for chunk in whole]
        segments = {chunk.segment for chunks in changes.values() for chunk in chunks}
        places = streams_before(change.old), streams_of(change.program)
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
            self.name,
            layouts_of_changes(circuit),
            initial,
            instant=made[0],
            driven=made[1],
            checkpoint=checkpoint,
            requests=last.requests,
            oldest=self.store.oldest_with(self.step, *made),
        )

    def _next_state(self, fill: Fill) -> State:
        change, circuit = self.change, self.change.program.circuit
        known: Mapping[str, Any] = change.record
        kept = {name: known["spines"][name] for name in change.kept}
        pieces = [piece for piece in known["pieces"] if piece[0] in kept]
        state = State.from_json(circuit, {**known, "spines": kept, "pieces": pieces})
        spines = {
            node: _without_tops(spine) if node in circuit.retentions else spine
            for node, spine in state.spines.items()
        }
        due = list(state.pieces)
        for node, made in fill.filled.items():
            spines[node] = self.state.spines.get(made, Spine())
            due += [replace(piece, node=node) for piece in self.state.pieces if piece.node == made]
        return replace(state, spines=dict(sorted(spines.items())), pieces=tuple(due))

    def _difference(self, fill: Fill, view: str) -> list[Chunk]:
        """What is added to a view, and taken from it. Raises StateError where a sink takes nothing back."""
        node = fill.differences[view]
        chunks = self.state.spines[node].live
        appended = [i.target for i in self.change.program.inserts if (i.view, i.shape) == (view, "append")]
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

    def _begins(self, target: str) -> bool:
        return target not in {sink.target for sink in self.change.old.sinks}

    def _begin_sinks(self) -> None:
        """New ones begin with this step."""
        begun = {sink.target for sink in self.change.new.sinks if self._begins(sink.target)}
        if begun:
            delivered = read_delivered(self.store.root)
            delivered |= dict.fromkeys(sorted(begun), Delivery(self.step - 1, began=self.step - 1))
            write_delivered(self.store.root, delivered, self.store.durable)


def _pieces(chunks: Sequence[Chunk]) -> Iterator[list[Input]]:
    """As many at a time as have about PIECE rows."""
    parts: list[Input] = []
    rows = 0
    for chunk in chunks:
        parts.append(Input(rows, chunk))
        rows += chunk.rows
        if rows >= PIECE:
            yield parts
            parts, rows = [], 0
    if parts:
        yield parts


def _together(feeds: Mapping[str, Iterator[list[Input]]]) -> Iterator[dict[str, list[Input]]]:
    """The pieces of all sources, one of each at a time; at least once, for what needs no input."""
    names, fed = list(feeds), False
    for pieces in zip_longest(*feeds.values()):
        fed = True
        yield {name: piece for name, piece in zip(names, pieces, strict=True) if piece is not None}
    if not fed:
        yield {}


def _without_tops(spine: Spine) -> Spine:
    """The greatest values of chunks are in the order of readers, which may be others now."""
    runs = tuple(Run(run.id, tuple(replace(c, tops=()) for c in run.chunks)) for run in spine.runs)
    merges = tuple(
        replace(merge, done=tuple(tuple(replace(c, tops=()) for c in piece) for piece in merge.done))
        for merge in spine.merges
    )
    return replace(spine, runs=runs, merges=merges)
