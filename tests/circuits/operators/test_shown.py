"""Operators as people read them: parameters in order, columns by name, what isn't set left out."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.columns.sorting import SortKey
from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.inputs.late import OnTime
from dbsp.circuits.operators.linear import Filter, Map
from dbsp.circuits.operators.operator import Operator
from dbsp.circuits.operators.shown import listed, ordered, parameters, spelled
from dbsp.circuits.operators.streams import Exchange, Integrate
from dbsp.circuits.progress.waterline import Lateness

INT = pa.int64()
NAMES = ["id", "amount", "ts"]
AMOUNT = Column(1, INT)
MORE = Call("greater_than", (AMOUNT, Literal(5, INT)), pa.bool_())


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (Exchange((2, 0)), "by (ts, id)"),
        (Integrate((0,)), "by (id)"),
        (Integrate((0,), order=2), "by (id) ordered by ts"),
        (Integrate((), order=0, gathered=True), "by () ordered by id gathered"),
        (Integrate((0,), sums=(1,), minima=(2,)), "by (id) adding (amount) least (ts)"),
        (Integrate((0,), maxima=(1, 2), nulls_greatest=True), "by (id) greatest (amount, ts) nulls_greatest"),
        (Filter(MORE), "greater_than(amount, 5)"),
        (Map((AMOUNT, Literal(None, INT)), pa.schema([("a", INT), ("b", INT)])), "(amount, NULL)"),
        (OnTime("t", (Lateness("t.ts", 2, INT, 5),)), "t (t.ts)"),
        (Distinct(), ""),
    ],
)
def test_parameters(operator: Operator, expected: str) -> None:
    # rows lie in one place by no column, which isn't left out silently elsewhere
    expected = expected.replace("by () ", "")
    assert parameters(operator, NAMES) == expected


def test_an_expression_s_columns_have_names() -> None:
    ten = [f"c{i}" for i in range(11)]
    assert spelled(Call("add", (Column(1, INT), Column(10, INT)), INT), ten) == "add(c1, c10)"
    assert spelled((Column(0, INT), (Column(2, INT),)), NAMES) == "(id, (ts))"
    assert spelled(Literal("a", pa.string()), NAMES) == "'a'"


def test_the_user_s_own_text_comes_first() -> None:
    assert spelled(Call("greater_than", MORE.arguments, pa.bool_(), text="x > 5"), NAMES) == "x > 5"


def test_columns_and_orders() -> None:
    assert listed(NAMES, ()) == "()"
    assert listed(NAMES, (2, 1)) == "(ts, amount)"
    assert ordered((SortKey(2, descending=True), SortKey(0)), NAMES) == "ts DESC, id"
    assert ordered((), NAMES) == ""
