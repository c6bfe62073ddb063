"""A pipeline in a notebook: what it says of its views and sinks."""

from __future__ import annotations

from datetime import UTC, datetime

from dbsp.views.explained.summary import closed, shown
from tests.dbsp.build import pipeline


def test_views_with_their_rows_after_the_last_step() -> None:
    with pipeline() as p:
        p.insert("votes", [(1, 7), (1, 7), (2, 8)])
        p.step(clock=datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
        p.delete("votes", [(1, 7)])
        p.step(clock=datetime(2026, 3, 1, 9, 31, tzinfo=UTC))
        html = p._repr_html_()
        assert ">program.sql, step 2, 2026-03-01 09:31:00 UTC</caption>" in html
        for view, rows in {"all_votes": 2, "counts": 2, "customers": 0}.items():
            assert f'>{view}</td><td style="text-align: right">{rows}</td>' in html
        assert "undelivered" not in html
    assert p._repr_html_() == "<p>program.sql, closed</p>"


def test_sinks_that_lack_steps_are_named_and_nothing_is_markup() -> None:
    html = shown("<b>", 3, None, {}, {"there": 0, "<i>": 2})
    assert ">&lt;b&gt;, step 3</caption>" in html
    assert '>&lt;i&gt;</td><td style="text-align: right">2</td>' in html
    assert "there" not in html
    assert closed("<b>") == "<p>&lt;b&gt;, closed</p>"
