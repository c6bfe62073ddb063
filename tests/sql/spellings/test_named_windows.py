"""A named window with a frame of its own."""

from __future__ import annotations

import pytest

from tests.sql.spellings.respelled import respelled

W = " FROM t WINDOW v AS (ORDER BY x), w AS (PARTITION BY p ORDER BY ts)"


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        (
            "w (RANGE INTERVAL '1' HOUR PRECEDING)",
            "(PARTITION BY p ORDER BY ts RANGE INTERVAL '1' HOUR PRECEDING)",
        ),
        ("(W ROWS 2 PRECEDING)", "(PARTITION BY p ORDER BY ts ROWS 2 PRECEDING)"),
        ("(`v` RANGE 2 PRECEDING)", "(ORDER BY x RANGE 2 PRECEDING)"),
        # Spark's own
        ("w", "w"),
        ("(w)", "(w)"),
        ("(PARTITION BY x ORDER BY y ROWS 2 PRECEDING)", "(PARTITION BY x ORDER BY y ROWS 2 PRECEDING)"),
        ("(u ROWS 2 PRECEDING)", "(u ROWS 2 PRECEDING)"),
    ],
)
def test_its_definition_stands_in_its_place(over: str, expected: str) -> None:
    assert respelled(f"SELECT sum(x) OVER {over}, y{W}").text == f"SELECT sum(x) OVER {expected}, y{W}"


def test_of_several_each_has_its_own() -> None:
    query = f"SELECT sum(a) OVER (w ROWS 1 PRECEDING), max(b) OVER w (ROWS 2 PRECEDING){W}"
    made = "PARTITION BY p ORDER BY ts ROWS"
    assert (
        respelled(query).text
        == f"SELECT sum(a) OVER ({made} 1 PRECEDING), max(b) OVER ({made} 2 PRECEDING){W}"
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("ORDER BY ts PARTITION BY p", "PARTITION BY p ORDER BY ts"),
        ("ORDER BY f(ts, 1) DESC, q PARTITION BY p, (r)", "PARTITION BY p, (r) ORDER BY f(ts, 1) DESC, q"),
        ("ORDER BY ts PARTITION BY p ROWS 2 PRECEDING", "PARTITION BY p ORDER BY ts ROWS 2 PRECEDING"),
        ("ORDER BY ts RANGE 2 PRECEDING", "ORDER BY ts RANGE 2 PRECEDING"),
        ("ORDER BY partition", "ORDER BY partition"),
        ("ORDER BY (x) PARTITION BY FLOOR(ts TO HOUR)", "PARTITION BY date_trunc('HOUR', ts) ORDER BY (x)"),
    ],
)
def test_the_order_may_stand_first(given: str, expected: str) -> None:
    assert respelled(f"SELECT sum(a) OVER ({given}) FROM t").text == f"SELECT sum(a) OVER ({expected}) FROM t"
    query = f"SELECT sum(a) OVER w FROM t WINDOW w AS ({given})"
    assert respelled(query).text == f"SELECT sum(a) OVER w FROM t WINDOW w AS ({expected})"


def test_a_frame_of_its_own_of_what_has_its_order_first() -> None:
    query = "SELECT avg(u) OVER w (RANGE 7 PRECEDING) FROM t WINDOW w AS (ORDER BY ts PARTITION BY p)"
    made = "PARTITION BY p ORDER BY ts"
    assert respelled(query).text == (
        f"SELECT avg(u) OVER ({made} RANGE 7 PRECEDING) FROM t WINDOW w AS ({made})"
    )
