"""What the tables of a program hold, by the book: a bag of rows, of a table with PRIMARY KEY a row a key.

It is what views are recomputed from, so nothing of a circuit takes part in it but DEFAULTs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbsp.circuits.columns.arrow import take
from dbsp.circuits.columns.forms.json_text import objects
from dbsp.circuits.columns.forms.outside import batch_to_outside
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.inputs.arrivals import arrivals
from dbsp.circuits.operators.inputs.formulas import Formulas
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.circuits.traces.zset import ZSet
from dbsp.commands.replays.files import rows_of
from dbsp.commands.replays.steps import Change, StepOfFile
from dbsp.rows.incoming import arrow_schema
from dbsp.rows.literals import array_of
from dbsp.sql.plans.program import Program, Table
from dbsp.testing.bags import identity

# of late rows, by table: the row as JSON
Late = Mapping[str, Counter[str]]


class Contents:
    """held: of each table what stands for a row, or its key, with the row and how often it is there.

    step: the number of the last one.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.step = program, 0
        self.held: dict[str, dict[Any, tuple[tuple[Any, ...], int]]] = {name: {} for name in program.inputs}

    def rows(self, name: str) -> pa.RecordBatch:
        """Every row as often as it is there, in the order of arrival."""
        schema = arrow_schema(self.program.inputs[name])
        rows = [row for row, weight in self.held[name].values() for _ in range(weight)]
        columns = list(zip(*rows, strict=True)) or [()] * len(schema)
        arrays = [array_of(list(column), f.type) for column, f in zip(columns, schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def all_rows(self) -> dict[str, pa.RecordBatch]:
        """The rows of every table."""
        return {name: self.rows(name) for name in self.held}

    def copy(self) -> Contents:
        """Another one, of the same rows."""
        other = Contents(self.program)
        other.step = self.step
        other.held = {name: dict(held) for name, held in self.held.items()}
        return other

    def apply(self, step: StepOfFile, clock: datetime | None = None, late: Late | None = None) -> None:
        """Add the changes of a step. clock: what DEFAULT now() is. late: rows that LATENESS left out."""
        self.step, place = self.step + 1, 0
        for name, changes in step.changes.items():
            table = self.program.inputs[name]
            given = rows_of(table, changes, self.program.timezone)
            weights = np.array([change.weight for change in changes], np.int64)
            rows = _filled(table, given, weights, clock, arrivals(_numbers(place, given), self.step))
            place += given.num_rows
            rows = _without_late(rows, weights, (late or {}).get(name))
            self._add(table, rows)

    def _add(self, table: Table, rows: Iterator[tuple[tuple[Any, ...], int]]) -> None:
        held, places = self.held[table.name], _places(table)
        for row, weight in rows:
            place = identity([row[i] for i in places])
            if not table.primary_key:
                held[place] = (row, held.get(place, (row, 0))[1] + weight)
            elif weight > 0:
                held[place] = (row, 1)
            else:
                held.pop(place, None)
        for place in [place for place, (_, weight) in held.items() if not weight]:
            del held[place]

    def legal(self, step: StepOfFile) -> StepOfFile:
        """The step without the retractions of rows that aren't there."""
        kept: dict[str, list[Change]] = {}
        for name, changes in step.changes.items():
            table = self.program.inputs[name]
            if table.primary_key:
                kept[name] = changes
                continue
            there = Counter({place: weight for place, (_, weight) in self.held[name].items()})
            for change, place in zip(changes, self._identities(table, changes), strict=True):
                if there[place] + change.weight >= 0:
                    there[place] += change.weight
                    kept.setdefault(name, []).append(change)
        return replace(step, changes=kept)

    def _identities(self, table: Table, changes: list[Change]) -> list[Any]:
        rows = rows_of(table, changes, self.program.timezone)
        weights = np.array([change.weight for change in changes], np.int64)
        return [identity(list(row)) for row in _values(_filled(table, rows, weights, None, None))]


def _places(table: Table) -> list[int]:
    names = [field.name for field in table.schema]
    return [names.index(name) for name in table.primary_key or names]


def _filled(
    table: Table, rows: pa.RecordBatch, weights: np.ndarray, clock: datetime | None, arrived: pa.Array | None
) -> pa.RecordBatch:
    """DEFAULTs in the place of NULLs that are inserted, and what is computed of them.

    arrived: None: no row has, and none is drawn.
    """
    if not table.filled:
        return rows
    moment = pa.repeat(pa.scalar(clock, CLOCK.type), rows.num_rows)
    place = _numbers(0, rows) if arrived is None else arrived
    given = pa.RecordBatch.from_arrays([moment, place], names=[CLOCK.name, "arrival"])
    columns = rows.columns
    for default in table.defaults:
        if default.is_drawn and arrived is None:
            continue
        value = evaluate(default.value, given)
        absent = np.asarray(columns[default.column].is_null()) & (weights > 0)
        columns[default.column] = pc.if_else(pa.array(absent), value, columns[default.column])
    rows = pa.RecordBatch.from_arrays(columns, names=rows.schema.names)
    said = Formulas(table.formulas, bool(table.primary_key))
    return said.filled(ZSet(rows, weights)).rows if table.formulas else rows


def _numbers(first: int, rows: pa.RecordBatch) -> pa.Array:
    """Of the rows of a step, of whichever table."""
    return pa.array(range(first, first + rows.num_rows), pa.int64())


def _without_late(
    rows: pa.RecordBatch, weights: np.ndarray, late: Counter[str] | None
) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Rows and weights; a late row is late however often it came in the step."""
    if late:
        on_time = np.flatnonzero([text not in late for text in objects(rows)])
        rows, weights = take(rows, on_time), weights[on_time]
    return zip(_values(rows), weights.tolist(), strict=True)


def _values(rows: pa.RecordBatch) -> list[tuple[Any, ...]]:
    """As they are given to a pipeline."""
    return list(zip(*(column.to_pylist() for column in batch_to_outside(rows).columns), strict=True))
