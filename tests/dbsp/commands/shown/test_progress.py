"""How a run is going: sizes go on from what is there, and paces are of the steps that are recent."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest

from dbsp.commands.shown import progress
from dbsp.commands.shown.display import Lines
from dbsp.commands.shown.progress import RECENT, Progress
from tests.dbsp.build import pipeline
from tests.dbsp.commands.shown.pipelines import steps


@pytest.fixture
def p():
    with pipeline() as opened:
        yield opened


def test_progress_goes_on_from_what_is_there(p):
    list(steps(p))
    out = io.StringIO()
    lines = Lines(p, out, None)
    p.insert("votes", [(9, 9)])
    lines.step(p.step())
    assert out.getvalue().startswith("step 3   1 rows")
    assert "all_votes 3   counts 3" in out.getvalue()


def test_bad_rows_are_shown_once_there_are_some():
    assert Progress({"v": 0, "bad_rows": 0}).shown == {"v": 0}
    assert Progress({"v": 0, "bad_rows": 2}).shown == {"v": 0, "bad_rows": 2}


def step(number, seconds, rows, *weights):
    """Of a view v."""
    delta = SimpleNamespace(zset=SimpleNamespace(weights=np.array(weights, dtype=np.int64)))
    metrics = SimpleNamespace(rows_in={"t": rows}, seconds=seconds, waterlines={})
    changes = {"v": delta}
    return SimpleNamespace(step=number, metrics=metrics, items=changes.items)


def test_sizes_follow_weights_and_the_pace_is_of_recent_steps(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    found = Progress({"v": 7}, expected=300)
    assert (found.p50, found.rate) == (0.0, 0.0)
    for number in range(1, 2 * RECENT + 1):
        now[0] += 1.0 if number <= RECENT else 0.5
        found.add(step(number, 0.5 if number <= RECENT else 0.25, 10, 3, -1))
    assert found.sizes == {"v": 7 + 2 * 2 * RECENT}
    assert found.last == {"v": (3, 1)}
    assert found.p50 == 0.25
    assert found.rate == pytest.approx(20.0)
    assert found.line() == "step 200 (200 of 300)   2,000 rows   20 rows/s   p50 250 ms"


def test_the_first_steps_are_timed_from_the_beginning(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    found = Progress({"v": 0}, _began=100.0)
    now[0] += 4.0
    found.add(step(1, 1.0, 8, 1))
    assert found.rate == pytest.approx(2.0)
