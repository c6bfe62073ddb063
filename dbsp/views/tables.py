"""What a table holds, where a trace has all of its rows; of one with WATERMARK, those that don't wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbsp.circuits.errors import StateError
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.plans.program import Table
from dbsp.state.store import Store
from dbsp.views.outputs import as_before
from dbsp.views.search import Indexes
from dbsp.views.stored_rows import stored_rows
from dbsp.views.traces import Traces
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def kept_tables(traces: Traces) -> list[str]:
    """The tables whose rows are all there, in the order of the program."""
    return [name for name in traces.program.inputs if _traces(traces, name) or _received(traces, name)]


def _traces(traces: Traces, name: str) -> list[tuple[int, list[int]]]:
    return _whole(traces, traces.of_table(name, arrival=False))


def _received(traces: Traces, name: str) -> list[list[tuple[int, list[int]]]]:
    """The same of rows that came, and of what waits; [] where it has no WATERMARK, or not all are there."""
    found = [_whole(traces, one) for one in traces.received(name)]
    return found if all(found) else []


def _whole(traces: Traces, found: list[tuple[int, list[int]]]) -> list[tuple[int, list[int]]]:
    """Without those of which a waterline lets rows go."""
    return [(trace, at) for trace, at in found if trace not in traces.circuit.retentions]


def table_contents(
    traces: Traces,
    state: State,
    table: Table,
    store: Store,
    spark: SparkSession | None = None,
    indexes: Indexes | None = None,
    step: int = 0,
    before: bool = False,
) -> Contents:
    """What a table holds in some state, after `step`. Raises StateError where nothing keeps that.

    before: as of `as_before`.
    """
    schema = as_before(arrow_schema(table), before)

    def read(trace: int, at: list[int]) -> list[ZSet]:
        chunks = state.spines[trace].live
        return [stored_rows(traces.circuit, trace, chunk, store.segments, at, schema) for chunk in chunks]

    found = [(trace, at) for trace, at in _traces(traces, table.name) if trace in state.spines]
    if found:
        trace, at = min(found, key=lambda one: (one[1] != sorted(one[1]), state.spines[one[0]].rows))
        # an index is of a chunk's columns as they lie
        known = indexes if at == list(range(len(schema))) else None
        live = state.spines[trace].live
        return Contents(table.name, schema, read(trace, at), spark, (), live, known, step)
    kept = [[one for one in each if one[0] in state.spines][:1] for each in _received(traces, table.name)]
    if not kept or not all(kept):
        name = table.name
        why = "has a LATENESS, and lets rows go" if table.lateness else "is kept by nothing"
        raise StateError(f"table '{name}' {why}; a view SELECT * FROM {name} would keep all its rows")
    (received,), *waiting = kept
    parts = [*read(*received), *(-part for (trace,) in waiting for part in read(*trace))]
    return Contents(table.name, schema, parts, spark, step=step)
