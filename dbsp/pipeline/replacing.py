"""A table's rows replaced by others: what is queued is the difference between the two.

    a bag     r − I(t)
    keyed     of each key in r − I(t) its row in r, or its deletion where r has none

I(t) is the table's own trace, so only tables that have one can be replaced. Cost: O((|r| + |I|) log) of Arrow
here, and of the step what the difference costs.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.columns.grouping import group_rows
from dbsp.circuits.columns.hashing import hash_rows
from dbsp.circuits.columns.json_text import described
from dbsp.circuits.errors import DataError
from dbsp.circuits.operators.inputs.tables import NonNegative, Upsert
from dbsp.circuits.steps.state import State
from dbsp.circuits.traces.segments import Segments
from dbsp.circuits.traces.zset import ZSet
from dbsp.rows.incoming import BadRow, arrow_schema
from dbsp.sql.plans.program import Table
from dbsp.views.outputs import open_chunks
from dbsp.views.shapes import upserts


def check_replaceable(table: Table) -> None:
    """Raises DataError where not all that the table holds is kept."""
    why = None
    if table.append_only:
        why = "is append-only, so none of its rows is taken back"
    elif table.lateness:
        why = "has a LATENESS, so rows that none can reach any more are forgotten"
    elif table.unchecked and not table.primary_key:
        why = "is unchecked, so what it holds isn't kept"
    if why:
        raise DataError(f"table '{table.name}' {why}, and nothing says what its rows are replaced by")


def held(circuit: Circuit, state: State, table: Table, segments: Segments) -> ZSet:
    """The table's rows, consolidated."""
    node = _trace(circuit, table)
    chunks = state.spines[node].live
    schema = arrow_schema(table)
    rows = ZSet.sum(schema, open_chunks(circuit, node, chunks, segments)).consolidate()
    return ZSet(pa.RecordBatch.from_arrays(rows.rows.columns, schema=schema), rows.weights)


def difference(table: Table, wanted: pa.RecordBatch, present: ZSet) -> tuple[pa.RecordBatch, np.ndarray]:
    """The changes of the table that make it `wanted`. Raises BadRow where two rows have one key."""
    ours = ZSet(wanted, np.ones(wanted.num_rows, np.int64))
    delta = (ours - present).consolidate()
    if not table.primary_key:
        return delta.rows, delta.weights
    names = [field.name for field in table.schema]
    key = [names.index(name) for name in table.primary_key]
    _check_keys(table, wanted, key)
    records = upserts(delta, key)
    return records.rows, records.weights


def _check_keys(table: Table, rows: pa.RecordBatch, key: list[int]) -> None:
    columns = [rows.column(i) for i in key]
    order, starts = group_rows(columns, hash_rows(columns, rows.num_rows))
    twice = np.flatnonzero(np.diff(np.append(starts, len(order))) > 1)
    if len(twice):
        first, second = (int(i) for i in np.sort(order[starts[twice[0]] :][:2]))
        shown = described(rows.select(key), second)
        raise BadRow(table.name, f"row {first} has the same key, {shown}; a key has one row", second)


def _trace(circuit: Circuit, table: Table) -> int:
    """The node that keeps the table."""
    for i, node in enumerate(circuit.nodes):
        operator = node.operator
        if isinstance(operator, NonNegative) and operator.table == table.name:
            return node.inputs[0]
        if isinstance(operator, Upsert) and node.name == table.name:
            return i
    raise AssertionError(f"nothing keeps table '{table.name}'")
