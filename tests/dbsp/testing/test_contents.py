"""What tables hold after some steps, by the book."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Literal
from dbsp.circuits.operators.inputs.defaults import Default
from dbsp.commands.replays.steps import Change, StepOfFile
from dbsp.testing.contents import Contents
from tests.dbsp.testing.made import a_program, a_table

BAG = a_table("bag", {"k": pa.int64(), "s": pa.string()})
KEYED = a_table("keyed", {"k": pa.int64(), "s": pa.string()}, key=("k",))
FILLED = a_table("filled", {"k": pa.int64(), "n": pa.int64()}, defaults=(Default(1, Literal(7, pa.int64())),))


@pytest.fixture
def contents():
    return Contents(a_program(tables=[BAG, KEYED, FILLED]))


def step(table: str, *changes: tuple[dict[str, object], int]) -> StepOfFile:
    keyed = table == "keyed"
    made = [Change(row, weight, keyed and weight < 0, "here") for row, weight in changes]
    return StepOfFile({table: made})


def rows(contents: Contents, table: str) -> list[dict[str, object]]:
    return contents.rows(table).to_pylist()


def test_a_bag_counts_its_rows(contents):
    contents.apply(step("bag", ({"k": 1, "s": "a"}, 2), ({"k": 2}, 1)))
    assert rows(contents, "bag") == [{"k": 1, "s": "a"}, {"k": 1, "s": "a"}, {"k": 2, "s": None}]
    contents.apply(step("bag", ({"k": 1, "s": "a"}, -1), ({"k": 2, "s": None}, -1)))
    assert rows(contents, "bag") == [{"k": 1, "s": "a"}]
    # within a step only the sum counts
    contents.apply(step("bag", ({"k": 3}, -1), ({"k": 3}, 1)))
    assert contents.all_rows()["bag"].num_rows == 1


def test_of_a_key_the_last_row_counts(contents):
    contents.apply(step("keyed", ({"k": 1, "s": "a"}, 1), ({"k": 1, "s": "b"}, 1), ({"k": 2, "s": "c"}, 1)))
    contents.apply(step("keyed", ({"k": 2}, -1), ({"k": 9}, -1)))
    assert rows(contents, "keyed") == [{"k": 1, "s": "b"}]


def test_a_default_is_where_nothing_was_given(contents):
    contents.apply(step("filled", ({"k": 1}, 1), ({"k": 1, "n": 2}, 1)), datetime(2024, 1, 1, tzinfo=UTC))
    assert rows(contents, "filled") == [{"k": 1, "n": 7}, {"k": 1, "n": 2}]


def test_late_rows_are_not_there(contents):
    late = {"bag": Counter(['{"k": 1, "s": "a"}'])}
    contents.apply(step("bag", ({"k": 1, "s": "a"}, 1), ({"k": 2, "s": "a"}, 1)), late=late)
    assert rows(contents, "bag") == [{"k": 2, "s": "a"}]


def test_a_legal_step_takes_back_only_what_is_there(contents):
    contents.apply(step("bag", ({"k": 1}, 1)))
    given = step("bag", ({"k": 1}, -1), ({"k": 1}, -1), ({"k": 2}, -1), ({"k": 3}, 1), ({"k": 3}, -1))
    legal = contents.legal(given)
    assert [(change.row["k"], change.weight) for change in legal.changes["bag"]] == [(1, -1), (3, 1), (3, -1)]
    contents.apply(legal)
    assert rows(contents, "bag") == []
    keyed = step("keyed", ({"k": 5}, -1))
    assert contents.legal(keyed).changes == keyed.changes


def test_a_copy_goes_its_own_way(contents):
    contents.apply(step("bag", ({"k": 1}, 1)))
    other = contents.copy()
    other.apply(step("bag", ({"k": 1}, -1)))
    assert (rows(contents, "bag"), rows(other, "bag")) == ([{"k": 1, "s": None}], [])
