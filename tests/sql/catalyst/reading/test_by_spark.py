"""What Spark is given to evaluate, and what it can't be given."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.functions.spark.expression import NAME
from dbsp.sql.catalyst.reading.by_spark import given_to_spark
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Slice
from tests.circuits.functions.catalogue.evaluated import ROWS
from tests.oracles.against_spark import AgainstSpark

TEXT = "f(g(k), h(m))"


def _node(class_: str, number: int, *children: Any, type_: int = 0, **options: Any) -> Any:
    return {"c": class_, "t": type_, "n": True, "d": True, "x": number, "k": [*children], "o": options}


K = {"c": "AttributeReference", "t": 0, "n": True, "d": True, "id": 7, "name": "k", "k": []}


def _query(answer: Any) -> Query:
    return Query(as_it_is(TEXT, "f.sql"), Slice(TEXT, 0), ["string", "variant"], portable=lambda _: answer)


def test_arguments_are_found_by_their_places() -> None:
    inner = _node("H", 2, K)
    node = _node("F", 0, _node("G", 1, K, type_=1), inner)
    given = given_to_spark(
        _query({"arguments": [[0, 0], [1]], "serialized": "AAE=", "jar": "L2Eu"}), node, "f"
    )
    assert not isinstance(given, str)
    function, arguments = given
    assert (function.name, function.serialized, function.jar) == ("f", b"\0\1", "/a.")
    assert arguments == [K, inner]


def test_an_identity_is_of_what_is_computed() -> None:
    answer = {"arguments": [[0, 0]], "serialized": "AAE=", "jar": ""}

    def identity(node: Any) -> str:
        given = given_to_spark(_query(answer), node, "f")
        assert not isinstance(given, str)
        return given[0].identity

    one = identity(_node("F", 0, _node("G", 1, K, type_=1), a="Evaluator@1f2e"))
    assert one == identity({**_node("F", 9, _node("G", 4, K, type_=1), a="Evaluator@77"), "s": [3, 5]})
    assert one != identity(_node("F", 0, _node("H", 1, K, type_=1), a="Evaluator@1f2e"))
    assert one != identity(_node("F", 0, _node("G", 1, K, type_=1), a="Other@1f2e"))


def test_what_can_not_leave_its_plan_says_why() -> None:
    node = _node("F", 0, K)
    assert given_to_spark(_query({"why": "sub-queries"}), node, "f") == "sub-queries"
    without = Query(as_it_is(TEXT, "f.sql"), Slice(TEXT, 0), ["string"])
    assert given_to_spark(without, node, "f") == ""


@pytest.mark.spark
def test_kernels_evaluate_what_they_can(spark: Any) -> None:
    """A variant is no value of ours, so what makes it is evaluated with what reads it; its text is ours."""
    against = AgainstSpark(spark, ROWS)
    call = against.call("variant_get(parse_json(lower(s)), '$.a', 'int')")
    assert call.function == NAME
    (argument,) = call.arguments
    assert isinstance(argument, Call)
    assert argument.function == "lower"
    against.check(
        [
            "transform(a, e -> to_csv(named_struct('e', e, 'i', i)))",
            "filter(a, e -> sentences(s)[0][0] > e::string)",
        ]
    )


@pytest.mark.spark
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("java_method('java.lang.Math', 'abs', k)", "is not deterministic"),
        ("aes_encrypt(s, '0000111122223333')", "'aes_encrypt' is not supported yet with what is random"),
        ("aes_encrypt(s, '0000111122223333', 'CBC')", "with what is random"),
        ("kll_sketch_merge_bigint(s::binary, s::binary)", "with what is random"),
        ("mode(collate(s, 'UTF8_LCASE'))::string", "is not supported yet with mode.. along a collation"),
    ],
)
def test_refused(spark: Any, text: str, why: str) -> None:
    with pytest.raises(ProgramError, match=why):
        compile_program(
            f"CREATE TABLE t (k INT, s STRING); CREATE VIEW v AS SELECT {text} AS x FROM t;", session=spark
        )
