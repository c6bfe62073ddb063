"""Casts mean to Spark what they mean to PostgreSQL."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError
from dbsp.serving.postgres.casting.casts import with_casts
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import spark_text, statements
from dbsp.serving.postgres.language.types import BYTEA, FLOAT8, INTERVAL, NUMERIC, TEXT, TIMESTAMP
from dbsp.serving.postgres.language.wrong import Wrong
from dbsp.sql.plans.schemas import Field

VIEWS = {
    "v": (
        Field("price", pa.decimal128(10, 2), True),
        Field("rate", pa.float64(), True),
        Field("raw", pa.binary(), True),
    )
}


def _spark(said: str, *values: Value) -> str:
    (words,) = statements(said)
    text = spark_text(with_casts(words, values, VIEWS), [value.spark for value in values])
    return " ".join(text.split()).replace("( ", "(").replace(" )", ")").replace(" ::", "::")


@pytest.mark.parametrize(
    ("said", "spark"),
    [
        (r"'\x00ff'::bytea", "X'00ff'"),
        (r"CAST('\x00ff' AS bytea)", "(X'00ff')"),
        (r"E'\\x41'::bytea", "X'41'"),
        (r"bytea '\x41'", "X'41'"),
        (r"(('\x41'))::bytea", "X'41'"),
        ("name::bytea", "name::BINARY"),
        ("1.50::numeric", "(1.50BD)"),
        ("-1.5::numeric", "-(1.5BD)"),
        ("'1E-3'::numeric", "(0.001BD)"),
        ("CAST('1' AS numeric(10, 2))", "(CAST((1BD) AS DECIMAL(10, 2)))"),
        ("CAST(-1.5 AS numeric), (-2)::numeric", "((-1.5BD)), (-2BD)"),
        ("(price + 1)::numeric", "(price + 1)::DECIMAL(38, 18)"),
        ("CAST(avg(price) AS NUMERIC)", "CAST(avg(price) AS DECIMAL(38, 18))"),
        ("'1.5'::double precision", "'1.5'::DOUBLE"),
        ("CAST(a AS double precision)", "CAST(a AS DOUBLE)"),
        ("a.b::varchar(3)", "left(CAST(a.b AS STRING), 3)"),
        ("CAST(f(a) AS character varying(3))", "left(CAST(f(a) AS STRING), 3)"),
        ("a::char(3)", "rpad(CAST(a AS STRING), 3, ' ')"),
        ("a::char", "rpad(CAST(a AS STRING), 1, ' ')"),
        ("a::char(3)::varchar(2)", "left(CAST(rpad(CAST(a AS STRING), 3, ' ') AS STRING), 2)"),
        ("a::double precision::text", "a::DOUBLE::STRING"),
        ("CAST(CAST(a AS timestamp with time zone) AS date)", "CAST(CAST(a AS TIMESTAMP) AS DATE)"),
        ("a::timestamp::date", "a::timestamp::DATE"),
        ("timestamp with time zone '2024-01-01'", "CAST('2024-01-01' AS TIMESTAMP)"),
        ("timestamptz '2024-01-01'::date", "CAST('2024-01-01' AS TIMESTAMP)::DATE"),
        ("'10:00:00+02'::time", "CAST('10:00:00' AS TIME)"),
        ("'1 day 02:00'::interval", "INTERVAL '1 02:00:00' DAY TO SECOND"),
        ("interval '1 mon'", "INTERVAL '0-1' YEAR TO MONTH"),
        (
            "INTERVAL '1' DAY + INTERVAL '1-2' YEAR TO MONTH",
            "INTERVAL '1' DAY + INTERVAL '1-2' YEAR TO MONTH",
        ),
        ("date '2024-01-01', timestamp '2024-01-01'", "date '2024-01-01', timestamp '2024-01-01'"),
        ("name, date(a), a.uuid, int(5), 'x' AS text", "name, date(a), a.uuid, int(5), 'x' AS text"),
        ("CAST(a AS ARRAY<INT>)", "CAST(a AS ARRAY<INT>)"),
        ("a::string", "a::string"),
    ],
)
def test_casts(said: str, spark: str) -> None:
    assert _spark(f"SELECT {said}") == f"SELECT {spark}"


def test_numeric_of_a_column_is_its_own() -> None:
    assert _spark("SELECT price::numeric, CAST(rate AS numeric) FROM v") == (
        "SELECT price::DECIMAL(10, 2), CAST(rate AS DECIMAL(38, 18)) FROM v"
    )


def test_parameters() -> None:
    assert _spark("SELECT $1::bytea", Value(TEXT, r"\x41")) == "SELECT X'41'"
    assert _spark("SELECT $1::bytea", Value(BYTEA, r"\x41")) == "SELECT X'41'"
    assert _spark("SELECT $1::numeric", Value(NUMERIC, "1.50")) == "SELECT (1.50BD)"
    assert _spark("SELECT $1::numeric", Value(FLOAT8, "1e-05")) == "SELECT (0.00001BD)"
    assert _spark("SELECT $1::numeric", Value(TEXT, "7")) == "SELECT (7BD)"
    assert _spark("SELECT $1::numeric", Value(NUMERIC, None)) == "SELECT CAST(NULL AS DECIMAL(38, 18))"
    assert _spark("SELECT $1::interval", Value(INTERVAL, "3 days")).endswith("'3 00:00:00' DAY TO SECOND")
    moment = Value(TIMESTAMP, "2024-01-01 10:00:00")
    assert _spark("SELECT $1::time", moment) == "SELECT CAST('2024-01-01 10:00:00' AS TIMESTAMP_NTZ)::TIME"


def test_texts_beside_a_column_of_bytes() -> None:
    assert _spark(r"SELECT 1 FROM v WHERE raw = '\x41' AND name = '\x41'") == (
        r"SELECT 1 FROM v WHERE raw = X'41' AND name = '\\x41'"
    )
    assert _spark(r"INSERT INTO v (raw, rate) VALUES ('\x41', 1), (E'\\x42', '2')") == (
        "INSERT INTO v (raw, rate) VALUES (X'41', 1), (X'42', '2')"
    )
    assert _spark("SELECT 1 FROM v WHERE raw = 'plain'") == "SELECT 1 FROM v WHERE raw = 'plain'"


def test_what_is_no_value_is_said() -> None:
    with pytest.raises(DataError, match="'x' is no number"):
        _spark("SELECT 'x'::numeric")
    with pytest.raises(DataError, match="is no bytea"):
        _spark(r"SELECT '\xz'::bytea")
    with pytest.raises(Wrong, match="nothing in parentheses"):
        _spark("SELECT a::int(5)")
    with pytest.raises(Wrong, match="use date_trunc"):
        _spark("SELECT CAST(a AS timestamp(0))")
