"""Names of types, of one word and of several."""

from __future__ import annotations

import pytest

from dbsp.serving.postgres.language.spelling import statements
from dbsp.serving.postgres.language.type_names import type_at
from dbsp.serving.postgres.language.wrong import Wrong


def _spark(said: str) -> str | None:
    """With how many words are left."""
    (words,) = statements(said)
    named = type_at(words, 0)
    if named is None:
        return None
    named.check(words, 0)
    return f"{named.spark} {len(words) - named.end}"


@pytest.mark.parametrize(
    ("said", "spark"),
    [
        ("double precision", "DOUBLE 0"),
        ("character varying", "STRING 0"),
        ("CHARACTER VARYING(3) x", "STRING 1"),
        ("national character (3)", "STRING 0"),
        ("timestamp with time zone x", "TIMESTAMP 1"),
        ("timestamp (6) WITH TIME ZONE", "TIMESTAMP 0"),
        ("timestamp without time zone", "TIMESTAMP_NTZ 0"),
        ("timestamp(6)", "TIMESTAMP 0"),
        ("time(3) without time zone", "TIME(3) 0"),
        ("time with time zone", "TIME 0"),
        ("numeric(10, 2), x", "DECIMAL(10, 2) 2"),
        ("decimal", "DECIMAL 0"),
        ("float(24)", "FLOAT 0"),
        ("float(53)", "DOUBLE 0"),
        ("float", "DOUBLE 0"),
        ("pg_catalog.int4", "INT 0"),
        ('"char"', "STRING 0"),
        ("interval", "INTERVAL 0"),
        *((name, "STRING 0") for name in ("uuid", "jsonb", "json", "name", "bpchar", "text", "varchar(9)")),
        ("oid", "BIGINT 0"),
    ],
)
def test_postgres_names(said: str, spark: str) -> None:
    assert _spark(said) == spark


@pytest.mark.parametrize(
    "said",
    [
        "string",
        "double",
        "timestamp",
        "timestamp_ntz",
        "array<int>",
        "interval day to second",
        "`uuid`",
        "1",
        ";",
    ],
)
def test_sparks_names_stay(said: str) -> None:
    (words,) = statements(f"{said} ;x")[:1]
    assert type_at(words, 0) is None


def test_what_is_in_parentheses() -> None:
    with pytest.raises(Wrong, match=r"int \(5\): this type has nothing in parentheses"):
        _spark("int (5)")
    with pytest.raises(Wrong, match=r"timestamp\(3\): a moment has 6 digits of a second; use date_trunc"):
        _spark("timestamp(3)")
