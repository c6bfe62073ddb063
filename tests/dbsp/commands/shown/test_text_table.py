"""Rows as a table of text: as wide as the widest, numbers to the right, each row as often as it is there."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from dbsp.commands.shown.text_table import TABLE_ROWS, text_table, to_the_right, view_tables
from tests.dbsp.build import pipeline


def test_columns_are_as_wide_as_their_widest_value() -> None:
    columns = [pa.array([1, -200, None]), pa.array(["a", "", "bcd"]), pa.array([Decimal("1.50")] * 3)]
    rows = pa.RecordBatch.from_arrays(columns, names=["n", "text", "price"])
    lines = list(text_table(rows))
    assert lines[:2] == ["   n  text  price", "----  ----  -----"]
    assert lines[2:4] == ["   1  a      1.50", "-200         1.50"]
    assert len(lines) == 5


def test_nothing_but_names() -> None:
    rows = pa.RecordBatch.from_arrays([pa.array([], pa.string())], names=["name"])
    assert list(text_table(rows)) == ["name", "----"]


@pytest.mark.parametrize(
    ("data_type", "right"),
    [(pa.int8(), True), (pa.float32(), True), (pa.decimal128(4, 2), True), (pa.string(), False)],
)
def test_numbers_stand_at_the_right(data_type: pa.DataType, right: bool) -> None:
    assert to_the_right(data_type) == right
    assert not to_the_right(pa.date32())


def test_the_views_that_a_step_changed() -> None:
    with pipeline() as p:
        p.insert("votes", [(7, 1)] * 2 + [(user, 2) for user in range(TABLE_ROWS)])
        lines = list(view_tables(p, p.step()))
        assert lines[:5] == [
            "step 1: all_votes, 20 of 22 rows",
            "user_id  story_id",
            "-------  --------",
            "      0         2",
            "      1         2",
        ]
        assert lines[10:13] == ["      7         1"] * 2 + ["      7         2"]
        assert lines[3 + TABLE_ROWS :] == [
            "step 1: counts",
            "story_id   n",
            "--------  --",
            "       1   2",
            "       2  20",
        ]
        assert list(view_tables(p, p.step())) == []
