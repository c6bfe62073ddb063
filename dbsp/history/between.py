"""What changed in a view between two steps: what a subscriber that was away has missed.

    Σ d(i), since < i <= until,   where every step between is kept: of each, the changes that it wrote;
    I(until) − I(since)           else, chunk by chunk: what both states have cancels unread.

Either costs what was changed (or merged) meanwhile, and not the view.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array
from dbsp.circuits.errors import StateError
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.zset import ZSet
from dbsp.history.asked import AsOf, step_of
from dbsp.sql.plans.program import STEP, Program
from dbsp.state.store import Store
from dbsp.views.changes import ViewChanges
from dbsp.views.outputs import (
    as_before,
    before_of,
    changes_of,
    changes_schema,
    is_there,
    open_chunks,
    state_of,
    written_order,
)


def interval(store: Store, since: AsOf, until: AsOf | None, timezone: str) -> tuple[int, int]:
    """(since, until) as numbers; 0 is before the first step. Raises StateError."""
    last = store.last.step if store.last else 0
    first = 0 if since in (0, "0") and not isinstance(since, bool) else step_of(store, since, timezone)
    end = last if until is None else step_of(store, until, timezone)
    if first > end:
        raise StateError(f"{store.root}: since step {first} is after step {end}, until which is asked")
    return first, end


def changes_between(program: Program, store: Store, view: str, since: int, until: int) -> ViewChanges:
    """Consolidated. view: an output view's name. Raises StateError where it can't be told any more."""
    missing = _missing(store, since, until)
    if missing:
        parts = _difference(program, store, view, since, until, missing)
        before = any(before_of(program, store.commit_of(step)) for step in (since, until) if step)
    else:
        commits = [store.commit_of(step) for step in range(since + 1, until + 1)]
        parts = [part for commit in commits for part in changes_of(program, commit, view, store).parts]
        before = any(before_of(program, commit) for commit in commits)
    schema = as_before(changes_schema(program, view), before)
    return ViewChanges(view, schema, parts, written_order(program.views[view]))


def changes_of_each(
    program: Program, store: Store, view: str, since: int, until: int
) -> Iterator[tuple[int, ViewChanges]]:
    """Step by step. Raises StateError where one of them isn't kept."""
    missing = _missing(store, since, until)
    if missing:
        raise StateError(f"{store.root}: step {missing[0]} is not kept; {store.said_kept()} ({store.keep})")
    for step in range(since + 1, until + 1):
        yield step, changes_of(program, store.commit_of(step), view, store)


def as_table(program: Program, view: str, changes: Iterator[tuple[int, ViewChanges]]) -> pa.Table:
    """Of each step: the view's columns, `__weight` and `__step`."""
    step = pa.field(STEP, pa.int64(), nullable=False)
    tables = [
        table.append_column(step, int64_array(np.full(len(table), number)))
        for number, table in ((number, each.to_arrow()) for number, each in changes)
    ]
    nothing = ViewChanges(view, changes_schema(program, view), []).to_arrow()
    tables.insert(0, nothing.append_column(step, int64_array(np.zeros(0, np.int64))))
    return pa.concat_tables(tables, promote_options="default")  # some columns may have been NULL before


def _missing(store: Store, since: int, until: int) -> list[int]:
    if store.unbroken <= since + 1:
        return []
    return sorted({*range(since + 1, until + 1)}.difference(store.steps))


def _difference(
    program: Program, store: Store, view: str, since: int, until: int, missing: list[int]
) -> list[ZSet]:
    """Of the view's states. Raises StateError where that isn't what it has changed by."""
    output = program.circuit.output(view)
    held = program.circuit.names[output.kept]
    gone = f"{store.root}: step {missing[0]} is not kept, so what changed in view '{view}' can't be told"
    if output.emission is not None or held in program.circuit.collected:
        raise StateError(f"{gone}: its changes aren't what it holds; {store.said_kept()} ({store.keep})")
    chunks: list[list[Chunk]] = []
    for step in (since, until):
        commit = store.commit_of(step) if step else None
        state = state_of(program, commit)
        # by a TRIGGER or EMIT that it had, what had left wasn't what it held
        left = commit.views.get(view) if commit is not None else None
        there = is_there(program, state, view, before_of(program, commit))
        if step and (not there or left not in (None, held)):
            raise StateError(f"{gone}: as of step {step} it was another, or none")
        chunks.append(list(state.spines[output.kept].live) if step else [])
    before, after = (
        open_chunks(program.circuit, output.kept, only, store.segments) for only in _unlike(*chunks)
    )
    return [-part for part in before] + after


def _unlike(one: list[Chunk], two: list[Chunk]) -> tuple[list[Chunk], list[Chunk]]:
    """What only either has."""
    places = [{(chunk.segment, chunk.offset) for chunk in chunks} for chunks in (one, two)]
    return (
        [chunk for chunk in one if (chunk.segment, chunk.offset) not in places[1]],
        [chunk for chunk in two if (chunk.segment, chunk.offset) not in places[0]],
    )
