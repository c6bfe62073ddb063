"""From names of views to what is stored of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.errors import StateError, did_you_mean
from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.segments import Segments
from dbsp.circuits.steps.contents import Owner
from dbsp.circuits.steps.state import State, by_name
from dbsp.circuits.traces.layout import Layout
from dbsp.circuits.traces.spine import Spine
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.program import Program, View, identifying_views
from dbsp.state.records.commits import Commit
from dbsp.state.records.identity import NUMBERED
from dbsp.state.store import Store
from dbsp.views.changes import UnknownView, ViewChanges
from dbsp.views.search import Indexes
from dbsp.views.searched import Explain
from dbsp.views.stored_rows import stored_rows
from dbsp.views.view import Contents, Follow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def output_views(program: Program) -> list[str]:
    """The views that can be read, in the order of the program. The query of an INSERT is only written."""
    unnamed = {insert.view for insert in program.inserts if insert.view.startswith("insert into ")}
    return [output.view for output in program.circuit.outputs if output.view not in unnamed]


def output_view(program: Program, name: str) -> str:
    """The output view of that name, in any case. Raises UnknownView."""
    existing = output_views(program)
    for view in existing:
        if view.lower() == name.lower():
            return view
    raise _no_view(program, name, existing)


def _no_view(program: Program, name: str, existing: list[str]) -> UnknownView:
    if any(view.name.lower() == name.lower() and view.kind == "local" for view in program.views.values()):
        return UnknownView(f"view '{name}' is LOCAL and not kept; declare it with CREATE VIEW to read it")
    hint = did_you_mean(name, existing)
    return UnknownView(f"unknown view '{name}'; views: {', '.join(existing) or 'none'}{hint}")


def is_there(program: Program, state: State, view: str, before: Commit | None = None) -> bool:
    """Whether a state has the view's rows. before: as of `before_of`. It may have had others by that name."""
    if before is not None and not _is_of(program, before, view):
        return False
    return program.circuit.output(view).kept in state.spines


def _is_of(program: Program, commit: Commit, view: str) -> bool:
    """Whether a record says of a view by that name what the program would."""
    return commit.views.get(view) == program.circuit.names[program.circuit.output(view).changes]


def not_there(view: str) -> StateError:
    """What is said of a view that isn't there as of a step."""
    return StateError(f"view '{view}' is not there as of that step: the program was changed after it")


def contents_of(
    program: Program,
    state: State,
    view: str,
    store: Store,
    spark: SparkSession | None = None,
    indexes: Indexes | None = None,
    step: int = 0,
    explain: Explain | None = None,
    follow: Follow | None = None,
    before: Commit | None = None,
) -> Contents:
    """What a view holds in some state, after `step`. indexes: of all its states; None: of this one.

    explain, follow: see `Contents`. before: as of `before_of`.
    """
    if not is_there(program, state, view, before):
        raise not_there(view)
    kept = program.circuit.output(view).kept
    chunks = state.spines[kept].live
    parts = open_chunks(program.circuit, kept, chunks, store.segments)
    order, known = program.views[view].order, indexes or Indexes(program)
    shown = as_before(arrow_schema(program.views[view]), before is not None)
    return Contents(view, shown, parts, spark, order, chunks, known, step, explain, follow)


def as_before(schema: pa.Schema, before: bool) -> pa.Schema:
    """The columns of rows; before: of a program before this one, in which any may have been NULL."""
    return pa.schema([field.with_nullable(True) for field in schema]) if before else schema


def before_of(program: Program, commit: Commit | None) -> Commit | None:
    """The commit, if it may be of a program that the state has been changed from; None: it is this one's."""
    return commit if commit is not None and commit.fingerprint != program.fingerprint else None


def changes_of(
    program: Program, commit: Commit, view: str, store: Store, is_own: bool = False
) -> ViewChanges:
    """What a step changed in a view. Raises StateError where the view was another then, or none.

    is_own: the store makes it, and so deletes its segments itself: they are read when they are asked for.
    """
    of_program = before_of(program, commit) is None
    # a record of the program that lacks the view is from before it was there, and changes nothing in it
    is_known = of_program and (commit.format == NUMBERED or view not in commit.views)
    if not is_known and not _is_of(program, commit, view):
        raise StateError(
            f"step {commit.step}: what it changed in view '{view}' can't be told: the program was changed "
            "after it"
        )
    chunks = [Chunk.from_json(value) for value in commit.changes.get(view, [])]
    node = program.circuit.output(view).changes

    def opened() -> list[ZSet]:
        return open_chunks(program.circuit, node, chunks, store.segments)

    parts = store.segments.later(chunks, opened) if is_own else opened()
    order = written_order(program.views[view])
    schema = as_before(changes_schema(program, view), not of_program)
    return ViewChanges(view, schema, parts, order, commit.step)


def written_order(view: View) -> tuple[SortOrder, ...]:
    """In which a step's changes leave: of a stream the view's; others are sets, listed by their rows."""
    return view.order if view.emits_once else ()


def changes_schema(program: Program, view: str) -> pa.Schema:
    """The columns of a view's changes: the view's, and the result's state where that is emitted."""
    schema = arrow_schema(program.views[view])
    if len(layout_of(program.circuit, view).schema) == len(schema):
        return schema
    from dbsp.circuits.operators.emission.trigger import STATE  # noqa: PLC0415  few programs have one

    return schema.append(pa.field(STATE, pa.string(), nullable=False))


def state_of(program: Program, commit: Commit | None) -> State:
    """The circuit's state after a commit, or before any."""
    if commit is None:
        return State.empty(program.circuit)
    state = State.from_json(program.circuit, _known_traces(program, commit))
    if BAD_ROWS in program.views and before_of(program, commit) is None:
        log = program.circuit.output(BAD_ROWS).kept
        return replace(state, spines={log: Spine(), **state.spines})  # as in `Manifest.begun`
    return state


def _known_traces(program: Program, commit: Commit) -> Mapping[str, Any]:
    """A record's traces by name. Of a program before this one, numbers of nodes say nothing."""
    if commit.format > NUMBERED:
        return commit.state
    if before_of(program, commit) is not None:
        return {**commit.state, "spines": {}, "pieces": []}
    from dbsp.sql.lowering.program import lower  # noqa: PLC0415 - what opens a state has its circuit

    views = identifying_views(program.tables, program.views)
    return by_name(lower(program.inputs, views, apart=True), commit.state)


def layouts_of_changes(circuit: Circuit) -> dict[str, str]:
    """Per view, the name of the trace or log in whose layout its changes are."""
    return {output.view: circuit.names[output.changes] for output in circuit.outputs}


def check_state(program: Program, state: State, segments: Segments) -> None:
    """Compare all that is stored with its checksums. Raises DamagedChunk. O(state)."""
    for node, spine in state.spines.items():
        segments.check_all(spine.chunks(), Owner(program.circuit, node))


def layout_of(circuit: Circuit, view: str) -> Layout:
    """How a view's changes are stored."""
    return circuit.stored(circuit.output(view).changes)


def open_chunks(circuit: Circuit, node: int, chunks: Sequence[Chunk], segments: Segments) -> list[ZSet]:
    """Stored batches of a node, mapped: they stay readable when their files are deleted."""
    return [stored_rows(circuit, node, chunk, segments) for chunk in chunks]
