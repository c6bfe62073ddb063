"""A column's clauses stand in any order, each at most once."""

from __future__ import annotations

from decimal import Decimal
from itertools import permutations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.progress.percentile import Percentile
from dbsp.sql.text.column_definitions import check_new, column_definition, name_tokens
from tests.sql.text.reading import cursor_over

CLAUSES = (
    "NOT NULL",
    "PRIMARY KEY",
    "LATENESS INTERVAL 4 SECONDS MAX JUMP INTERVAL 1 DAY",
    "CONSTANT DOMAIN",
    "DEFAULT f(1, 2)",
    "WATERMARK INTERVAL 1 HOUR",
    "COMMENT 'a, NOT NULL)'",
)


def test_in_any_order_they_say_the_same() -> None:
    for clauses in [*permutations(CLAUSES)][::49]:
        column, is_key = column_definition(
            cursor_over(f"`a b` STRUCT<x: INT, y: INT> {' '.join(clauses)}, c")
        )
        assert (column.name, column.type.text, column.start) == ("a b", "STRUCT<x: INT, y: INT>", 0)
        assert column.not_null and is_key and column.constant_domain, clauses
        assert column.lateness is not None and column.lateness.jump is not None
        assert (column.lateness.amount.text, column.lateness.jump.text) == (
            "INTERVAL 4 SECONDS",
            "INTERVAL 1 DAY",
        )
        assert column.watermark is not None
        assert column.watermark.text == "INTERVAL 1 HOUR"
        assert column.default is not None
        assert column.default.text == "f(1, 2)"


def test_without_clauses_nothing_is_promised() -> None:
    cursor = cursor_over("a INT)")
    column, is_key = column_definition(cursor)
    assert not (column.not_null or is_key or column.lateness or column.constant_domain or column.default)
    assert cursor.next.text == ")"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a)", "1:2: column 'a' has no type"),
        ("1 INT)", "1:1: expected a column's name, found '1'"),
        ("a INT UNIQUE)", "1:7: column 'a': unknown clause 'UNIQUE'; a column is name TYPE [NOT NULL]"),
        ("a INT DEFAULT 3 DEFAULT 4)", "1:17: column 'a' has a DEFAULT already"),
        ("a INT LATENESS 3 LATENESS 4)", "1:18: column 'a' has a LATENESS already"),
        ("a INT WATERMARK 3 WATERMARK 4)", "1:19: column 'a' has a WATERMARK already"),
        ("a INT DEFAULT, b INT)", "1:14: DEFAULT needs a constant, as in DEFAULT now()"),
        ("a TIMESTAMP LATENESS)", "1:21: LATENESS needs a constant, as in LATENESS INTERVAL 4 SECONDS"),
    ],
)
def test_refused(text: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        column_definition(cursor_over(text))
    assert str(raised.value).startswith(f"p.sql:{error}")


def test_names_are_the_same_in_either_case() -> None:
    cursor = cursor_over("a INT, A INT)")
    first, _ = column_definition(cursor)
    cursor.expect(",")
    place = cursor.next
    second, _ = column_definition(cursor)
    with pytest.raises(ProgramError, match=r"^p.sql:1:8: column 'A' is defined twice"):
        check_new(cursor, second, [first], place)


def test_a_list_of_names_keeps_their_places() -> None:
    found = name_tokens(cursor_over("(a, `b,c` , d) AS"))
    assert [(token.text, token.start) for token in found] == [("a", 1), ("b,c", 4), ("d", 12)]
    with pytest.raises(ProgramError, match=r"1:4: expected \), found 'b'"):
        name_tokens(cursor_over("(a b)"))


@pytest.mark.parametrize(
    ("clause", "error"),
    [
        ("LATENESS 0 DECREASING", "not supported yet: a column that decreases; its negative doesn't"),
        ("LATENESS 3 FEET", "'FEET' after LATENESS 3; lateness is a constant"),
        ("LATENESS 1.5 ROWS", "LATENESS 1.5 ROWS: give a whole number of rows"),
    ],
)
def test_what_spark_would_read_as_the_numbers_name_is_refused(clause: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        column_definition(cursor_over(f"id BIGINT {clause}, x INT)"))
    assert error in str(raised.value)


def test_rows_that_come_so_many_rows_too_late() -> None:
    column, _ = column_definition(cursor_over("id BIGINT LATENESS 3 ROWS NOT NULL, x INT)"))
    lateness = column.lateness
    assert lateness is not None
    assert lateness.percentile == Percentile(Decimal(100), 4)
