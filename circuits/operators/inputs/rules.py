"""What a table says of each of its rows: columns that are computed of the others, and conditions.

    computed    a row's c is e(row): what it brings there is that, or nothing
    CHECK       e(row) is not false: of what isn't known nobody can say that it is broken, as in SQL

Rows are judged where they come in, all of a batch at once, so that each that is none of the table's is told
apart with its reason. Where a row leaves a column to a DEFAULT of the step's clock, or to a drawn one, what
reads that column waits for the step (`Formulas`, `Checks`).
Sources: SQL:2016, 4.17.3 and 11.4; Spark's CheckInvariant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import is_true, spread, take, validity
from dbsp.circuits.columns.equality import equal_rows
from dbsp.circuits.columns.forms.json_text import described
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Expression, columns_of
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.operators.inputs.defaults import Default


@dataclass(frozen=True)
class Formula:
    """column: its position. value: over the table's columns, none of which is computed."""

    column: int
    value: Expression


@dataclass(frozen=True)
class Check:
    """value: BOOLEAN, over the table's columns, none of which is computed. said: how the program says it."""

    said: str = field(compare=False)
    value: Expression


@dataclass(frozen=True)
class Rules:
    """defaults: of rows that may leave columns to them; () where a row brings all that it has."""

    defaults: tuple[Default, ...]
    formulas: tuple[Formula, ...]
    checks: tuple[Check, ...]

    def judged(self, rows: pa.RecordBatch) -> tuple[pa.RecordBatch, Mapping[int, str]]:
        """The rows with what is computed of them; and of those that break a rule the first one, by position.

        rows: of the table's columns, by its names. Cost: O(n), and for k rows that can't be computed k log n
        evaluations more.
        """
        bad: dict[int, str] = {}
        known = self._with_constants(rows)
        columns = list(rows.columns)
        for formula in self.formulas:
            at = self._known(formula.value, known)
            values, failed = evaluated(formula.value, known, at)
            columns[formula.column] = spread(values, at, rows.num_rows)
            said = _column(rows, formula.column)
            bad = {i: f"{said} can't be computed: {why}" for i, why in failed.items()} | bad
            bad = self._brought(formula, rows, columns[formula.column]) | bad
        for check in self.checks:
            at = self._known(check.value, known)
            values, failed = evaluated(check.value, known, at)
            false = at[_is_false(values)]
            bad = {i: f"{check.said} can't be told: {why}" for i, why in failed.items()} | bad
            bad = {i: _unmet(check, known, i) for i in map(int, false)} | bad
        return pa.RecordBatch.from_arrays(columns, schema=rows.schema), dict(sorted(bad.items()))

    def _brought(self, formula: Formula, rows: pa.RecordBatch, computed: pa.Array) -> dict[int, str]:
        """Why rows that bring a value in a computed column don't bring that one."""
        given = rows.column(formula.column)
        there = np.flatnonzero(validity(given))
        if not len(there):
            return {}
        other = there[~equal_rows([_unsigned(given)], there, [_unsigned(computed)], there)]
        read = sorted(set(columns_of(formula.value)))
        found = {}
        for i in map(int, other):
            brought = described(rows, i, [formula.column])
            of = described(rows, i, read) if read else "constants"
            found[i] = (
                f"{_column(rows, formula.column)} is computed, of {of}, and isn't {brought}; leave it out"
            )
        return found

    def _with_constants(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        columns, one = list(rows.columns), pa.RecordBatch.from_arrays([pa.nulls(1)], names=["row"])
        for default in self.defaults:
            if default.is_constant and columns[default.column].null_count:
                columns[default.column] = pc.fill_null(
                    columns[default.column], evaluate(default.value, one)[0]
                )
        return pa.RecordBatch.from_arrays(columns, schema=rows.schema)

    def _known(self, value: Expression, rows: pa.RecordBatch) -> np.ndarray:
        """int64[k]: the rows in which it reads no column that the step fills in."""
        read = set(columns_of(value))
        known = np.ones(rows.num_rows, dtype=np.bool_)
        for default in self.defaults:
            if default.column in read and not default.is_constant:
                known &= validity(rows.column(default.column))
        return np.flatnonzero(known)


def evaluated(value: Expression, rows: pa.RecordBatch, at: np.ndarray) -> tuple[pa.Array, Mapping[int, str]]:
    """The values in these rows, NULL where it fails; and why it does, by the row's position."""
    failed: dict[int, str] = {}
    parts = list(_in_parts(value, rows, at, failed))
    return (parts[0] if len(parts) == 1 else pa.concat_arrays(parts or [pa.nulls(0, value.type)])), failed


def _in_parts(
    value: Expression, rows: pa.RecordBatch, at: np.ndarray, failed: dict[int, str]
) -> Iterator[pa.Array]:
    """A half of what fails may not."""
    try:
        yield evaluate(value, rows if len(at) == rows.num_rows else take(rows, at))
    except EvaluationError as error:
        if len(at) == 1:
            failed[int(at[0])] = str(error)
            yield pa.nulls(1, value.type)
            return
        half = len(at) // 2
        yield from _in_parts(value, rows, at[:half], failed)
        yield from _in_parts(value, rows, at[half:], failed)


def _is_false(values: pa.Array) -> np.ndarray:
    return is_true(pc.invert(values))


def _unsigned(values: pa.Array) -> pa.Array:
    """Both zeros as one, as SQL compares them."""
    return pc.add(values, pa.scalar(0, values.type)) if pt.is_floating(values.type) else values


def _column(rows: pa.RecordBatch, column: int) -> str:
    return f"column '{rows.schema.names[column]}'"


def broken(checks: Sequence[Check], rows: pa.RecordBatch) -> str | None:
    """Why the first row that breaks one does; None: none does. Raises EvaluationError."""
    for check in checks:
        false = np.flatnonzero(_is_false(evaluate(check.value, rows)))
        if len(false):
            return _unmet(check, rows, int(false[0]))
    return None


def _unmet(check: Check, rows: pa.RecordBatch, row: int) -> str:
    read = sorted(set(columns_of(check.value)))
    return f"{check.said} isn't met: {described(rows, row, read)}"
