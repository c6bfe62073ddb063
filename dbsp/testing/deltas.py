"""Random deltas, drawn from the schemas of a program's tables: inserts, upserts, deletes, NULLs, edges.

    for changes in play(pipeline, random_deltas(pipeline.program, steps=5, seed=7)): ...

Legal ones: a row of a bag is taken back only where it is there, and none of an append_only table. A row that
breaks a CHECK, or of which no column can be computed, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from dbsp.circuits.errors import DataError
from dbsp.commands.replays.files import clock_of, queue, rows_of
from dbsp.commands.replays.steps import Advance, Change, StepOfFile
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Program, Table
from dbsp.testing.choices import Choices, Seeded, chance
from dbsp.testing.contents import Contents
from dbsp.testing.domains import constants, value
from dbsp.testing.programs import ProgramLike, load
from dbsp.views.changes import Changes

Deltas = list[StepOfFile]
# of what a step consists: a change of a table, where a waterline moves to, the step's clock
Item = tuple[str, Change] | Advance | datetime

# up to how many copies of a row are changes of their own
_APART = 4
# of a program that watches the clock: how far it goes in a step
_CLOCK = datetime(2024, 2, 29, 10, tzinfo=UTC)
_PACES = [timedelta(0), timedelta(minutes=5), timedelta(hours=1), timedelta(days=1)]


def random_deltas(program: ProgramLike, steps: int = 5, seed: int = 0, most: int = 4) -> Deltas:
    """Always the same ones for a seed. most: how many changes of a table a step has at most.

    program: a compiled one, or what `load` takes. Raises ProgramError.

    Examples:
        >>> deltas = random_deltas(p.program, steps=3, seed=1)
        >>> len(deltas), deltas == random_deltas(p.program, steps=3, seed=1)
        (3, True)
    """
    return draw_deltas(Seeded(seed), load(program), steps, most)


def draw_deltas(choices: Choices, program: Program, steps: int, most: int = 4) -> Deltas:
    """As many steps, some of which change nothing."""
    known, contents, clock = constants(program), Contents(program), _CLOCK
    drawn: Deltas = []
    for number in range(1, steps + 1):
        step = StepOfFile()
        for table in program.inputs.values():
            changes = _changes(choices, table, contents, known, most, f"step {number} of random deltas")
            kept = [one for one in changes if _is_taken(table, one, program.timezone)]
            if kept:
                step.changes[table.name] = kept
        if program.circuit.is_timed:
            clock += choices.choice(_PACES)
            step.clock = clock
        contents.apply(step, step.clock)
        drawn.append(step)
    return drawn


def play(pipeline: Pipeline, deltas: Deltas) -> Iterator[Changes]:
    """The changes of step after step. A clock that isn't said stays where it is, as in a replay.

    Examples:
        >>> deltas = random_deltas(p.program, steps=3, seed=1)
        >>> [changes.step for changes in play(p, deltas)]
        [2, 3, 4]
    """
    for step in deltas:
        queue(pipeline, step)
        yield pipeline.step(clock=clock_of(pipeline, step))


def items_of(deltas: Deltas) -> list[list[Item]]:
    """What each step consists of, so that parts of it are steps, too."""
    return [
        [
            *(
                (name, copy)
                for name, changes in step.changes.items()
                for one in changes
                for copy in _copies(one)
            ),
            *step.advances,
            *([] if step.clock is None else [step.clock]),
        ]
        for step in deltas
    ]


def _copies(change: Change) -> list[Change]:
    """Of a few copies each by itself, so that fewer of them may be left."""
    count = abs(change.weight)
    return [replace(change, weight=change.weight // count)] * count if count <= _APART else [change]


def steps_of(items: list[list[Item]]) -> Deltas:
    """Steps that consist of these. Of several clocks the last one is the step's."""
    made: Deltas = []
    for parts in items:
        step = StepOfFile()
        for part in parts:
            if isinstance(part, Advance):
                step.advances.append(part)
            elif isinstance(part, datetime):
                step.clock = part
            else:
                step.changes.setdefault(part[0], []).append(part[1])
        made.append(step)
    return made


def _changes(
    choices: Choices, table: Table, contents: Contents, known: list[Any], most: int, where: str
) -> list[Change]:
    if table.primary_key:
        return [_keyed(choices, table, known, where) for _ in _some(choices, most)]
    there = [row for row, weight in contents.held[table.name].values() for _ in range(weight)]
    changes = []
    for _ in _some(choices, most):
        if there and not table.append_only and choices.integer(0, 2) == 2:
            row = there.pop(choices.integer(0, len(there) - 1))
            changes.append(Change(_named(table, row), -1, False, where))
        else:
            drawn = _row(choices, table, known)
            changes.append(Change(drawn, 1 + chance(choices, 4), False, where))
    return changes


def _is_taken(table: Table, change: Change, timezone: str) -> bool:
    """What is there already is, and a key."""
    if change.weight < 0 or not (table.checks or table.formulas):
        return True
    try:
        rows_of(table, [change], timezone)
    except DataError:
        return False
    return True


def _some(choices: Choices, most: int) -> Iterator[int]:
    """At most so many times. One decision each, so that hypothesis can leave out any of them."""
    for number in range(most):
        if choices.integer(0, 3) == 0:
            return
        yield number


def _keyed(choices: Choices, table: Table, known: list[Any], where: str) -> Change:
    change = Change(_row(choices, table, known), 1, False, where)
    if table.append_only or choices.integer(0, 2) < 2:
        return change
    key = {name: change.row[name] for name in table.primary_key}
    return replace(change, row=key, weight=-1, by_key=True)


def _row(choices: Choices, table: Table, known: list[Any]) -> dict[str, Any]:
    computed = {table.schema[one.column].name for one in table.formulas}
    return {
        field.name: value(choices, field.type, known, field.nullable or field.name in table.filled)
        for field in table.schema
        if field.name not in computed
    }


def _named(table: Table, row: tuple[Any, ...]) -> dict[str, Any]:
    return {field.name: item for field, item in zip(table.schema, row, strict=True)}
