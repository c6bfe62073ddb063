"""Expressions as a person writes them, with names for positions."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, Variable
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.sql.plans.calls import AggregateCall, SortOrder
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.shown.spelling import spell, spell_call, spell_columns, spell_order
from tests.sql.hand_made import BOOL, INT, call, column, literal, positive

TIME, HOUR = pa.timestamp("us", tz="UTC"), timedelta(hours=1)
STRUCT = pa.struct([("x", INT), ("y z", pa.string())])
SCHEMA = (Field("a", INT), Field("b", INT, False), Field("ts", TIME), Field("s", STRUCT))
A, B, TS, S = Column(0, INT), Column(1, INT), Column(2, TIME), Column(3, STRUCT)


def constant(value: Any, data_type: pa.DataType) -> Literal:
    return Literal(value, data_type)


def shifted(by: timedelta) -> Call:
    return Call("timestamp_add_interval", (TS, constant(by, pa.duration("us"))), TIME)


def pmod(value: Expression, by: int) -> Call:
    return call("pmod", value, literal(by))


@pytest.mark.parametrize(
    ("expression", "spelled"),
    [
        (call("multiply", call("add", A, B), literal(2)), "(a + b) * 2"),
        (call("and", positive(0), call("is_null", A, type_=BOOL), type_=BOOL), "(a > 0) AND a IS NULL"),
        (call("is_not_null", call("add", A, B), type_=BOOL), "(a + b) IS NOT NULL"),
        (call("equal_null_safe", A, literal(None), type_=BOOL), "a <=> NULL"),
        (constant("it's", pa.string()), "'it''s'"),
        (constant(date(2024, 2, 29), pa.date32()), "DATE '2024-02-29'"),
        (constant(datetime(2024, 2, 29, 1), TIME), "TIMESTAMP '2024-02-29 01:00:00'"),
        (Call("cast", (A,), pa.decimal128(10, 2)), "CAST(a AS DECIMAL(10,2))"),
        (Call("get_struct_field", (S,), pa.string(), True, (("ordinal", 1),)), "s.y z"),
        (shifted(HOUR), "ts + 1:00:00"),
        (shifted(-HOUR), "ts - 1:00:00"),
        (call("greatest", call("add", A, B), B), "greatest(a + b, b)"),
        (
            Call(
                "lambda_function",
                (call("add", Variable(0, INT, name="x"), A), Variable(0, INT, name="x")),
                INT,
            ),
            "x -> x + a",
        ),
        (
            Call("lambda_function", (A, Variable(0, INT, name="x"), Variable(1, INT, name="y")), INT),
            "(x, y) -> a",
        ),
        (Call("precise_timestamp_conversion", (TS,), INT), "micros(ts)"),
        (Call("precise_timestamp_conversion", (A,), TIME), "timestamp(a)"),
        (call("subtract", A, pmod(A, 10)), "floor(a to 10)"),
        (call("subtract", A, pmod(call("subtract", A, literal(3)), 10)), "floor(a to 10 from 3)"),
        (
            Call(
                "python", (A,), INT, True, (("function", PythonFunction("mine", "values", False, "", b"")),)
            ),
            "mine(a)",
        ),
    ],
    ids=str,
)
def test_expressions(expression: Expression, spelled: str) -> None:
    assert spell(expression, SCHEMA) == spelled


def test_the_start_of_a_times_window_is_in_hours() -> None:
    micros = Call("precise_timestamp_conversion", (TS,), INT)
    start = Call(
        "precise_timestamp_conversion", (call("subtract", micros, pmod(micros, 3_600_000_000)),), TIME
    )
    assert spell(start, SCHEMA) == "floor(ts to 1:00:00)"


def test_calls_and_orders() -> None:
    total = AggregateCall("sum", (A,), INT, True, positive(1), distinct=True)
    assert spell_call(total, SCHEMA) == "sum(DISTINCT a) FILTER (WHERE b > 0)"
    assert spell_call(AggregateCall("count", (), INT, False), SCHEMA) == "count(*)"
    order = (SortOrder(B, descending=True), SortOrder(call("add", A, B)))
    assert spell_order(order, SCHEMA) == "b DESC, a + b"


def test_columns_with_their_types() -> None:
    assert spell_columns(SCHEMA[:2]) == "a BIGINT, b BIGINT NOT NULL"
    assert spell(column(1), SCHEMA) == "b"
