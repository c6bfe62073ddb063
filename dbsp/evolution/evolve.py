"""A state directory passes from its program to a changed one: at one commit, a step of its own without input.

What is missing is computed beside what is there (`Backfill`). Then one record says all of it (`Becoming`).
Views can be read all the while, but nobody makes steps (`dbsp.pipeline.beside.changing`: they go on).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.evolution.backfill import Backfill, Say
from dbsp.evolution.becoming import Becoming
from dbsp.evolution.change import Change
from dbsp.evolution.plan import Plan
from dbsp.running.runner import Runner
from dbsp.sql.plans.program import Program
from dbsp.state.keeping.keep import Keep
from dbsp.state.records.delivered import read_delivered
from dbsp.state.records.identity import Identity, OtherProgram
from dbsp.state.records.places import place_of
from dbsp.state.store import Store
from dbsp.targets.directories import begun_anew

# (state, circuit that reads them, tables, streams in the order of their places) → all rows that were read of
# the tables' sources as of the state's last step, in segments of their own
ReadAgain = Callable[[Store, Circuit, Sequence[str], Sequence[str]], Mapping[str, Sequence[Chunk]]]


def plan_of(program: Program, state: str | Path, from_source: bool = False) -> Plan:
    """What a program would do to the state in a directory. Nothing is changed. Raises StateError.

    from_source: where sources are read again, if need be.
    """
    return planned(program, *Store.read(state), from_source)


def planned(program: Program, store: Store, before: Identity, from_source: bool = False) -> Plan:
    """The same of a state that was read."""
    if store.last is None:
        return Plan(0, is_same=True)
    return change_of(program, before, store, from_source).plan


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
    change = change_of(program, before, store, read_again is not None)
    if change.is_same:
        return None
    for line in change.plan.lines():
        say(line)
    if change.plan.refused:
        raise refusal(store.root, change)
    made = Backfill(change, store.segments, runner, partitions or runner.partitions, store.durable, say)
    fill_whole(made, store, read_again)
    Becoming(change, made, store).commit()
    return change.plan


def fill_whole(made: Backfill, store: Store, read_again: ReadAgain | None) -> None:
    """All that is missing as of the last step. When it raises, nothing has changed."""
    if not made.is_needed:
        return
    fill = made.fill
    again: Mapping[str, Sequence[Chunk]] = {}
    try:
        if fill.again:
            assert read_again is not None
            again = read_again(store, fill.circuit, fill.again, [*made.change.reading.streams])
        made.feed(again)
    except BaseException:
        store.discard_attempt(made.name)
        raise
    finally:
        store.discard({chunk.segment for chunks in again.values() for chunk in chunks})


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
    """The state can't be changed into the program's, as what it holds doesn't say all that is new.

    views: those without which it could be.
    """

    def __init__(self, message: str, views: frozenset[str] = frozenset()) -> None:
        super().__init__(message)
        self.views = views


def refusal(root: object, change: Change) -> Unfilled:
    """Why it can't be made."""
    refused = change.plan.refused
    more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
    return Unfilled(f"{root}: the program can't be changed: {refused[0]}{more}", change.unfilled)


def change_of(program: Program, before: Identity, store: Store, from_source: bool) -> Change:
    """Of a state's last step into the program's."""
    assert store.last is not None
    delivered = {target: each.step for target, each in read_delivered(store.root).items()}
    return Change(program, before, store.last, delivered, from_source, begun_anew(program, store))
