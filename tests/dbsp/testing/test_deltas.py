"""Random deltas are legal, repeatable, and of everything that a table takes."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import find

from dbsp.circuits.progress.waterline import CLOCK
from dbsp.commands.replays.steps import Change, StepOfFile
from dbsp.testing.contents import Contents
from dbsp.testing.deltas import items_of, random_deltas, steps_of
from dbsp.testing.programs import load
from dbsp.testing.strategies import deltas_of
from tests.dbsp.testing.made import a_program, a_table

BAG = a_table("bag", {"k": pa.int64(), "s": pa.string()})
KEYED = a_table("keyed", {"k": pa.int64(), "s": pa.string()}, key=("k",))
GROWING = a_table("growing", {"k": pa.int64()}, append_only=True)
PROGRAM = a_program(tables=[BAG, KEYED, GROWING])


def test_a_seed_draws_the_same_again():
    assert random_deltas(PROGRAM, seed=3) == random_deltas(PROGRAM, seed=3) != random_deltas(PROGRAM, seed=4)


@pytest.mark.spark
def test_a_program_may_be_a_file_or_its_text(tmp_path):
    text = "CREATE TABLE t (x INT); CREATE VIEW v AS SELECT max(x) AS top FROM t;"
    file = tmp_path / "program.sql"
    file.write_text(text)
    known = random_deltas(load(text), seed=3)
    assert (
        random_deltas(text, seed=3)
        == random_deltas(file, seed=3)
        == random_deltas(str(file), seed=3)
        == known
    )
    assert isinstance(find(deltas_of(file), bool), list)


def test_there_are_as_many_as_asked_for():
    deltas = random_deltas(PROGRAM, steps=7, most=2)
    assert len(deltas) == 7
    counts = {len(changes) for step in deltas for changes in step.changes.values()}
    assert counts == {1, 2}
    assert [step.clock for step in deltas] == [None] * 7


def test_a_clock_goes_on_where_one_is_watched():
    timed = a_program(tables=[BAG], lateness=(CLOCK,))
    clocks = [step.clock for step in random_deltas(timed, steps=20)]
    assert None not in clocks
    assert clocks == sorted(clocks)
    assert len(set(clocks)) > 5


@pytest.mark.parametrize("seed", range(5))
def test_they_are_legal(seed):
    contents = Contents(PROGRAM)
    for step in random_deltas(PROGRAM, steps=30, seed=seed):
        assert contents.legal(step) == step
        contents.apply(step)
        assert all(weight > 0 for held in contents.held.values() for _, weight in held.values())


def test_they_are_of_everything_that_a_table_takes():
    kinds: Counter[tuple[str, int, bool]] = Counter()
    nulls = again = 0
    for step in random_deltas(PROGRAM, steps=60, seed=1):
        for name, changes in step.changes.items():
            kinds.update((name, change.weight, change.by_key) for change in changes)
            nulls += sum(None in change.row.values() for change in changes)
            again += len(changes) - len({change.row["k"] for change in changes})
    assert set(kinds) == {
        ("bag", 1, False), ("bag", 2, False), ("bag", -1, False), ("keyed", 1, False), ("keyed", -1, True),
        ("growing", 1, False), ("growing", 2, False),
    }  # fmt: skip
    assert nulls
    assert again > 20  # keys meet within a step


def test_steps_are_what_they_consist_of():
    deltas = random_deltas(PROGRAM, steps=8, seed=2)
    items = items_of(deltas)
    one, other = Contents(PROGRAM), Contents(PROGRAM)
    for step, same in zip(deltas, steps_of(items), strict=True):
        one.apply(step)
        other.apply(same)
        assert one.held == other.held
    assert steps_of(items_of(steps_of(items))) == steps_of(items)


def test_a_few_copies_are_changes_of_their_own():
    few, many = ([StepOfFile({"bag": [Change({"k": 1}, weight, False, "here")]})] for weight in (-2, 9))
    assert [change.weight for _, change in items_of(few)[0]] == [-1, -1]
    assert [change.weight for _, change in items_of(many)[0]] == [9]
