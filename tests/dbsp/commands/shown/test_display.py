"""What a run shows, step by step."""

from __future__ import annotations

import io

import pytest

from dbsp.commands.shown.display import Lines, display
from tests.dbsp.build import pipeline
from tests.dbsp.commands.shown.pipelines import steps


@pytest.fixture
def p():
    with pipeline() as opened:
        yield opened


def lines_of(p, expected):
    out = io.StringIO()
    lines = Lines(p, out, expected)
    for changes in steps(p):
        lines.step(changes)
    return out.getvalue()


def test_a_line_a_step_where_nothing_can_be_redrawn(p):
    first, second = lines_of(p, 2).splitlines()
    assert first.startswith("step 1 (1 of 2)   3 rows   ")
    assert "all_votes 3   counts 2   customers 0" in first
    assert second.startswith("step 2 (2 of 2)   4 rows   ")
    assert "all_votes 2   counts 2" in second


def test_a_pipe_gets_lines_for_a_live_table(p, capsys):
    with display("live-table", p, None) as view:
        for changes in steps(p):
            view.step(changes)
    assert len(capsys.readouterr().out.splitlines()) == 2
