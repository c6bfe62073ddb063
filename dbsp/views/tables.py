"""What a table holds, where a trace has all of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbsp.circuits.errors import StateError
from dbsp.circuits.steps.contents import open_chunk
from dbsp.circuits.steps.state import State
from dbsp.rows.incoming import arrow_schema
from dbsp.sql.plans.program import Table
from dbsp.state.store import Store
from dbsp.views.search import Indexes
from dbsp.views.traces import Traces, arranged
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def kept_tables(traces: Traces) -> list[str]:
    """The tables whose rows are all there, in the order of the program."""
    return [name for name in traces.program.inputs if _traces(traces, name)]


def _traces(traces: Traces, name: str) -> list[tuple[int, list[int]]]:
    """Without those of which a waterline lets rows go."""
    found = traces.of_table(name, arrival=False)
    return [(trace, at) for trace, at in found if trace not in traces.circuit.retentions]


def table_contents(
    traces: Traces,
    state: State,
    table: Table,
    store: Store,
    spark: SparkSession | None = None,
    indexes: Indexes | None = None,
    step: int = 0,
) -> Contents:
    """What a table holds in some state, after `step`. Raises StateError where nothing keeps that."""
    found = [(trace, at) for trace, at in _traces(traces, table.name) if trace in state.spines]
    if not found:
        name = table.name
        why = "has a LATENESS, and lets rows go" if table.lateness else "is kept by nothing"
        raise StateError(f"table '{name}' {why}; a view SELECT * FROM {name} would keep all its rows")
    trace, at = min(found, key=lambda one: (one[1] != sorted(one[1]), state.spines[one[0]].rows))
    schema, chunks = arrow_schema(table), state.spines[trace].live
    batches = [open_chunk(traces.circuit, trace, chunk, store.segments) for chunk in chunks]
    parts = [arranged(batch.zset, at, schema) for batch in batches]
    # an index is of a chunk's columns as they lie
    known = indexes if at == list(range(len(schema))) else None
    return Contents(table.name, schema, parts, spark, (), chunks, known, step)
