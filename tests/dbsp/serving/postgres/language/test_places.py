"""The caret is under what is wrong, however the text was spelled for Spark."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.serving.postgres.language.places import placed
from dbsp.serving.postgres.language.spelling import spark_text, statements
from tests.dbsp.serving.postgres.connected import Served, connected
from tests.dbsp.serving.served import TOKEN


@pytest.mark.parametrize(
    "said",
    [
        "SELECT HERE FROM t",
        "SELECT  /* it's one; or two */\n  'it''s', HERE\nFROM t",
        "HERE",
        "\n\n  SELECT 1; SELECT $1, \"a b\", E'x\\ny', HERE",
        "SELECT $$a\nb$$, public.v.HERE FROM public.v -- HERE it is",
        "SELECT x::int4, 'a\nb', HERE",
    ],
)
def test_a_place_of_the_compiled_text_is_one_of_the_clients(said: str) -> None:
    (*_, words) = statements(said)
    values = ["'a long value'"]
    compiled = spark_text(words, values)
    at = compiled.index("HERE")
    line, column = compiled.count("\n", 0, at) + 1, at - (compiled.rfind("\n", 0, at) + 1) + 1
    wrong = placed(ProgramError(f"query:{line}:{column}: unknown column 'HERE'"), words, values)
    assert wrong.position == said.index("HERE") + 1
    assert (wrong.code, str(wrong)) == ("42703", "unknown column 'HERE'")


def test_what_has_no_place_says_none() -> None:
    (words,) = statements("SELECT * FROM v FOR SYSTEM_TIME AS OF 3 WHERE nope")
    for said in ("nothing is asked", "statement:1:8: no", "query:1:47: no"):
        assert placed(ProgramError(said), words, []).position == 0
    (words,) = statements("SELECT 1")
    assert placed(ProgramError("query:1:99: it ends early"), words, []).position == len("SELECT 1") + 1


@pytest.fixture(scope="module")
def port() -> Any:
    with connected() as served:
        yield served


@pytest.mark.spark
@pytest.mark.parametrize(
    ("said", "at"),
    [
        ("SELECT shop,\n       nope\nFROM turnover", "nope"),
        ("SELECT 'it''s', nope FROM turnover", "nope"),
        ("SELECT * FROM nope", "nope"),
        ("SELECT shop FROM turnover WHERE n > 'a' + + FROM", "FROM"),
        ("SELECT rand(), nope FROM turnover", "nope"),
        ("UPDATE orders SET nope = 1", "nope"),
    ],
)
def test_clients_are_told_the_place(port: Served, said: str, at: str) -> None:
    with port.connect(user="writer", password=TOKEN) as one:
        with pytest.raises(psycopg.Error) as error:
            one.execute(said)
        assert error.value.diag.statement_position == str(said.rindex(at) + 1)
        with pytest.raises(psycopg.Error) as error:
            one.execute(f"SELECT 1;  {said}")
        assert error.value.diag.statement_position == str(said.rindex(at) + 1 + len("SELECT 1;  "))
