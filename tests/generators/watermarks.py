"""WATERMARK by the book: random annotations of a program, beside LATENESS, and which rows are released.

Row by row, in plain Python: a row of a table is released iff each of its watermarked values is NULL, NaN, or
at most the greatest value of that column in any row so far that wasn't late, less the amount. Where the input
ends, all are, and so is what comes later with such values. ADVANCE releases what is at most its value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dbsp.circuits.progress.percentile import Percentile
from dbsp.testing.choices import Choices, chance
from tests.generators.lateness import (
    AMOUNTS,
    Advances,
    Annotated,
    draw_advances,
    draw_annotated,
    draw_drifting_run,
    judged,
)
from tests.generators.programs import Program, Table
from tests.generators.strategies import Contents, Row, Run

Held = dict[str, list[Row]]


@dataclass(frozen=True)
class Watermarked:
    """watermarks: of tables' columns, (table, column) → (SQL, amount). late: LATENESS, of some columns."""

    late: Annotated
    watermarks: Mapping[tuple[str, str], tuple[str, Any]]

    @property
    def program(self) -> Program:
        return self.late.program

    @property
    def text(self) -> str:
        """Each annotation stands behind a column's type."""
        text = self.late.with_lateness
        tables = tuple(
            replace(
                table,
                columns=tuple(
                    replace(c, type=f"{c.type} WATERMARK {self.watermarks[table.name, c.name][0]}")
                    if (table.name, c.name) in self.watermarks
                    else c
                    for c in table.columns
                ),
            )
            for table in text.tables
        )
        return replace(text, tables=tables).text

    def of(self, table: Table) -> list[tuple[int, Any]]:
        """(position, amount) of the table's watermarked columns."""
        return [
            (i, self.watermarks[table.name, column.name][1])
            for i, column in enumerate(table.columns)
            if (table.name, column.name) in self.watermarks
        ]


def draw_watermarked(choices: Choices, program: Program) -> Watermarked:
    """A watermark for one or two columns of tables, half the time beside LATENESS."""
    late = draw_annotated(choices, program, falling=False) if chance(choices, 2) else Annotated(program, {})
    able = [(t.name, c) for t in program.tables for c in t.columns if c.type in AMOUNTS and not c.default]
    able.sort(key=lambda pair: pair[1].type not in ("TIMESTAMP", "DATE"))
    chosen = {
        (table, column.name): choices.choice(
            [one for one in AMOUNTS[column.type] if not isinstance(one[1], Percentile)]
        )
        for i, (table, column) in enumerate(able)
        if i == 0 or chance(choices, 3)
    }
    return Watermarked(late, chosen)


def draw_waiting_run(choices: Choices, watermarked: Watermarked, steps: int = 6) -> Run:
    """A run whose annotated values rise from step to step, so that what waits is released."""
    return draw_drifting_run(choices, _rising(watermarked), steps)


def draw_advances_of(choices: Choices, watermarked: Watermarked, steps: int) -> Advances:
    """Of columns with either annotation."""
    return draw_advances(choices, _rising(watermarked), steps)


def _rising(watermarked: Watermarked) -> Annotated:
    return Annotated(watermarked.program, {**watermarked.watermarks, **watermarked.late.lateness})


def released(watermarked: Watermarked, run: Run, end: int = 0, advances: Advances = ()) -> Iterator[Held]:
    """After each step the rows of each table that are released. end: the step after which the input ends."""
    program = watermarked.program
    contents, lines = Contents(program.tables), dict[tuple[str, int], Any]()

    def rise(name: str, i: int, value: Any) -> None:
        lines[name, i] = max(lines.get((name, i), value), value)

    for number, (on_time, taken) in enumerate(judged(watermarked.late, run, advances), 1):
        for name, changes in on_time.items():
            for i, amount in watermarked.of(program.table(name)):
                for value in _values([change.row for change in changes], i):
                    rise(name, i, value - amount)
        for (name, i), value in advances[number - 1].items() if advances else ():
            rise(name, i, value)
        contents.apply(taken)
        for table in program.tables if number == end else ():
            for i, _ in watermarked.of(table):
                for value in _values(contents.rows(table.name), i):
                    rise(table.name, i, value)
        yield {
            table.name: [
                row
                for row in contents.rows(table.name)
                if all(_passes(row[i], lines.get((table.name, i))) for i, _ in watermarked.of(table))
            ]
            for table in program.tables
        }


def _values(rows: Iterable[Row], i: int) -> list[Any]:
    return [row[i] for row in rows if not _is_none(row[i])]


def _passes(value: Any, line: Any) -> bool:
    return _is_none(value) or value <= line


def _is_none(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
