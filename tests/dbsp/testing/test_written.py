"""A replay file reads back as the deltas that it was written from."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.progress.waterline import Lateness
from dbsp.commands.replays.files import read_file, rows_of
from dbsp.commands.replays.steps import Advance, Change, StepOfFile
from dbsp.testing.deltas import random_deltas
from dbsp.testing.written import replay_text
from tests.dbsp.testing.made import a_program, a_table

COLUMNS = {
    "k": pa.int64(), "s": pa.string(), "d": pa.float64(), "n": pa.decimal128(10, 2), "b": pa.binary(),
    "day": pa.date32(), "at": pa.timestamp("us", tz="UTC"), "local": pa.timestamp("us"), "m": MONTHS,
    "took": pa.duration("us"), "list": pa.list_(pa.int32()), "map": pa.map_(pa.string(), pa.int32()),
    "pair": pa.struct([("x", pa.int32()), ("y", pa.string())]), "yes": pa.bool_(),
}  # fmt: skip
PROGRAM = a_program(tables=[a_table("bag", COLUMNS), a_table("keyed", COLUMNS, key=("k", "s"))])


def plain(step: StepOfFile) -> object:
    """What a step does, however it was given."""
    return {
        name: [
            (repr(rows_of(PROGRAM.tables[name], [change], "UTC").to_pylist()), change.weight, change.by_key)
            for change in changes
        ]
        for name, changes in step.changes.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_it_reads_back(seed):
    deltas = random_deltas(PROGRAM, steps=20, seed=seed)
    text = replay_text(PROGRAM, deltas)
    assert list(map(plain, read_file(text, "found.jsonl", PROGRAM))) == list(map(plain, deltas))


def test_a_clock_reads_back():
    at = datetime(2024, 2, 29, 10, tzinfo=UTC)
    text = replay_text(PROGRAM, [StepOfFile(clock=at), StepOfFile()])
    assert text == '{"step": "2024-02-29 10:00:00Z"}\n{"step": true}\n'
    assert [step.clock for step in read_file(text, "found.jsonl", PROGRAM)] == [at, None]


def test_a_deletion_is_a_key_and_a_waterline_has_its_place():
    keyed = a_table("t", {"k": pa.int64(), "n": pa.int64()}, key=("k",))
    at = Lateness("t.n", 1, pa.int64(), 0)
    program = a_program(tables=[keyed], lateness=(at,))
    step = StepOfFile({"t": [Change({"k": 1}, -1, True, "here"), Change((2, 3), 1, False, "here")]})
    step.advances.append(Advance(at, 7))
    text = replay_text(program, [step])
    assert text.splitlines() == [
        '{"table": "t", "delete": {"k": 1}}',
        '{"table": "t", "upsert": {"k": 2, "n": 3}}',
        '{"advance": "t.n", "to": 7}',
        '{"step": true}',
    ]
    (read,) = read_file(text, "found.jsonl", program)
    assert read.advances == step.advances
