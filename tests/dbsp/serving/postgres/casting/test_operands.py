"""What a cast is of, and what is known of its type."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.serving.postgres.casting.operands import Columns, operand_start
from dbsp.serving.postgres.language.spelling import spark_text, statements
from dbsp.sql.plans.schemas import Field

VIEWS = {
    "v": (
        Field("id", pa.int64(), False),
        Field("small", pa.int16(), False),
        Field("price", pa.decimal128(10, 2), True),
        Field("rate", pa.float64(), True),
    ),
    "w": (Field("id", pa.int32(), False),),
}


@pytest.mark.parametrize(
    ("said", "operand"),
    [
        ("SELECT a + b.c", "b.c"),
        ("SELECT - 1.5", "1.5"),
        ("SELECT a AND (b + c)", "(b + c)"),
        ("SELECT a + f(b, (c))", "f(b, (c))"),
        ("SELECT s.f(b)", "s.f(b)"),
        ("SELECT sum(a) OVER (PARTITION BY (b))", "sum(a) OVER (PARTITION BY (b))"),
        ("SELECT a.b[f(1)][2]", "a.b[f(1)][2]"),
        ("SELECT 1 + CASE WHEN a THEN CASE WHEN b THEN 1 END ELSE 2 END", None),
        ("SELECT x IN (1, 2)", "(1, 2)"),
        ("(a)", "(a)"),
        (")", ")"),
    ],
)
def test_operands(said: str, operand: str | None) -> None:
    (words,) = statements(said)
    found = spark_text(words[operand_start(words, len(words) - 1, {}) :])
    assert found == (operand or "CASE WHEN a THEN CASE WHEN b THEN 1 END ELSE 2 END")


def test_what_was_cast_before() -> None:
    (words,) = statements("SELECT a + b::double precision")
    assert operand_start(words, len(words) - 1, {len(words) - 1: 3}) == 3


@pytest.mark.parametrize(
    ("said", "of", "digits"),
    [
        ("FROM v", "price", (10, 2)),
        ("FROM v", "v.price", (10, 2)),
        ("FROM v", "small", (5, 0)),
        ("FROM v", "count(*)", (20, 0)),
        ("FROM v", "count(DISTINCT rate)", (20, 0)),
        ("FROM v", "sum(DISTINCT price)", (20, 2)),
        ("FROM v", "sum(small)", (20, 0)),
        ("FROM v", "max(price)", (10, 2)),
        ("FROM v", "rate", None),
        ("FROM v", "avg(price)", None),
        ("FROM v", "price + 1", None),
        ("FROM v JOIN w", "id", None),
        ("FROM w", "id", (10, 0)),
        ("FROM (SELECT rate AS price FROM v)", "price", None),
        ("FROM (SELECT rate price FROM v)", "price", None),
        ("FROM (SELECT f(rate) price FROM v)", "price", None),
        ("FROM x", "price", None),
    ],
)
def test_decimals_that_hold_a_column(said: str, of: str, digits: tuple[int, int] | None) -> None:
    (words,), (operand,) = statements(f"SELECT 1 {said}"), statements(of)
    assert Columns(words, VIEWS).decimal_of(operand) == digits
