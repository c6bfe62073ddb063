"""LIMIT and OFFSET are numbers of rows, of whatever type a client has for them."""

from __future__ import annotations

import pytest

from dbsp.serving.postgres.casting.limits import with_limits
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import spark_text, statements
from dbsp.serving.postgres.language.types import FLOAT8, INT2, INT8, NUMERIC, TEXT
from dbsp.serving.postgres.language.wrong import Wrong


def _spark(said: str, *values: Value) -> str:
    (words,) = statements(said)
    text = spark_text(with_limits(words, values), [value.spark for value in values])
    return " ".join(text.split())


@pytest.mark.parametrize("value", [(INT2, "2"), (INT8, "2"), (TEXT, "2"), (NUMERIC, "2.0"), (FLOAT8, "2.0")])
def test_numbers_of_any_type(value: tuple[int, str]) -> None:
    for said in ("LIMIT $1", "LIMIT ($1)", "LIMIT $1::bigint", "LIMIT ($1::INTEGER)::int8"):
        assert _spark(said, Value(*value)).replace("( ", "(") == "LIMIT 2"
    assert (
        _spark("(SELECT 1 LIMIT $1 OFFSET $1 ROWS) x", Value(*value)) == "(SELECT 1 LIMIT 2 OFFSET 2 ROWS) x"
    )


def test_what_isnt_bound_is_all() -> None:
    assert _spark("LIMIT $1 OFFSET $1", Value(INT8, None)) == "LIMIT ALL OFFSET 0"


def test_more_rows_than_there_can_be() -> None:
    assert _spark("LIMIT 1099511627776 OFFSET 3") == "LIMIT ALL OFFSET 3"
    assert _spark("LIMIT 2147483647 OFFSET 2147483647") == "LIMIT ALL OFFSET 1073741823"


def test_what_is_said_otherwise_stays() -> None:
    for said in ("LIMIT ALL", "LIMIT 1 + 1", "LIMIT (1 + 1)", "a.limit = 5", "LIMIT", "OFFSET ("):
        assert _spark(said) == said


def test_what_is_no_number_of_rows_is_said() -> None:
    with pytest.raises(Wrong, match="LIMIT -2: give a number of rows from 0 on") as wrong:
        _spark("LIMIT $1", Value(INT8, "-2"))
    assert (wrong.value.code, wrong.value.position) == ("2201W", 7)
    for text in ("1.5", "x", "NaN"):
        with pytest.raises(Wrong, match=f"OFFSET {text}: give a whole number of rows"):
            _spark("OFFSET $1", Value(TEXT, text))
