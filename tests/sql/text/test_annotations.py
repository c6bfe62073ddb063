"""LATENESS: the clauses as written, and what their amounts mean for a column."""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.columns.forms.months import MONTHS
from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.circuits.progress.percentile import Percentile
from dbsp.sql.plans.nodes import Values
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.text.annotations import (
    LatenessStatement,
    check_ordered,
    constant_value,
    lateness_amount,
    lateness_clause,
)
from dbsp.sql.text.tokens import Slice
from tests.sql.text.reading import cursor_over, only, source_of

TIME, DAY = pa.timestamp("us", tz="UTC"), timedelta(days=1)
AMOUNT = Slice("AMOUNT", 5)
SOURCE = source_of("late AMOUNT")


def constant(value: Any, data_type: pa.DataType) -> Plan:
    """The plan of SELECT constant."""
    return Values(((Literal(value, data_type),),), (Field("c", data_type),))


def amount(value: Any, data_type: pa.DataType, column: pa.DataType) -> Any:
    return lateness_amount(SOURCE, AMOUNT, constant(value, data_type), column, "lateness")


def test_a_percentile_counts_rows() -> None:
    clause = lateness_clause(cursor_over("PERCENTILE 2.5 OVER 1e3 ROWS EVERY 1 ROW MAX JUMP INTERVAL 1 DAY"))
    assert clause.percentile == Percentile(Decimal("2.5"), 1000, 1)
    assert clause.amount.text == "PERCENTILE 2.5 OVER 1e3 ROWS EVERY 1 ROW"
    assert clause.jump is not None
    assert clause.jump.text == "INTERVAL 1 DAY"


def test_a_constant_ends_at_the_next_clause_and_not_inside_parentheses() -> None:
    clause = lateness_clause(cursor_over("(f(1, 2) + DEFAULT) * 3 NOT NULL"))
    assert (clause.amount.text, clause.jump, clause.percentile) == ("(f(1, 2) + DEFAULT) * 3", None, None)


@pytest.mark.parametrize("word", ["DECREASING", "DESC", "descending"])
@pytest.mark.parametrize("amount", ["0", "INTERVAL '1' HOUR", "PERCENTILE 5 OVER 9 ROWS", "3 ROWS"])
def test_of_a_column_whose_values_fall(word: str, amount: str) -> None:
    clause = lateness_clause(cursor_over(f"{amount} {word} MAX JUMP 7 NOT NULL"))
    assert clause.decreasing
    assert clause.amount.text == amount
    assert clause.jump is not None
    assert clause.jump.text == "7"
    assert not lateness_clause(cursor_over(f"{amount} MAX JUMP 7")).decreasing


def test_of_a_views_column() -> None:
    found = only("LATENESS `v w`.ts INTERVAL 1 HOUR")
    assert isinstance(found, LatenessStatement)
    assert (found.relation, found.column, found.clause.amount.text) == ("v w", "ts", "INTERVAL 1 HOUR")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("PERCENTILE 101 OVER 5 ROWS", "1:12: PERCENTILE 101 is not from 0 to 100"),
        ("PERCENTILE -1 OVER 5 ROWS", "1:12: PERCENTILE -1 is not from 0 to 100"),
        ("PERCENTILE x OVER 5 ROWS", "1:12: expected a percentile, found 'x'"),
        ("PERCENTILE 5 OVER 0 ROWS", "1:19: OVER 0 ROWS: give a whole number of rows, at least 1"),
        ("PERCENTILE 5 OVER 9 ROWS EVERY 1.5 ROWS", "1:32: EVERY 1.5 ROWS: give a whole number of rows"),
        ("PERCENTILE 5 OVER 9", "1:20: expected ROWS, found the end"),
        ("TIMESTAMP 'now'", "1:1: TIMESTAMP 'now' would stay what it is when the program is compiled"),
    ],
)
def test_clauses_that_say_nothing(text: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        lateness_clause(cursor_over(text))
    assert str(raised.value).startswith(f"p.sql:{error}")


@pytest.mark.parametrize(
    ("value", "data_type", "column", "expected"),
    [
        (timedelta(seconds=4), pa.duration("us"), TIME, 4_000_000),
        (2 * DAY, pa.duration("us"), pa.date32(), 2),
        (3, pa.int32(), pa.date32(), 3),
        (Decimal("3.00"), pa.decimal128(3, 2), pa.int64(), 3),
        (1, pa.int32(), pa.decimal128(10, 2), Decimal(1)),
        (Decimal("0.25"), pa.decimal128(3, 2), pa.float64(), 0.25),
    ],
)
def test_amounts_are_in_the_units_of_the_column(
    value: Any, data_type: pa.DataType, column: pa.DataType, expected: Any
) -> None:
    found = amount(value, data_type, column)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("value", "data_type", "column", "message"),
    [
        (1, pa.int32(), TIME, "lateness of a timestamp is an interval of fixed length, as INTERVAL 4 SECO"),
        (DAY / 2, pa.duration("us"), pa.date32(), "lateness of a date is a number of days"),
        (DAY, pa.duration("us"), pa.int64(), "lateness of a number is a number of its type, not AMOUNT"),
        (Decimal("0.5"), pa.decimal128(2, 1), pa.int64(), "lateness of a number is a number of its type"),
        (Decimal("0.005"), pa.decimal128(4, 3), pa.decimal128(10, 2), "lateness of a number is a number"),
        (True, pa.bool_(), pa.int64(), "lateness of a number is a number of its type"),
        (-1, pa.int32(), pa.int64(), "lateness AMOUNT is negative; zero means in order"),
        (math.nan, pa.float64(), pa.float64(), "lateness AMOUNT is no finite number"),
        (math.inf, pa.float64(), pa.int64(), "lateness AMOUNT is no finite number"),
        (None, pa.int32(), pa.int64(), "'AMOUNT' is no constant of fixed length"),
        (timedelta(seconds=1), MONTHS, TIME, "'AMOUNT' is no constant of fixed length"),
    ],
)
def test_amounts_of_no_meaning(value: Any, data_type: pa.DataType, column: pa.DataType, message: str) -> None:
    with pytest.raises(ProgramError) as raised:
        amount(value, data_type, column)
    assert str(raised.value).startswith(f"p.sql:1:6: {message}")


def test_only_what_is_ordered_can_be_late() -> None:
    for column in (TIME, pa.date32(), pa.int8(), pa.decimal128(5, 2), pa.float64()):
        check_ordered(SOURCE, AMOUNT, column)
    with pytest.raises(ProgramError, match="1:6: a column of type string can't have LATENESS"):
        check_ordered(SOURCE, AMOUNT, pa.string())


def test_what_is_computed_is_no_constant() -> None:
    call = Call("rand", (), pa.float64())
    assert constant_value(Values(((call,),), (Field("c", pa.float64()),))) is None
    assert constant_value(constant(1.5, pa.float64())) == 1.5
