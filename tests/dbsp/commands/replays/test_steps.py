"""What a step of a replay file is made of, and that what it names is there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError
from dbsp.commands.replays.steps import StepOfFile, advance, find_table, find_waterline
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.program import ColumnLateness, Program
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import program, table, view, votes_program

VISIT = (Field("who", pa.int64()), Field("at", pa.timestamp("us", tz="UTC")))


def visits() -> Program:
    """A table whose column `at` has a LATENESS of a second."""
    late = (ColumnLateness(1, 1_000_000, None),)
    return program([replace(table("visit", VISIT), lateness=late)], [view("v", Scan("visit", VISIT))])


def test_a_step_of_neither_rows_nor_advances_is_empty() -> None:
    step = StepOfFile()
    assert step.is_empty
    step.clock = datetime(2024, 1, 1)
    assert step.is_empty
    step.changes["votes"] = []
    assert not step.is_empty


def test_tables_go_by_name_in_any_case() -> None:
    assert find_table("Votes", votes_program(), "d:1").name == "votes"
    with pytest.raises(DataError, match=r"^d:1: unknown table 'vote'; tables: .*did you mean 'votes'"):
        find_table("vote", votes_program(), "d:1")
    with pytest.raises(DataError, match=r"^d:1: 'counts' is a view"):
        find_table("counts", votes_program(), "d:1")


def test_a_waterline_is_of_a_column_with_lateness() -> None:
    found = find_waterline("VISIT", "At", visits(), "d:1")
    assert (found.name, found.type) == ("visit.at", VISIT[1].type)
    with pytest.raises(
        DataError, match=r"^d:1: no LATENESS for 'visit.who' to advance; columns with one: visit.at"
    ):
        find_waterline("visit", "who", visits(), "d:1")


def test_it_moves_to_a_value_of_the_column() -> None:
    one = find_waterline("visit", "at", visits(), "d:1")
    moved = advance(one, "2024-01-01 10:00:00", visits(), "d:1")
    assert moved.value.replace(tzinfo=UTC) == datetime(2024, 1, 1, 10, tzinfo=UTC)
    for value in ("soon", 5, None):
        with pytest.raises(DataError, match=r"^d:1: "):
            advance(one, value, visits(), "d:1")
