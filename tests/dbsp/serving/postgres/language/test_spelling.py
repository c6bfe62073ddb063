"""PostgreSQL's lexical rules, said again by Spark's."""

from __future__ import annotations

import re

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import DataError
from dbsp.serving.postgres.language.spelling import parameters_of, spark_text, statements
from dbsp.sql.text.tokens import begins_at
from tests.dbsp.serving.postgres.connected import connected


def _spark(said: str) -> list[str]:
    return [spark_text(words) for words in statements(said)]


def test_names_strings_and_schemas() -> None:
    assert _spark("SELECT \"a b\", 'it''s', E'x\\ny' FROM public.\"v\";") == [
        "SELECT `a b`, 'it\\'s', 'x\ny' FROM `v`"
    ]
    assert _spark("SELECT $$it's$$, $a$x$$y$a$") == ["SELECT 'it\\'s', 'x$$y'"]
    assert _spark("SELECT a::text, b::int8 FROM v -- no; end\n; /* ; */ SELECT 2;;") == [
        "SELECT a::STRING, b::BIGINT FROM v",
        "SELECT 2",
    ]
    assert _spark(" ; -- nothing\n") == []
    assert parameters_of(statements("SELECT $2, $1, '$3'")[0]) == 2
    for number in ("0", "65536", "9" * 5000):
        with pytest.raises(DataError, match=r"parameters are \$1 to \$65535"):
            parameters_of(statements(f"SELECT ${number}")[0])


def test_what_has_no_end_is_said() -> None:
    """Once: a long text of what is opened and never closed isn't searched again and again."""
    for begun in ("'", '"', "`", "/*", "$$", "$a$"):
        with pytest.raises(DataError, match=rf"what begins with {re.escape(begun)} has no end: "):
            statements(f"SELECT {begun}x")
    with pytest.raises(DataError, match="has no end"):
        statements("/* $a$ " * 100_000)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30))
def test_a_string_means_itself(value: str) -> None:
    """Quoted as psycopg quotes it for PostgreSQL, it is read as it was."""
    quoted = psycopg.sql.Literal(value).as_string()
    (words,) = statements(f"SELECT {quoted}")
    assert words[-1].string == value


def test_spark_reads_the_string_as_it_is_meant() -> None:
    with connected() as served:
        values = ["it's", 'a "b"', "\\n", "back\\slash", "x'||'y", "%_", "", "ü\n\t"]
        rows = [{"id": i, "shop": value} for i, value in enumerate(values)]
        served.http.posted("orders", rows)
        for i, value in enumerate(values):
            literal = psycopg.sql.Literal(value).as_string()
            assert served.asked(f"SELECT id FROM latest WHERE shop = {literal} AND id >= 0") == [(i,)]
            assert served.asked(f"SELECT id FROM latest WHERE shop = {literal}") == [(i,)]
            assert served.asked("SELECT id FROM latest WHERE shop = %s AND id >= 0", (value,)) == [(i,)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("DELETE FROM t", "DELETE"),
        ("WITH a AS (SELECT 1), b (x, y) AS (SELECT (1), 2) UPDATE t SET n = 1", "UPDATE"),
        ("with recursive merge(n) as (select ')') (SELECT 1)", "("),
        ("WITH a AS (SELECT 1", "WITH"),
    ],
)
def test_a_statement_begins_after_its_with(text: str, first: str) -> None:
    (words,) = statements(text)
    assert words[begins_at(words)].upper == first
