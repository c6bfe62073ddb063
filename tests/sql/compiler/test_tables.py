"""CREATE TABLE and LATENESS as they are compiled: keys, defaults, and amounts in a column's units."""

from __future__ import annotations

import pytest

from dbsp.circuits.expressions.nodes import Column, Literal
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans.program import ColumnLateness, Program
from tests.sql.recorded import check_program_refused, compiled

VIEW = "; CREATE VIEW v AS SELECT * FROM t"


def program_of(columns: str, rest: str = "") -> Program:
    return compiled(f"CREATE TABLE t ({columns}){VIEW}{rest}")


def test_keys_are_by_name_and_never_null() -> None:
    table = program_of("id BIGINT, `K` STRING, n INT NOT NULL, PRIMARY KEY (k, ID)").tables["t"]
    assert table.primary_key == ("K", "id")
    assert [(field.name, field.nullable) for field in table.schema] == [
        ("id", False),
        ("K", False),
        ("n", False),
    ]


def test_defaults_are_constants_of_the_columns_type_or_of_the_clock() -> None:
    table = program_of("a BIGINT DEFAULT 1 + 2, s STRING DEFAULT 'x', ts TIMESTAMP DEFAULT now()").tables["t"]
    number, text, time = table.defaults
    assert (number.column, number.value) == (0, Literal(3, table.schema[0].type))
    assert text.value == Literal("x", table.schema[1].type)
    assert time.value == Column(0, CLOCK.type, False)
    assert not any(field.nullable for field in table.schema)


def test_lateness_is_in_the_columns_units() -> None:
    program = program_of("ts TIMESTAMP LATENESS INTERVAL 4 SECONDS MAX JUMP INTERVAL 1 DAY, n INT LATENESS 5")
    assert program.tables["t"].lateness == (
        ColumnLateness(0, 4_000_000, 86_400_000_000),
        ColumnLateness(1, 5, None),
    )
    assert "late_rows" in program.views


def test_lateness_of_a_views_columns() -> None:
    program = program_of("n INT, m INT", "; LATENESS v.m 3; LATENESS v.N 0")
    assert program.views["v"].lateness == (ColumnLateness(1, 3, None), ColumnLateness(0, 0, None))


def test_domains_and_promises() -> None:
    text = "CREATE TABLE t (a INT CONSTANT DOMAIN, b INT) WITH (append_only = true, unchecked = true)" + VIEW
    table = compiled(text).tables["t"]
    assert (table.constant_domain, table.append_only, table.unchecked) == (("a",), True, True)


@pytest.mark.parametrize(
    ("columns", "rest", "error"),
    [
        ("a INT, PRIMARY KEY (b)", "", "1:14: PRIMARY KEY of 't' names an unknown column 'b'; columns: a"),
        ("a INT PRIMARY KEY DEFAULT 3", "", "1:43: column 'a' is of the PRIMARY KEY, which every row says"),
        (
            "a INT DEFAULT b + 1, b INT",
            "",
            "1:31: DEFAULT b + 1 of column 'a' is no constant; it is one, or made of",
        ),
        ("a INT DEFAULT 'x'", "", "1:31: The value 'x' of the type \"STRING\" cannot be cast"),
        ("ts TIMESTAMP LATENESS 5", "", "1:39: lateness of a timestamp is an interval of fixed length"),
        ("ts TIMESTAMP LATENESS k", "", "1:39: 'k' is no constant of fixed length; lateness is one"),
        (
            "s STRING LATENESS PERCENTILE 5 OVER 9 ROWS",
            "",
            "1:35: a column of type string can't have LATENESS",
        ),
        ("n INT", "; LATENESS v.n 3; LATENESS v.n 4", "1:84: column 'n' of 'v' has a LATENESS already"),
    ],
)
def test_refused(columns: str, rest: str, error: str) -> None:
    check_program_refused(f"CREATE TABLE t ({columns}){VIEW}{rest}", error)


def test_a_char_is_noted_as_what_it_is() -> None:
    (note,) = program_of("a CHAR(4), b VARCHAR(4), c STRING").notes
    assert "p.sql:1:19: column 'a' of 't': CHAR(4) is STRING: nothing pads it with blanks" in note
