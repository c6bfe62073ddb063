"""Watermarks of a query, as it calls them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.progress.percentile import Percentile
from dbsp.sql.spellings.watermarks import watermarks_in
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Slice


def found(call: str) -> list[tuple[str, str, str, Percentile | None]]:
    source = as_it_is(f"SELECT * FROM {call} e", "p")
    listed = watermarks_in(source, Slice(source.text, 0))
    return [(one.relation, one.column, one.clause.amount.text, one.clause.percentile) for one in listed]


@pytest.mark.parametrize(
    "call",
    [
        "max_diff_watermark(source=>TABLE(event), max_diff=>INTERVAL 5 SECOND, time_field=>DESCRIPTOR(time))",
        "max_diff_watermark(source=>TABLE(event), time_field=>DESCRIPTOR(e.time), offset=>INTERVAL 5 SECOND)",
        "MAX_DIFF_WATERMARK(TABLE `event`, INTERVAL 5 SECOND, DESCRIPTOR(`time`))",
    ],
)
def test_how_far_behind_the_largest_time(call: str) -> None:
    assert found(call) == [("event", "time", "INTERVAL 5 SECOND", None)]


def test_a_percentile_of_the_last_times() -> None:
    call = (
        "percentile_watermark(source=>TABLE(s.events), time_field=>DESCRIPTOR(time), events=>5, "
        "percentile=>2.5, frequency=>3)"
    )
    assert found(call) == [("s.events", "time", "DESCRIPTOR(time)", Percentile(Decimal("2.5"), 5, 3))]
    without = found(call.replace(", frequency=>3", ""))
    assert without[0][3] == Percentile(Decimal("2.5"), 5, 1)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("max_diff_watermark(TABLE(e))", "15: it is max_diff_watermark(source => TABLE(t), max_diff"),
        ("max_diff_watermark(TABLE(e), resolution=>INTERVAL 1 SECOND)", "56: there is no 'resolution' here"),
        (
            "max_diff_watermark(TABLE(SELECT 1), INTERVAL 1 SECOND, DESCRIPTOR(t))",
            "34: a watermark is of a table or view: source => TABLE(name)",
        ),
        ("max_diff_watermark(TABLE(e), INTERVAL 1 SECOND, t)", "63: the column of the time is given as"),
        ("percentile_watermark(TABLE(e), DESCRIPTOR(t), 0, 5)", "61: events is a whole number of rows"),
        ("percentile_watermark(TABLE(e), DESCRIPTOR(t), 5, 105)", "64: percentile 105 is not from 0 to 100"),
        ("percentile_watermark(TABLE(e), DESCRIPTOR(t), n, 5)", "61: a number is expected, as 10, not 'n'"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(call: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        found(call)
    assert str(raised.value).startswith(f"p:1:{error}")
