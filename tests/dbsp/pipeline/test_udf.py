"""Functions declared in Python: what they are called and made of, and what is none."""

from __future__ import annotations

import re
from typing import Any

import pytest

import dbsp
from dbsp.circuits.errors import Error

LONG = {"returns": "BIGINT", "arguments": ["BIGINT"]}


def test_what_is_declared_is_still_a_function() -> None:
    @dbsp.udf(returns="BIGINT", arguments=["BIGINT", "INT"], style="values")
    def Add(x: int, y: int) -> int:
        return x + y

    assert Add(1, 2) == 3
    declared = Add.declared
    assert (declared.types, declared.result) == (("BIGINT", "INT"), "BIGINT")
    python = declared.python
    assert (python.name, python.style, python.aggregate) == ("Add", "values", False)
    named = dbsp.udaf(**LONG, name="other")(len)
    assert (named.name, named.aggregate) == ("other", True)


def made(constant: int, **options: Any) -> str:
    def f(x: int) -> int:
        return x + constant

    return dbsp.udf(**{**LONG, **options})(f).declared.python.identity


def test_its_identity_is_of_all_that_decides_its_results() -> None:
    """State made with one is not gone on with under another."""
    assert made(1) == made(1)
    others = {made(2), made(1, returns="INT"), made(1, style="values"), made(1, name="g")}
    assert len(others | {made(1)}) == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "a b"}, "'a b' can't be a function's name in SQL: give it one"),
        ({"style": "rows"}, "function 'f': unknown style 'rows'; styles: values, arrow, pandas"),
        ({"arguments": []}, "function 'f' has no arguments, so it is a constant"),
    ],
)
def test_what_is_no_function(options: Any, said: str) -> None:
    with pytest.raises(Error, match=said):
        dbsp.udf(**{**LONG, "name": "f", **options})(lambda x: x)
    with pytest.raises(Error, match="'<lambda>' can't be a function's name"):
        dbsp.udf(**LONG)(lambda x: x)


@pytest.mark.parametrize("given", [len, "add", None])
def test_what_no_decorator_has_made_is_named(given: Any) -> None:
    said = re.escape(f"functions are what @dbsp.udf and @dbsp.udaf make; not {given!r}")
    with pytest.raises(Error, match=said):
        dbsp.Pipeline(sql="CREATE TABLE t (x INT);", functions=[given])
    with pytest.raises(Error, match=said):
        dbsp.plan("p.sql", "state", functions=[given])
