"""LATENESS by the book: random annotations of a program, and which rows of a run survive them.

Row by row, in plain Python, as SEMANTICS says it: a row of step t passes iff each annotated value is NULL or
at least the waterline as of step t − 1, which is the greatest value − lateness of all the rows before, or the
greatest candidate of a percentile. Of a column that decreases: at most the least value + lateness. ADVANCE is
one more candidate of its step.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from dbsp.circuits.progress.percentile import Percentile
from dbsp.testing.bags import identity
from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Program, Table
from tests.generators.strategies import Change, Contents, Delta, Row, Run, draw_run
from tests.generators.values import DOMAINS

# (SQL, amount) that a column of the type may be annotated with; how far its values drift in a step
AMOUNTS: dict[str, list[tuple[str, Any]]] = {
    "TIMESTAMP": [
        ("INTERVAL 0 SECONDS", timedelta(0)),
        ("INTERVAL 12 MINUTES", timedelta(minutes=12)),
        ("PERCENTILE 40 OVER 5 ROWS", Percentile(Decimal(40), 5)),
    ],
    "TIMESTAMP_NTZ": [("INTERVAL '1' HOUR", timedelta(hours=1))],
    "DATE": [("INTERVAL 1 DAY", timedelta(days=1)), ("0", timedelta(0))],
    "BIGINT": [("0", 0), ("1", 1), ("PERCENTILE 25 OVER 4 ROWS EVERY 3 ROWS", Percentile(Decimal(25), 4, 3))],
    "INT": [("0", 0), ("2", 2), ("2 ROWS", Percentile(Decimal(100), 3))],
    "DECIMAL(10,2)": [("1.5", Decimal("1.5")), ("PERCENTILE 0 OVER 2 ROWS", Percentile(Decimal(0), 2))],
    "DOUBLE": [("0.5", 0.5), ("PERCENTILE 100 OVER 2 ROWS", Percentile(Decimal(100), 2))],
}
_DRIFT: dict[str, Any] = {
    "TIMESTAMP": timedelta(minutes=7),
    "TIMESTAMP_NTZ": timedelta(minutes=7),
    "DATE": timedelta(days=1),
    "BIGINT": 1,
    "INT": 1,
    "DECIMAL(10,2)": Decimal("1.25"),
    "DOUBLE": 0.75,
}


@dataclass(frozen=True)
class Falling:
    """The amount of a column that decreases."""

    amount: Any

    def line(self, one: Any, other: Any) -> Any:
        """The waterline that one and another candidate make."""
        return min(one, other)

    def shifted(self, value: Any) -> Any:
        return value + self.amount

    def is_late(self, value: Any, line: Any) -> bool:
        """NaN is above all."""
        return _is_nan(value) or value > line


@dataclass(frozen=True)
class Rising:
    """The amount of any other."""

    amount: Any

    def line(self, one: Any, other: Any) -> Any:
        """The waterline that one and another candidate make."""
        return max(one, other)

    def shifted(self, value: Any) -> Any:
        return value - self.amount

    def is_late(self, value: Any, line: Any) -> bool:
        return not _is_nan(value) and value < line


@dataclass(frozen=True)
class Annotated:
    """A program and the lateness of some of its tables' columns: (table, column) → (SQL, amount)."""

    program: Program
    lateness: Mapping[tuple[str, str], tuple[str, Any]]

    @property
    def text(self) -> str:
        return self.with_lateness.text

    @property
    def with_lateness(self) -> Program:
        """The program with what is annotated as a part of the columns' types."""
        tables = tuple(
            replace(
                table,
                columns=tuple(
                    replace(c, type=f"{c.type} LATENESS {self.lateness[table.name, c.name][0]}")
                    if (table.name, c.name) in self.lateness
                    else c
                    for c in table.columns
                ),
            )
            for table in self.program.tables
        )
        return replace(self.program, tables=tables)

    def of(self, table: Table) -> list[tuple[int, Any]]:
        """(position, amount) of the table's annotated columns."""
        return [
            (i, self.lateness[table.name, column.name][1])
            for i, column in enumerate(table.columns)
            if (table.name, column.name) in self.lateness
        ]


# of a step, by table and position of a column, where its waterline is moved to
Advanced = Mapping[tuple[str, int], Any]
Advances = Sequence[Advanced]
# per column, which side of its waterline is late, and the waterline
Lines = Mapping[int, tuple[Rising | Falling, Any]]


def draw_annotated(choices: Choices, program: Program, falling: bool = True) -> Annotated:
    """Lateness for some columns that can have it; for at least one if there is one. falling: they may
    decrease.
    """
    able = [(t.name, c) for t in program.tables for c in t.columns if c.type in AMOUNTS]
    # times first: they are what windows and joins are bounded by
    able.sort(key=lambda pair: pair[1].type not in ("TIMESTAMP", "DATE"))
    chosen = {
        (table, column.name): choices.choice(AMOUNTS[column.type])
        for i, (table, column) in enumerate(able)
        if i == 0 or chance(choices, 3)
    }
    falls = falling and chance(choices, 3)
    return Annotated(program, {place: _falling(*one) for place, one in chosen.items()} if falls else chosen)


def _falling(text: str, amount: Any) -> tuple[str, Falling]:
    return f"{text} DECREASING", Falling(amount)


