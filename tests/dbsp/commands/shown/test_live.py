"""The picture on a terminal: sizes and changes, the first rows of each view, and no more lines than fit."""

from __future__ import annotations

import io
from dataclasses import replace

import pyarrow as pa
import pytest
from rich.console import Console

from dbsp.circuits.expressions.nodes import Column
from dbsp.commands.shown import ordered_rows
from dbsp.commands.shown.display import progress_of
from dbsp.commands.shown.live import LiveTable
from dbsp.commands.shown.ordered_rows import OrderedRows
from dbsp.sql.plans.calls import SortOrder
from dbsp.views.outputs import output_views
from tests.dbsp.build import pipeline, votes_program
from tests.dbsp.commands.shown.pipelines import steps


@pytest.fixture
def p():
    with pipeline() as opened:
        yield opened


def live(p, expected=None):
    names = output_views(p.program)
    return LiveTable("program.sql", progress_of(p, expected), [OrderedRows(p, name) for name in names])


def drawn(table, height=50):
    console = Console(file=io.StringIO(), width=80)
    console.print(table.draw(height))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_live_table_names_views_sizes_and_changes(p):
    table = live(p, 2)
    for changes in steps(p):
        table.step(changes)
    lines = drawn(table)
    assert ["counts", "2", "+1", "−1"] in [line.split() for line in lines]
    assert lines[1].startswith("step 2 (2 of 2)")
    assert "━" in lines[2]


def test_waterlines_stand_under_the_views(p):
    table = live(p)
    table.progress.waterlines = {"event.at": "2024-01-01 10:00:00", "event.x": None, "NOW()": "2024-01-02"}
    lines = drawn(table)
    assert [line for line in lines if "waterline" in line] == ["waterline of event.at: 2024-01-01 10:00:00"]
    changes = next(iter(steps(p)))
    table.step(changes)
    assert table.progress.waterlines == changes.metrics.waterlines


def ordered(*order):
    """The votes program, of which all_votes has an order."""
    program = votes_program()
    program.views["all_votes"] = replace(program.views["all_votes"], order=order)
    return pipeline(program=program)


FALLING = SortOrder(Column(1, pa.int64()), descending=True, nulls_last=True), SortOrder(Column(0, pa.int64()))


def test_the_live_table_shows_the_first_rows_in_the_views_order():
    with ordered(*FALLING) as p:
        table = live(p)
        p.insert("votes", [(3, None), (1, 1), (2, 5), (4, 5), (4, 5)])
        table.step(p.step())
        lines = drawn(table)
        first = lines.index("all_votes")
        assert [line.split() for line in lines[first + 1 : first + 7]] == [
            ["user_id", "story_id"], ["2", "5"], ["4", "5"], ["4", "5"], ["1", "1"], ["3", "NULL"],
        ]  # fmt: skip
        p.delete("votes", [(4, 5), (1, 1)])
        p.insert("votes", [(9, 9)])
        table.step(p.step())
        lines = drawn(table)
        first = lines.index("all_votes")
        assert [line.split()[0] for line in lines[first + 2 : first + 6]] == ["9", "2", "4", "3"]


@pytest.mark.parametrize("height", [5, 10, 15, 20, 40])
def test_the_live_table_fits_its_terminal(p, height):
    table = live(p, 2)
    p.insert("votes", [(user, user) for user in range(60)])
    table.step(p.step())
    lines = drawn(table, height)
    assert len(lines) <= max(height, 9)
    assert ("all_votes, " in "\n".join(lines)) == (height >= 15)


def test_of_a_view_that_grew_large_the_live_table_says_so_until_it_is_small_again(p, monkeypatch):
    monkeypatch.setattr(ordered_rows, "FEW", 10)
    table = live(p)
    too_many = "all_votes: too many rows to keep in order here; `dbsp query` lists them"
    p.insert("votes", [(user, 1) for user in range(8)])
    table.step(p.step())
    assert "all_votes" in drawn(table)
    p.insert("votes", [(user, 1) for user in range(8, 12)])
    table.step(p.step())
    assert too_many in drawn(table)
    p.delete("votes", [(user, 1) for user in range(2)])
    table.step(p.step())
    assert too_many in drawn(table)  # not back and forth at every step
    p.delete("votes", [(user, 1) for user in range(2, 9)])
    table.step(p.step())
    lines = drawn(table)
    first = lines.index("all_votes")
    assert [line.split()[0] for line in lines[first + 2 : first + 5]] == ["9", "10", "11"]
