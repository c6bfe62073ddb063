"""What the rows that a table has must be under a new program, though they were taken by other rules.

    PRIMARY KEY    no two of them have the same key
    CHECK          none of them breaks it
    NOT NULL       none of them is NULL where that is said, by itself, by a key, or by a DEFAULT

So they are looked at once: as the table's trace is written anew, or of an append-only table in whatever holds
its rows. What nothing holds can't be looked at.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.operators.inputs.checks import Checks
from dbsp.circuits.operators.inputs.rules import Check
from dbsp.circuits.operators.inputs.tables import AppendOnly, NonNegative, OneOfEach, Upsert
from dbsp.circuits.operators.operator import Operator
from dbsp.evolution.known import Known
from dbsp.sql.plans.program import Table
from dbsp.state.records.manifest import Columns


def new_rules(
    known: Known, new: Mapping[str, Columns], old: Mapping[str, Columns]
) -> dict[int, list[Operator]]:
    """Per node of a table's rows what these must be, each as the identity on rows that are."""
    circuit, found = known.program.circuit, dict[int, list[Operator]]()
    for node in sorted(known.checked):
        upsert = circuit.nodes[node].operator
        assert isinstance(upsert, Upsert)
        found[node] = [OneOfEach(circuit.nodes[node].name, upsert.key)]
    for name, table in known.program.inputs.items():
        kept = kept_by(circuit, name)
        checks = new_checks(table, new[name], old.get(name))
        if checks and kept is not None:
            found.setdefault(kept, []).append(Checks(name, checks))
    return found


def new_checks(table: Table, new: Columns, old: Columns | None) -> tuple[Check, ...]:
    """Of a table that was there, those that it didn't have."""
    if old is None:
        return ()
    pairs = zip(table.checks, new.checks, strict=True)
    checks = tuple(check for check, digest in pairs if digest not in old.checks)
    return checks + tuple(_not_null(table, name) for name in never_null(new, old))


def never_null(new: Columns, old: Columns) -> list[str]:
    """The columns that a table goes on with, which may have been NULL in some rows and are in none now."""
    return [
        name
        for name, said in new.fields.items()
        if name not in new.computed
        and not said.nullable
        and (before := old.fields.get(name)) is not None
        and before.nullable
    ]


def _not_null(table: Table, name: str) -> Check:
    i = next(i for i, column in enumerate(table.schema) if column.name == name)
    value = Call("is_not_null", (Column(i, table.schema[i].type),), pa.bool_(), nullable=False)
    return Check(f"NOT NULL of column '{name}'", value)


def kept_by(circuit: Circuit, table: str) -> int | None:
    """The node that keeps the table, or puts out its rows where it is append-only; None: there is none."""
    for i, node in enumerate(circuit.nodes):
        if isinstance(node.operator, NonNegative) and node.operator.table == table:
            return node.inputs[0]
        if isinstance(node.operator, AppendOnly) and node.operator.table == table:
            return i
        if isinstance(node.operator, Upsert) and node.name == table:
            return i
    return None
