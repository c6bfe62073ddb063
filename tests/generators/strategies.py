"""Hypothesis strategies: programs, and runs of legal signed deltas over their tables.

A run is drawn as loose operations which `deltas` makes legal (a retraction takes a row that is there, or
nothing), so that every shrunk list of operations is a run as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from hypothesis import strategies as st

from dbsp.testing.bags import identity
from dbsp.testing.choices import Choices, Seeded, chance
from dbsp.testing.strategies import Drawn
from tests.generators.programs import Program, Table
from tests.generators.random_programs import draw_program
from tests.generators.values import value

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Change:
    """kind: 'insert', 'retract' (bags, with a weight of at least 1), 'upsert', 'delete' (keyed tables)."""

    kind: str
    row: Row
    weight: int = 1


Delta = dict[str, list[Change]]
Run = list[Delta]


class Contents:
    """What tables hold, by the book: a Counter of rows a bag, a dict by key a keyed table."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self.tables = {table.name: table for table in tables}
        self.held: dict[str, dict[Any, tuple[Row, int]]] = {name: {} for name in self.tables}

    def rows(self, name: str) -> list[Row]:
        """Every row as often as it is there, in order of arrival."""
        return [row for row, weight in self.held[name].values() for _ in range(weight)]

    def apply(self, delta: Delta, clock: datetime | None = None) -> None:
        """clock: when the rows arrive."""
        for name, changes in delta.items():
            held = self.held[name]
            if self.tables[name].timed:
                came = [change.row for change in changes for _ in range(change.weight)]
                held.update((number, ((*row, clock), 1)) for number, row in enumerate(came, len(held)))
                continue
            places = _key_places(self.tables[name])
            totals = Counter({place: weight for place, (_, weight) in held.items()})
            for change in changes:
                place = identity([change.row[i] for i in places])
                if change.kind == "upsert":
                    held[place] = (change.row, 1)
                elif change.kind == "delete":
                    held.pop(place, None)
                else:
                    totals[place] += change.weight if change.kind == "insert" else -change.weight
                    held[place] = (change.row, totals[place])
            for place in [place for place, (_, weight) in held.items() if not weight]:
                del held[place]
            assert all(weight > 0 for _, weight in held.values()), f"illegal delta for {name}: {changes}"


def _key_places(table: Table) -> list[int]:
    names = [column.name for column in table.columns]
    return [names.index(name) for name in table.key or names]


def draw_row(choices: Choices, table: Table) -> Row:
    return tuple(value(choices, column.type, column.nullable) for column in table.columns)


def draw_run(
    choices: Choices, program: Program, steps: int = 5, most: int = 4, fewest: tuple[int, int] = (1, 0)
) -> Run:
    """Up to `steps` deltas of up to `most` changes a table. fewest: of either."""
    contents = Contents(program.tables)
    run = []
    for _ in range(choices.integer(fewest[0], steps)):
        count = partial(choices.integer, fewest[1], most)
        delta = {table.name: _draw_changes(choices, table, contents, count()) for table in program.tables}
        contents.apply(delta)
        run.append({name: changes for name, changes in delta.items() if changes})
    return run


def _draw_changes(choices: Choices, table: Table, contents: Contents, count: int) -> list[Change]:
    if table.key:
        return [_keyed_change(choices, table) for _ in range(count)]
    there = contents.rows(table.name)
    changes = []
    for _ in range(count):
        if there and not table.append_only and choices.integer(0, 2) == 2:
            changes.append(Change("retract", there.pop(choices.integer(0, len(there) - 1))))
        else:
            change = Change("insert", draw_row(choices, table), 1 + chance(choices, 4))
            there += [change.row] * change.weight
            changes.append(change)
    return changes


def _keyed_change(choices: Choices, table: Table) -> Change:
    row = draw_row(choices, table)
    if choices.integer(0, 2) < 2:
        return Change("upsert", row)
    places = _key_places(table)
    return Change("delete", tuple(v if i in places else None for i, v in enumerate(row)))


def retract_all(contents: Contents) -> Delta:
    """The delta that leaves nothing."""
    delta: Delta = {}
    for name, table in contents.tables.items():
        places = _key_places(table)
        held = contents.held[name].values()
        if table.key:
            keys = [tuple(v if i in places else None for i, v in enumerate(row)) for row, _ in held]
            delta[name] = [Change("delete", key) for key in keys]
        else:
            delta[name] = [Change("retract", row, weight) for row, weight in held]
    return {name: changes for name, changes in delta.items() if changes}


def seeded_program(seed: int, views: int = 4) -> Program:
    """Always the same program for a seed."""
    return draw_program(Seeded(seed), views)


@st.composite
def programs(draw: st.DrawFn, views: int = 3) -> Program:
    """New programs, shrinking to a projection of one table."""
    return draw_program(Drawn(draw), views)


def pool(size: int, first: int = 0) -> st.SearchStrategy[Program]:
    """Programs from a fixed pool, which the cache of compiled programs has seen."""
    return st.integers(first, first + size - 1).map(seeded_program)


@st.composite
def runs(draw: st.DrawFn, program: Program, steps: int = 5, most: int = 4) -> Run:
    return draw_run(Drawn(draw), program, steps, most)


def seeded_run(seed: int, program: Program, steps: int = 5, most: int = 4) -> Run:
    """Always the same for a seed. What may be a test's only run has all its steps, and none has few rows."""
    return draw_run(Seeded(seed), program, steps, most, (steps, (most + 1) // 2))


@st.composite
def split(draw: st.DrawFn, run: Run) -> Run:
    """The same changes in the same order, in more steps, some of them empty."""
    parts: Run = []
    for delta in run:
        cuts = {name: draw(st.integers(0, len(changes))) for name, changes in delta.items()}
        parts.append({name: changes[: cuts[name]] for name, changes in delta.items() if cuts[name]})
        parts.append(
            {name: changes[cuts[name] :] for name, changes in delta.items() if cuts[name] < len(changes)}
        )
    return parts
