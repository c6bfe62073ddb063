"""Deltas without statements: in the place of each UPDATE, DELETE or MERGE the rows that it changes.

What is shrunk, drawn and added up is changes of rows. A statement reads the tables as the steps before have
left them, so that a pipeline makes these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.forms.outside import batch_to_outside
from dbsp.circuits.errors import Error, EvaluationError
from dbsp.commands.replays.files import clock_of, queue
from dbsp.commands.replays.steps import Change, StepOfFile
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Table
from dbsp.testing.deltas import Deltas


def evaluated(pipeline: Pipeline, deltas: Deltas) -> Deltas:
    """The pipeline is one of no step yet, and has made these then. Raises DataError."""
    made: Deltas = []
    for step in deltas:
        plain = _plain(pipeline, step)
        made.append(plain)
        queue(pipeline, plain)
        try:
            pipeline.step(clock=clock_of(pipeline, plain))
        except EvaluationError:
            pipeline.discard()  # of who compares the views it is, whether the step fails rightly
    return made


def _plain(pipeline: Pipeline, step: StepOfFile) -> StepOfFile:
    """The step's rows come first, as a pipeline queues them."""
    if not step.statements:
        return step
    edits = pipeline.edits()
    changes = {name: list(given) for name, given in step.changes.items()}
    for one in step.statements:
        before = len(edits.changes)
        try:
            edits.run(one.statement)
        except Error as error:
            raise one.failed(error) from None
        for change in edits.changes[before:]:
            table = pipeline.program.inputs[change.table]
            rows = _changes(table, change.rows, change.weights, one.where)
            changes.setdefault(change.table, []).extend(rows)
    return replace(step, changes=changes, statements=[])


def _changes(table: Table, rows: pa.RecordBatch, weights: np.ndarray, where: str) -> Iterator[Change]:
    """Of a keyed table a row that goes is its key."""
    names = rows.schema.names
    columns = [column.to_pylist() for column in batch_to_outside(rows).columns]
    for values, weight in zip(zip(*columns, strict=True), weights.tolist(), strict=True):
        row = dict(zip(names, values, strict=True))
        by_key = bool(table.primary_key) and weight < 0
        if by_key:
            row = {name: row[name] for name in table.primary_key}
        yield Change(row, weight, by_key, where)
