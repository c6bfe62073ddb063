"""Delta tables as a target has them: opened, or made of a declaration, and compared with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from dbsp.circuits.errors import Error
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.types import ddl
from dbsp.targets.outlet import Outlet

if TYPE_CHECKING:
    from deltalake import DeltaTable


def existing(outlet: Outlet) -> DeltaTable | None:
    """The table at the path; None where there is none."""
    from deltalake import DeltaTable  # noqa: PLC0415  an extra
    from deltalake.exceptions import TableNotFoundError  # noqa: PLC0415

    try:
        return DeltaTable(outlet.table.option("path"), storage_options=_storage(outlet.table))
    except TableNotFoundError:
        return None


def new_table(outlet: Outlet) -> DeltaTable:
    """A table of the declared columns; one that somebody else makes meanwhile is as good."""
    from deltalake import DeltaTable  # noqa: PLC0415

    return DeltaTable.create(
        outlet.table.option("path"),
        _schema(outlet.table),
        mode="ignore",
        configuration={k: v for k, v in outlet.table.options.items() if k.lower().startswith("delta.")},
        storage_options=_storage(outlet.table),
    )


def check_columns(table: DeltaTable, outlet: Outlet) -> None:
    """Raises Error where the table's columns aren't those that are declared, in any order."""
    from deltalake import Schema  # noqa: PLC0415

    there = {field.name: field.type for field in table.schema().fields}
    declared = {field.name: field.type for field in Schema.from_arrow(_schema(outlet.table)).fields}
    if there != declared:
        given = ", ".join(f"{column.name} {ddl(column.type)}" for column in outlet.table.schema)
        listed = ", ".join(f"{field.name} {_spelled(field.type)}" for field in table.schema().fields)
        raise Error(f"it has the columns: {listed}; declared are: {given}; declare the same, or another path")


def _schema(table: Table) -> pa.Schema:
    return pa.schema([pa.field(column.name, column.type, column.nullable) for column in table.schema])


def _storage(table: Table) -> dict[str, str]:
    """OPTIONS of the store: neither the path nor the table's properties."""
    return {
        k: v for k, v in table.options.items() if k.lower() != "path" and not k.lower().startswith("delta.")
    }


def _spelled(data_type: object) -> str:
    return str(getattr(data_type, "type", data_type))
