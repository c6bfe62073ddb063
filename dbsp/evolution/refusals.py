"""What of a change of program can't be done: by the name of a table, view or sink, and what to do instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dbsp.circuits.operators.inputs.arrivals import Arrival
from dbsp.evolution.known import is_late_otherwise
from dbsp.state.records.identity import FORMAT

if TYPE_CHECKING:
    from dbsp.evolution.change import Change

_OTHER = "give the table another name"
_BY_VALUE = (
    "say an order, as sort_array(collect_list(x)), listagg(x) WITHIN GROUP (ORDER BY x) or min_by(x, time) do"
)
_CURE = "take a new state directory, and feed it the tables from their start"


def refusals(change: Change) -> Iterator[str]:
    """Each by name, with what to do instead."""
    yield from change.columns[2]
    yield from _other_tables(change)
    yield from _other_sources(change)
    yield from _other_sinks(change)
    yield from _other_emission(change)
    for missing in change.filling[1].missing:
        cure = _CURE
        if missing.why == Arrival.history:
            cure = f"{_BY_VALUE}, or {_CURE}"
        elif missing.table in change.readable:
            again = f"read its {change.of_source(missing.table)} again by --backfill from-source"
            cure = f"{again} (backfill='from-source'), or {_CURE}"
        yield f"{_whose(change, missing.node)} can't be computed from what is there ({missing.why}); {cure}"


def _whose(change: Change, node: int) -> str:
    """In words, the views that a node's rows reach; or the table whose they are."""
    circuit = change.circuit
    reached = circuit.reached(node)
    views = [o.view for o in circuit.outputs if reached & {o.node, o.kept, o.changes}]
    if views:
        return ("view " if len(views) == 1 else "views ") + ", ".join(f"'{view}'" for view in views)
    return "; ".join(f"table '{name}'" for name, i in circuit.sources.items() if node in circuit.reached(i))


def _other_tables(change: Change) -> Iterator[str]:
    for name, table in change.new.tables.items():
        before = change.old.tables.get(name)
        if before is None:
            continue
        if before.key != table.key and name not in change.known.rekeyed:
            was = f"PRIMARY KEY ({', '.join(before.key)})" if before.key else "no PRIMARY KEY"
            yield (
                f"table '{name}' had {was}, and LATENESS, by which changes of its keys were left out; "
                "give it another name"
            )
        if before.lateness != table.lateness and is_late_otherwise(change.program, change.old, name):
            cure = "give the table another name, or a new state directory"
            if change.before.format < FORMAT:
                cure = f"or make a step with '{change.before.name}' first, which writes down what it is"
            yield (
                f"table '{name}' had LATENESS or WATERMARK of other columns, or LATENESS of percentiles, "
                f"by which rows were taken or left; {cure}"
            )


def _other_sources(change: Change) -> Iterator[str]:
    """What has been read of a source is known by the table's name."""
    for name, table in change.new.tables.items():
        before = change.old.tables.get(name)
        if before is None or not before.source or not table.source or change.last.batch is None:
            continue
        if before.snapshot and not table.snapshot:
            yield f"table '{name}' was compared with its source, which would be read once more; {_OTHER}"
        elif before.source != table.source:
            yield f"table '{name}' was read as {before.source}, and is read as {table.source}; {_OTHER}"


def _other_emission(change: Change) -> Iterator[str]:
    for view in change.waited.keys() - change.left.keys():
        yield (
            f"view '{view}' had another TRIGGER or EMIT, and what has left of it isn't held, or says "
            "which result it is; give the view another name"
        )


def _other_sinks(change: Change) -> Iterator[str]:
    """A target that goes on must go on with the rows of what it has."""
    for target in dict.fromkeys(sink.target for sink in change.new.sinks):
        before = {sink.view: sink for sink in change.old.sinks if sink.target == target}
        if not before:
            continue
        cure = "insert into another table, with another path"
        now = [sink for sink in change.new.sinks if sink.target == target]
        for sink in now:
            was = before.pop(sink.view, None) or _renamed(change, sink.view, before)
            if was is None or was.form != sink.form:
                yield f"sink '{target}' holds rows that were written otherwise; {cure}"
            elif sink.view in change.changed.keys() - change.left.keys():
                yield f"sink '{target}' holds rows of other columns of view '{sink.view}'; {cure}"
            elif change.delivered.get(target, 0) < change.last.step and not _is_as_before(change, sink.view):
                yield (
                    f"sink '{target}' hasn't got step {change.last.step} yet, which is of the program "
                    f"before; open the state with '{change.before.name}' once more"
                )
        if before:
            yield f"sink '{target}' holds rows of view '{next(iter(before))}'; {cure}"


def _renamed(change: Change, view: str, before: dict[str, Any]) -> Any:
    """What a sink had of a view that had another name."""
    for name in before:
        if change.old.views[name].kept == change.new.views[view].kept:
            return before.pop(name)
    return None


def _is_as_before(change: Change, view: str) -> bool:
    return view in change.old.views and view not in change.changed | change.waited
