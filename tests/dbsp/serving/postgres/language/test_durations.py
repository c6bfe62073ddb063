"""Durations, as settings have them."""

from __future__ import annotations

import pytest

from dbsp.serving.postgres.language.durations import duration_shown, milliseconds


@pytest.mark.parametrize(
    ("said", "count", "shown"),
    [
        ("500ms", 500, "500ms"),
        ("2000", 2000, "2s"),
        (" 1.5 s ", 1500, "1500ms"),
        ("1min", 60_000, "1min"),
        ("90min", 5_400_000, "90min"),
        ("2d", 172_800_000, "2d"),
        ("0", 0, "0"),
    ],
)
def test_said_and_shown(said: str, count: int, shown: str) -> None:
    assert (milliseconds(said), duration_shown(count)) == (count, shown)


@pytest.mark.parametrize("said", ["", "x", "-1", "5 years", "1e3", "25d"])
def test_what_is_none(said: str) -> None:
    assert milliseconds(said) is None
