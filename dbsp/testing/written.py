"""Deltas as a replay file of JSON lines, which reads back as the same deltas."""

from __future__ import annotations

from collections.abc import Iterator
from json.encoder import encode_basestring

from dbsp.circuits.columns.forms.json_text import encode, objects
from dbsp.circuits.progress.waterline import column_name
from dbsp.commands.replays.files import rows_of
from dbsp.commands.replays.steps import Advance, StepOfFile
from dbsp.rows.literals import array_of
from dbsp.running.clock import spelled
from dbsp.sql.plans.program import Program
from dbsp.testing.deltas import Deltas


def replay_text(program: Program, deltas: Deltas) -> str:
    """The file, for `dbsp step` or `assert_replay`.

    Examples:
        >>> from dbsp.testing import random_deltas
        >>> text = replay_text(p.program, random_deltas(p.program, steps=2))
        >>> text.count('{"step": true}')
        2
    """
    return "".join(line + "\n" for step in deltas for line in _lines(program, step))


def _lines(program: Program, step: StepOfFile) -> Iterator[str]:
    for name, changes in step.changes.items():
        table = program.inputs[name]
        rows = rows_of(table, changes, program.timezone)
        whole = objects(rows)
        keys = objects(rows.select(list(table.primary_key))) if table.primary_key else whole
        for i, change in enumerate(changes):
            head = f'{{"table": {encode_basestring(name)}, '
            if change.by_key:
                yield f'{head}"delete": {keys[i]}}}'
            elif table.primary_key:
                yield f'{head}"upsert": {whole[i]}}}'
            else:
                weight = f', "weight": {change.weight}' if change.weight != 1 else ""
                yield f'{head}"row": {whole[i]}{weight}}}'
    for one in step.advances:
        yield _advance(one, program.timezone)
    yield '{"step": true}' if step.clock is None else f'{{"step": "{spelled(step.clock)}Z"}}'


def _advance(one: Advance, timezone: str) -> str:
    value = encode(array_of([one.value], one.waterline.type, timezone))[0]
    return f'{{"advance": {encode_basestring(column_name(one.waterline.name))}, "to": {value}}}'
