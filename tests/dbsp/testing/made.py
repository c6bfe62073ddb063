"""Programs by hand, of tables only: no JVM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.circuit import CircuitBuilder
from dbsp.circuits.operators.inputs.defaults import Default
from dbsp.circuits.progress.waterline import Lateness
from dbsp.sql.plans.program import Program, Table
from dbsp.sql.plans.schemas import Field


def a_table(
    name: str,
    columns: dict[str, pa.DataType],
    key: tuple[str, ...] = (),
    append_only: bool = False,
    defaults: tuple[Default, ...] = (),
) -> Table:
    """Columns of the key, and those with a DEFAULT, are never NULL."""
    filled = {default.column for default in defaults}
    fields = [Field(c, t, c not in key and i not in filled) for i, (c, t) in enumerate(columns.items())]
    return Table(name, tuple(fields), key, append_only, False, None, {}, "p.sql:1:1", defaults=defaults)


def a_program(text: str = "", tables: Sequence[Table] = (), lateness: tuple[Lateness, ...] = ()) -> Program:
    """Without views."""
    circuit = replace(CircuitBuilder().build(), lateness=lateness)
    return Program(text, "p.sql", "", "UTC", {table.name: table for table in tables}, {}, (), circuit)
