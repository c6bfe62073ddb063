"""The log of a table, by its format."""

from __future__ import annotations

from dbsp.declared.logs.changed import Log
from dbsp.declared.logs.delta import DeltaLog
from dbsp.declared.logs.iceberg import ICEBERG, IcebergLog
from dbsp.declared.project.datasets import Logged


def log_of(name: str, table: Logged) -> Log:
    """name: of the table, as people write it."""
    if table.format == ICEBERG:
        return IcebergLog(name, table)
    return DeltaLog(name, table.place)
