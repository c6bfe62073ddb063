"""WITH (idle_timeout = INTERVAL ...): a source that is silent for so long holds back no other."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.types as pt

from dbsp.sql.text.source import Source
from dbsp.sql.text.statements.create_table import CreateTable


def check_idle(
    source: Source, statement: CreateTable, timeout: int, late: Sequence[pa.DataType], is_written: bool
) -> None:
    """Raises ProgramError where nothing could move. timeout: in microseconds. late: the types of its columns
    with LATENESS. is_written: it is a target.
    """
    assert statement.idle_timeout is not None
    if statement.format is None or is_written:
        what = "is written" if is_written else "has no USING"
        problem = f"is of a source, and this table {what}; leave it out, and use ADVANCE"
    elif not any(map(pt.is_temporal, late)):
        problem = "moves the waterline of a time, and no such column has one; declare it with LATENESS"
    elif timeout <= 0:
        problem = "is how long a source has no row until it is idle: more than nothing"
    else:
        return
    raise source.error(statement.idle_timeout.start, f"idle_timeout of '{statement.name}' {problem}")
