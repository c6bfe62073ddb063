"""WITH (idle_timeout = INTERVAL ...): a source that is silent for so long holds back no other."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.types as pt

from dbsp.sql.compiler.scope import Scope
from dbsp.sql.text.create_table import CreateTable


def idle_timeout(scope: Scope, statement: CreateTable, late: Sequence[pa.DataType]) -> int:
    """In microseconds; 0: it has none. late: the types of its columns with LATENESS.

    Raises ProgramError where nothing could move.
    """
    if statement.idle_timeout is None:
        return 0
    problem = None
    if statement.format is None or statement.name.lower() in scope.written:
        what = "has no USING" if statement.format is None else "is written"
        problem = f"is of a source, and this table {what}; leave it out, and use ADVANCE"
    elif not any(map(pt.is_temporal, late)):
        problem = (
            "moves the waterline of a time, and no such column has one; declare ts TIMESTAMP LATENESS ..."
        )
    elif (every := scope.microseconds(statement.idle_timeout)) <= 0:
        problem = "is how long a source has no row until it is idle: more than nothing"
    else:
        return every
    raise scope.source.error(statement.idle_timeout.start, f"idle_timeout of '{statement.name}' {problem}")
