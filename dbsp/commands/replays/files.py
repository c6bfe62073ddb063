"""Replay files: deltas and steps as JSON lines or SQL, put into a pipeline's queue.

Every mistake is reported as `file:line: what`. Values are read by the types of the table's columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np

from dbsp.circuits.columns.arrow import concat, take
from dbsp.circuits.columns.forms.json_text import described
from dbsp.circuits.errors import AbsentRow, DataError, Error
from dbsp.circuits.progress.waterline import column_name
from dbsp.commands.replays.json_lines import read_json
from dbsp.commands.replays.steps import Change, StepOfFile
from dbsp.pipeline.pipeline import Pipeline
from dbsp.rows.incoming import BadRow, arrow_schema, key_rows, whole_rows
from dbsp.running.clock import EPOCH
from dbsp.sql.plans.program import Program, Table


def read_file(text: str, name: str, program: Program) -> Iterator[StepOfFile]:
    """The steps of a replay file: SQL if it is named `.sql`, otherwise JSON lines. Raises DataError."""
    if not name.endswith(".sql"):
        return read_json(text.splitlines(), name, program)
    from dbsp.commands.replays.statements import read_sql  # noqa: PLC0415  JSON lines need no reader of SQL

    return read_sql(text, name, program)


def queue(pipeline: Pipeline, step: StepOfFile) -> None:
    """Queue a step's changes. Raises DataError at the place of the first that doesn't fit; none is queued."""
    batches, edits = [], pipeline.edits() if step.statements else None
    for one in step.statements:
        assert edits is not None
        try:
            edits.run(one.statement)
        except Error as error:
            raise one.failed(error) from None
    for name, changes in step.changes.items():
        table = pipeline.program.inputs[name]
        if table.append_only and not table.primary_key:
            _refuse_retractions(table, changes, pipeline.program.timezone)
        rows = rows_of(table, changes, pipeline.program.timezone)
        batches.append((name, rows, np.array([change.weight for change in changes], np.int64)))
    for name, rows, weights in batches:
        pipeline.change(name, rows, weights)
    if edits is not None:
        edits.queue(pipeline.change)
    for advance in step.advances:
        relation, _, column = column_name(advance.waterline.name).rpartition(".")
        pipeline.advance(relation, column, advance.value)


def clock_of(pipeline: Pipeline, step: StepOfFile) -> datetime | None:
    """The clock of a step: not the machine's, so that a replay gives the same every time."""
    if step.clock is None and pipeline.program.circuit.is_timed:
        return pipeline.clock or EPOCH
    return step.clock


def place_of(absent: AbsentRow, step: StepOfFile, pipeline: Pipeline) -> str:
    """`file:line` of the last change that retracts the row."""
    changes = step.changes[absent.table]
    retractions = [change for change in changes if change.weight < 0]
    rows = rows_of(pipeline.program.inputs[absent.table], retractions, pipeline.program.timezone)
    found = [change.where for i, change in enumerate(retractions) if described(rows, i) == absent.row]
    return (found or [retractions[-1].where])[-1]  # −0.0 is 0.0 by then


def _refuse_retractions(table: Table, changes: list[Change], timezone: str) -> None:
    """What the step would refuse too, at its place in the file."""
    for change in changes:
        if change.weight < 0:
            row = described(rows_of(table, [change], timezone), 0)
            raise DataError(
                f"{change.where}: table '{table.name}' is append-only and can't retract the row ({row}); "
                "declare it without append_only to allow retractions"
            )


def rows_of(table: Table, changes: list[Change], timezone: str) -> Any:
    """All changes of a table as one batch, in their order, whatever mix of rows and keys they are.

    Raises DataError at the place of the first that doesn't fit.
    """
    groups: dict[tuple[bool, bool, type, int], list[int]] = {}
    for i, change in enumerate(changes):
        width = len(change.row) if isinstance(change.row, tuple) else 0
        groups.setdefault((change.by_key, change.weight < 0, type(change.row), width), []).append(i)
    parts = []
    for (by_key, retracted, _, _), members in groups.items():
        given = [changes[i].row for i in members]
        try:
            if by_key:
                parts.append(key_rows(table, given, timezone))
            else:
                parts.append(whole_rows(table, given, timezone, retracted))
        except BadRow as error:
            where = changes[members[error.row or 0]].where
            raise DataError(f"{where}: table '{error.table}': {error.problem}") from None
    schema = arrow_schema(table)
    rows = concat(schema, parts)
    position = np.argsort(np.concatenate([np.array(members) for members in groups.values()]))
    return take(rows, position) if len(groups) > 1 else rows
