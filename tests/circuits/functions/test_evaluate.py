"""Evaluation: of the right type, with as many rows, and where it fails it says what and for which row."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, Variable
from dbsp.circuits.functions.evaluate import evaluate, evaluate_value, may_break

INT, TEXT = pa.int64(), pa.string()
ANSI = (("evalMode", "ANSI"),)
A, B = Column(0, INT), Column(1, INT)
number = st.one_of(st.none(), st.integers(-4, 4))


def rows(*pairs: tuple[int | None, int | None]) -> pa.RecordBatch:
    columns = [pa.array([pair[i] for pair in pairs], INT) for i in range(2)]
    return pa.RecordBatch.from_arrays(columns, names=["a", "b"])


def call(name: str, *arguments: Expression, to: pa.DataType = INT, text: str = "") -> Call:
    return Call(name, arguments, to, True, ANSI, text)


@given(st.lists(st.tuples(number, number), max_size=6))
def test_calls_inside_of_calls(pairs: list[tuple[int | None, int | None]]) -> None:
    """(a + b) * a − 3"""
    expression = call("subtract", call("multiply", call("add", A, B), A), Literal(3, INT))
    expected = [None if a is None or b is None else (a + b) * a - 3 for a, b in pairs]
    found = evaluate(expression, rows(*pairs))
    assert found.type == INT and found.to_pylist() == expected


def test_a_constant_is_one_value_until_rows_are_asked() -> None:
    one = Literal(1, INT)
    assert evaluate_value(one, rows((1, 1), (2, 2))) == pa.scalar(1)
    assert evaluate(one, rows((1, 1), (2, 2))).to_pylist() == [1, 1]
    assert evaluate(call("add", one, one), rows((1, 1), (2, 2))).to_pylist() == [2, 2]
    assert evaluate(Literal(None, TEXT), rows((1, 1))).type == TEXT


def test_what_fails_fails_for_no_row() -> None:
    failing = call("integral_divide", Literal(1, INT), Literal(0, INT))
    assert evaluate(failing, rows()).to_pylist() == []
    with pytest.raises(EvaluationError):
        evaluate(failing, rows((1, 1)))


def test_an_error_has_the_innermost_call_and_a_row() -> None:
    inner = call("integral_divide", A, B, text="a div b")
    with pytest.raises(EvaluationError) as raised:
        evaluate(call("add", inner, A), rows((1, 1), (None, 0), (7, 0)))
    message = str(raised.value)
    assert message.startswith("a div b where a=7, b=0: [DIVIDE_BY_ZERO]")
    assert (raised.value.expression, raised.value.row) == ("a div b", 2)


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(AssertionError, match="unregistered function nothing_of_the_kind"):
        evaluate(call("nothing_of_the_kind", A), rows((1, 1)))
    with pytest.raises(AssertionError, match="a lambda's parameter outside of its lambda"):
        evaluate(Variable(0, INT), rows((1, 1)))


# Spark's text of these bytes has a character, what is broken, and another
BROKEN = pa.RecordBatch.from_arrays([pa.array([b"a\xc3z", b"ok", None], pa.binary())], names=["x"])
AS_TEXT = Call("cast", (Column(0, pa.binary()),), TEXT, True, (("evalMode", "ANSI"), ("timeZoneId", "UTC")))


def test_text_that_is_no_utf8() -> None:
    """By characters it is taken as it is, by Java's strings with U+FFFD for what can't be decoded."""
    reversed_ = evaluate(call("reverse", AS_TEXT, to=TEXT), BROKEN)
    assert reversed_.view(pa.binary()).to_pylist()[1:] == [b"ko", None]
    assert sorted(reversed_.view(pa.binary())[0].as_py()) == sorted(b"a\xc3z")
    translated = call("string_translate", AS_TEXT, Literal("a", TEXT), Literal("b", TEXT), to=TEXT)
    assert evaluate(translated, BROKEN).to_pylist() == ["b\ufffdz", "ok", None]


def test_where_bytes_become_text() -> None:
    assert may_break(AS_TEXT) and may_break(call("reverse", AS_TEXT, to=TEXT))
    assert not may_break(Column(0, TEXT)) and not may_break(call("add", A, B))
