"""Operators say what they are."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.linear import Source
from dbsp.circuits.operators.operator import Operator
from dbsp.serving.page.equations import said_of


def test_the_equation_at_the_head_of_the_file() -> None:
    about, equation = said_of(Distinct())
    assert about
    assert "distinct" in equation.lower()
    assert "I(d)" in equation


def test_a_class_speaks_for_itself_where_it_does() -> None:
    about, _ = said_of(Source("t", pa.schema([("x", pa.int64())])))
    assert about == "The delta of a table, as the step was given it."


def test_every_operator_says_something() -> None:
    def kinds(of: type[Operator]) -> set[type[Operator]]:
        return {of} | {found for one in of.__subclasses__() for found in kinds(one)}

    shown = [
        kind
        for kind in kinds(Operator)
        if kind.__module__.startswith("dbsp.") and not kind.__abstractmethods__
    ]
    assert len(shown) > 20
    for kind in shown:
        about, _ = said_of(object.__new__(kind))
        assert about, kind
