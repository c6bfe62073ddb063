"""Dumped expressions as ours: classes become functions, parameters options."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call, Column, Literal, Variable
from dbsp.sql.catalyst.reading.expressions import expression, normalized, under_names_of
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.text.tokens import Slice
from tests.sql.hand_made import INT, column
from tests.sql.recorded import check_rows
from tests.sql.text.reading import source_of

TEXT = "SELECT f(a) + 1"
LONG, BOOLEAN, DAYS, YEARS = range(4)
QUERY = Query(source_of(TEXT), Slice(TEXT, 0), ["long", "boolean", "interval day", "interval year"])


def node(name: str, *children: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {"c": name, "t": LONG, "n": True, "k": [*children], "o": options, "s": [7, 10], "pretty": "f"}


def attribute(id_: int) -> dict[str, Any]:
    return {**node("AttributeReference"), "id": id_, "name": "a"}


def read(dumped: dict[str, Any]) -> Any:
    return expression(QUERY, dumped, {40: 0, 41: 1})


def test_a_class_is_a_function_and_its_parameters_are_options() -> None:
    found = read(
        node(
            "Add", attribute(41), {**node("Literal"), "v": 1}, evalContext={"evalMode": "ANSI", "class": "x"}
        )
    )
    assert found == Call("add", (column(1), Literal(1, INT)), INT, True, (("evalMode", "ANSI"),))
    assert found.text == "f(a)"


def test_what_only_informs_the_optimiser_is_its_child() -> None:
    assert read(node("Alias", node("KnownNullable", attribute(40)))) == column(0)


def test_a_special_answer_comes_first() -> None:
    found = expression(
        QUERY, node("Abs", attribute(7)), {}, lambda n: column(3) if n["c"] == "AttributeReference" else None
    )
    assert isinstance(found, Call)
    assert found.arguments == (column(3),)


def test_parameters_of_lambdas_are_numbered_from_the_outermost() -> None:
    def variable(id_: int, name: str) -> dict[str, Any]:
        return {**node("NamedLambdaVariable"), "id": id_, "name": name}

    inner = node("LambdaFunction", node("Add", variable(1, "x"), variable(2, "y")), variable(2, "y"))
    found = read(node("LambdaFunction", inner, variable(1, "x")))
    x, y = Variable(0, INT), Variable(1, INT)
    assert found.arguments[1] == x
    assert found.arguments[0].arguments == (Call("add", (x, y), INT), y)


@pytest.mark.parametrize(
    ("dumped", "message"),
    [
        (node("NoSuchThing", attribute(40)), "function 'f' is not supported yet: f(a)"),
        (node("OuterReference"), "not supported yet: a correlated subquery of this shape"),
        (node("PythonUDF"), "not supported yet: Python functions registered in a Spark session"),
        (node("Exists"), "not supported yet: an EXISTS subquery that is not correlated"),
    ],
)
def test_refused(dumped: dict[str, Any], message: str) -> None:
    with pytest.raises(ProgramError) as raised:
        read(dumped)
    assert str(raised.value) == f"p.sql:1:8: {message}"


def test_a_cast_of_intervals_says_in_which_parts_they_are_spelled() -> None:
    days = {**node("Literal"), "t": DAYS, "v": 86_400_000_000}
    found = read({**node("Cast", days, evalMode="ANSI", timeZoneId="UTC"), "t": LONG})
    assert found.option("interval") == "interval day"


def test_equal_values_are_equal_bytes() -> None:
    for data_type in (pa.float64(), pa.list_(pa.float32()), pa.struct([("x", pa.float64())])):
        found = normalized(QUERY, node("A"), Column(0, data_type))
        assert isinstance(found, Call), data_type
        assert (found.function, found.type) == ("normalize_na_n_and_zero", data_type)
    assert normalized(QUERY, node("A"), column(0)) == column(0)
    assert under_names_of(INT, column(0)) == column(0)


def test_structs_are_alike_but_for_their_names() -> None:
    mine, other = pa.struct([("x", INT)]), pa.struct([("y", INT)])
    assert under_names_of(mine, Column(0, other)) == Call("fields_renamed", (Column(0, other),), mine)
    assert under_names_of(mine, Column(0, mine)) == Column(0, mine)


def test_rows() -> None:
    check_rows(
        "SELECT CASE WHEN a > 0 THEN b ELSE -c END AS x, coalesce(a, b, 0) AS y, greatest(a, 1) AS z, "
        "a BETWEEN 0 AND 2 AS p, b IN (1, 2, NULL) AS q, a IS NULL OR NOT b > c AS r FROM t"
    )