def draw_drifting_run(choices: Choices, annotated: Annotated, steps: int = 8) -> Run:
    """A run whose annotated values rise from step to step, so that waterlines rise and state is collected."""
    drawn = draw_run(choices, annotated.program, steps)
    contents = Contents(annotated.program.tables)
    run = []
    for step, delta in enumerate(drawn):
        moved: Delta = {}
        for name, changes in delta.items():
            table = annotated.program.table(name)
            moved[name] = _legal(contents, table, [_drifted(annotated, table, c, step) for c in changes])
        contents.apply(moved)
        run.append(moved)
    return run


def draw_advances(choices: Choices, annotated: Annotated, steps: int) -> Advances:
    """Now and then, to about where the values of the step are, or back."""
    return [
        {
            (table.name, i): _drift(table, i, choices.choice(_finite(table, i)), amount, step)
            for table in annotated.program.tables
            for i, amount in annotated.of(table)
            if chance(choices, 5)
        }
        for step in range(steps)
    ]


def _finite(table: Table, i: int) -> list[Any]:
    """What a waterline may be, of the values that the column has."""
    values = DOMAINS[table.columns[i].type]
    return [value for value in values if not isinstance(value, float) or math.isfinite(value)]


def _drift(table: Table, i: int, value: Any, amount: Any, step: int) -> Any:
    return value + _DRIFT[table.columns[i].type] * (-step if isinstance(amount, Falling) else step)


def _drifted(annotated: Annotated, table: Table, change: Change, step: int) -> Change:
    row = list(change.row)
    for i, amount in annotated.of(table):
        if row[i] is not None:
            row[i] = _drift(table, i, row[i], amount, step)
    return replace(change, row=tuple(row))


def _legal(contents: Contents, table: Table, changes: list[Change]) -> list[Change]:
    """The changes without retractions of rows that aren't there; a drifted row is another row."""
    if table.key:
        return changes
    there = Counter(identity(row) for row in contents.rows(table.name))
    kept = []
    for change in changes:
        place = identity(change.row)
        if change.kind == "insert":
            there[place] += change.weight
        elif there[place] < change.weight:
            continue
        else:
            there[place] -= change.weight
        kept.append(change)
    return kept


def surviving(annotated: Annotated, run: Run, advances: Advances = ()) -> Run:
    """The run without its late changes."""
    return [taken for _, taken in judged(annotated, run, advances)]


def judged(annotated: Annotated, run: Run, advances: Advances = ()) -> Iterator[tuple[Delta, Delta]]:
    """Of each step the changes that aren't late, and of these those whose key isn't frozen."""
    program = annotated.program
    contents = Contents(program.tables)
    waterlines: dict[tuple[str, int], Any] = {}
    arrived: dict[tuple[str, int], list[Any]] = {}
    for number, delta in enumerate(run):
        on_time: Delta = {}
        passing: Delta = {}
        for name, changes in delta.items():
            table = program.table(name)
            lines = {
                i: (_sided(amount), waterlines[name, i])
                for i, amount in annotated.of(table)
                if (name, i) in waterlines
            }
            on_time[name] = [c for c in changes if not _late(c, lines)]
            passing[name] = [c for c in on_time[name] if not _frozen(contents, table, c, lines)]
        for name, changes in delta.items():
            for i, amount in annotated.of(program.table(name)):
                values = [c.row[i] for c in changes for _ in range(c.weight)]
                values = [v for v in values if v is not None and not _is_nan(v)]
                side = _sided(amount)
                if isinstance(side.amount, Percentile):
                    candidates = _candidates(arrived.setdefault((name, i), []), values, side)
                else:
                    candidates = map(side.shifted, values)
                for moved in candidates:
                    waterlines[name, i] = side.line(waterlines.get((name, i), moved), moved)
        for (name, i), to in advances[number].items() if advances else ():
            amount = dict(annotated.of(program.table(name))).get(i)
            if amount is not None:
                waterlines[name, i] = _sided(amount).line(waterlines.get((name, i), to), to)
        contents.apply(passing)
        yield on_time, passing


def _sided(amount: Any) -> Rising | Falling:
    return amount if isinstance(amount, Falling) else Rising(amount)


def _candidates(arrived: list[Any], values: list[Any], side: Rising | Falling) -> Iterator[Any]:
    """Of each value, which is added to those that arrived: what p % of the last n exceed, or fall below."""
    percentile = side.amount
    for value in values:
        arrived.append(value)
        if len(arrived) >= percentile.over and (len(arrived) - percentile.over) % percentile.every == 0:
            exceeding = min(percentile.over - 1, math.ceil(percentile.over * percentile.share / 100))
            yield sorted(arrived[-percentile.over :], reverse=isinstance(side, Rising))[exceeding]


def _late(change: Change, lines: Lines) -> bool:
    return _beyond(change.row, lines)


def _frozen(contents: Contents, table: Table, change: Change, lines: Lines) -> bool:
    """Whether the stored row of the change's key is late by now."""
    if not table.key:
        return False
    names = [column.name for column in table.columns]
    place = identity([change.row[names.index(name)] for name in table.key])
    stored: tuple[Row, int] | None = contents.held[table.name].get(place)
    return stored is not None and _beyond(stored[0], lines)


def _beyond(row: Row, lines: Lines) -> bool:
    return any(row[i] is not None and side.is_late(row[i], line) for i, (side, line) in lines.items())


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
