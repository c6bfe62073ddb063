"""CREATE FUNCTION: its clauses, and Python text that says itself where it is wrong."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.functions.python.function import Text
from dbsp.sql.text.statements.create_function import CreateFunction, check_body
from tests.sql.text.reading import check_refused, only, source_of

HEAD = "CREATE FUNCTION f(x BIGINT, y MAP<INT, STRING>) RETURNS DECIMAL(5, 2) LANGUAGE PYTHON"


def function(text: str) -> CreateFunction:
    found = only(text)
    assert isinstance(found, CreateFunction)
    return found


def test_without_a_handler_the_text_is_the_body() -> None:
    found = function(f"{HEAD} DETERMINISTIC COMMENT 'twice' AS $$ return x + 1 $$")
    assert [data_type.text for data_type in (*found.types, found.result)] == [
        "BIGINT",
        "MAP<INT, STRING>",
        "DECIMAL(5, 2)",
    ]
    assert isinstance(found.python.code, Text)
    assert found.python.code.load()(2, {}) == 3
    assert (found.python.style, found.python.aggregate) == ("values", False)


def test_with_a_handler_it_is_a_module() -> None:
    found = function(
        "CREATE AGGREGATE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON PARAMETER STYLE ARROW "
        "HANDLER = 'g' AS\n$$\n    one = 1\n    def g(x):\n        return len(x) + one\n$$"
    )
    assert isinstance(found.python.code, Text)
    assert found.python.code.load()([5, 5]) == 3
    assert (found.python.style, found.python.aggregate) == ("arrow", True)


def test_without_a_text_the_handler_names_a_modules_function() -> None:
    text = f"{HEAD} PARAMETER STYLE PANDAS HANDLER 'package.module.g'"
    found = function(text)
    assert (found.handler, found.python.style, found.body) == ("package.module.g", "pandas", None)
    assert text[found.handled :] == "'package.module.g'"


def test_functions_are_one_if_they_compute_the_same() -> None:
    def identity(text: str) -> str:
        return function(text).python.identity

    body = f"{HEAD} AS $$ return x $$"
    assert identity(body) == identity(f"\n\n{HEAD.replace(' f(', ' F(')} COMMENT 'c' AS\n$$ return x $$")
    others = [body.replace("return x", "return y"), body.replace("x BIGINT", "z BIGINT")]
    others.append(body.replace("FUNCTION", "AGGREGATE FUNCTION"))
    assert len({identity(body), *map(identity, others)}) == 4


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "CREATE FUNCTION f AS 'x'",
            "1:19: function 'f' of a class in Java is not supported: CREATE [AGGREGATE]",
        ),
        ("CREATE FUNCTION f() RETURNS INT", "1:19: function 'f' has no parameters, so it is a constant"),
        ("CREATE FUNCTION f(x INT, x INT) RETURNS INT", "1:26: 'x' can't be a parameter's name"),
        ("CREATE FUNCTION f(`a b` INT) RETURNS INT", "1:19: 'a b' can't be a parameter's name"),
        ("CREATE FUNCTION f(x INT) LANGUAGE PYTHON", "1:26: function 'f' has no RETURNS TYPE"),
        (f"{HEAD} AS x", "1:90: function 'f' is not written in Python"),
        ("CREATE FUNCTION f(x INT) RETURNS INT AS $$ 1 $$", "1:41: function 'f' is not written in Python"),
        ("CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE SQL", "1:47: LANGUAGE SQL is not supported"),
        (f"{HEAD} PARAMETER STYLE JSON", "1:103: unknown PARAMETER STYLE JSON; there are ARROW and PANDAS"),
        (f"{HEAD} PARAMETER STYLE ARROW AS $$ 1 $$", "1:112: PARAMETER STYLE ARROW needs HANDLER 'name'"),
        (f"{HEAD} NOT DETERMINISTIC AS $$ 1 $$", "1:87: function 'f' must be DETERMINISTIC"),
        (f"{HEAD} IMMUTABLE", "1:87: unknown clause 'IMMUTABLE'"),
        (f"{HEAD} AS $$ 1 $$ DETERMINISTIC", "1:98: unknown clause 'DETERMINISTIC' after the body"),
    ],
)
def test_refused(text: str, error: str) -> None:
    check_refused(text, error)


@pytest.mark.parametrize(
    ("rest", "error"),
    [
        ("AS $$\n  a = 1\n  return (x\n$$", "3:3: function 'f': '(' was never closed"),
        (
            "HANDLER 'g' AS $$\ndef h(x): pass\n$$",
            "1:102: function 'f': its text defines no 'g', which is its",
        ),
        ("HANDLER 'g' AS $$\n{}['k']\n$$", "1:102: function 'f': its text fails: KeyError('k')"),
        ("HANDLER 'g' AS $$\nimport nowhere_at_all\n$$", "1:102: function 'f': its text fails: ModuleNotFou"),
    ],
)
def test_a_text_that_is_no_function_is_refused_where_it_is_wrong(rest: str, error: str) -> None:
    text = f"{HEAD} {rest}"
    with pytest.raises(ProgramError) as raised:
        check_body(source_of(text), function(text))
    assert str(raised.value).startswith(f"p.sql:{error}")


def test_a_text_that_is_one_passes() -> None:
    text = f"{HEAD} AS 'return x'"
    check_body(source_of(text), function(text))
