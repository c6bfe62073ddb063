"""Expressions are values: equal where they mean the same, and rewritten column by column."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.expressions.nodes import (
    Call,
    Column,
    Expression,
    Literal,
    Variable,
    columns_of,
    remap,
    substitute,
)

INT, DOUBLE = pa.int64(), pa.float64()
leaves = st.one_of(
    st.builds(Column, st.integers(0, 3), st.just(INT)),
    st.builds(Literal, st.one_of(st.none(), st.integers(-2, 2)), st.just(INT)),
    st.builds(Variable, st.integers(0, 1), st.just(INT)),
)
expressions = st.recursive(
    leaves,
    lambda inner: st.builds(
        Call, st.sampled_from(["add", "negate"]), st.lists(inner, max_size=2).map(tuple), st.just(INT)
    ),
    max_leaves=6,
)


@given(expressions)
def test_a_copy_is_the_same_value(expression: Expression) -> None:
    copy = pickle.loads(pickle.dumps(expression))
    assert copy == expression and hash(copy) == hash(expression) and str(copy) == str(expression)


@given(expressions, st.permutations(range(4)))
def test_reordering_columns_and_back(expression: Expression, order: list[int]) -> None:
    there = dict(enumerate(order))
    moved = remap(expression, there)
    assert [there[i] for i in columns_of(expression)] == list(columns_of(moved))
    assert remap(moved, {new: old for old, new in there.items()}) == expression


@given(expressions)
def test_what_stands_in_place_of_columns_reads_what_it_reads(expression: Expression) -> None:
    doubled = substitute(expression, lambda c: Call("add", (c, Column(9, INT)), INT))
    read = list(columns_of(expression))
    assert list(columns_of(doubled)) == [i for column in read for i in (column, 9)]
    assert substitute(expression, lambda c: c) == expression


def test_constants_are_equal_by_spelling() -> None:
    nan = float("nan")
    assert Literal(nan, DOUBLE) == Literal(float("nan"), DOUBLE)
    assert Literal(0.0, DOUBLE) != Literal(-0.0, DOUBLE)
    assert Literal(1, INT) != Literal(1, pa.int32())
    assert Literal(1, INT) != Literal(True, INT)
    assert len({Literal(nan, DOUBLE), Literal(nan, DOUBLE), Literal(0.0, DOUBLE), Literal(-0.0, DOUBLE)}) == 3
    assert Literal(None, INT).nullable and not Literal(0, INT).nullable


def test_spelling_for_people_says_nothing() -> None:
    plain = Call("add", (Column(0, INT), Literal(1, INT)), INT)
    written = Call("add", (Column(0, INT), Literal(1, INT)), INT, text="a + 1")
    assert plain == written and hash(plain) == hash(written)
    assert (str(plain), str(written)) == ("add(#0, 1)", "a + 1")
    assert Variable(0, INT, name="x") == Variable(0, INT, name="y")
    assert (str(Variable(0, INT, name="x")), str(Variable(2, INT)), str(Literal(None, INT))) == (
        "x",
        "$2",
        "NULL",
    )


@pytest.mark.parametrize(("name", "value"), [("evalMode", "ANSI"), ("timeZoneId", None)])
def test_options(name: str, value: object) -> None:
    call = Call("cast", (), INT, True, (("evalMode", "ANSI"),))
    assert call.option(name) == value
    assert call.option("absent", 7) == 7
    assert call != Call("cast", (), INT)
