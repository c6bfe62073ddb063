"""Functions in Python are made known to Catalyst by their names and types."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import Error
from dbsp.circuits.expressions.nodes import Call
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.sql.compiler.registered import declare_function
from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.plans.declared import Declared
from dbsp.sql.plans.nodes import Aggregate, Project
from tests.oracles.recorded_catalyst import Recorded
from tests.sql.recorded import check_program_refused, compiled
from tests.sql.text.reading import source_of

TABLE = "CREATE TABLE t (a BIGINT); "
VIEW = "CREATE VIEW v AS SELECT twice(a) AS x FROM t"


def function(name: str = "twice", types: str = "x BIGINT", result: str = "BIGINT") -> str:
    return f"CREATE FUNCTION {name}({types}) RETURNS {result} LANGUAGE PYTHON AS $$ return 2 * x $$; "


def declared(name: str = "twice", data_type: str = "BIGINT") -> Declared:
    return Declared((data_type,), "BIGINT", PythonFunction(name, "values", False, "an identity", b"pickled"))


def test_a_call_carries_the_function() -> None:
    program = compiled(TABLE + function() + VIEW)
    plan = program.views["v"].plan
    assert isinstance(plan, Project)
    (call,) = plan.expressions
    assert isinstance(call, Call)
    own = call.option("function")
    assert isinstance(own, PythonFunction)
    assert (call.function, own.name, own.style) == ("python_function", "twice", "values")
    assert program.functions == ()  # all of it is in the text


def test_an_aggregate_is_one_of_groups() -> None:
    text = function().replace("FUNCTION", "AGGREGATE FUNCTION").replace("2 * x", "len(x)")
    plan = compiled(TABLE + text + VIEW).views["v"].plan
    (group,) = [plan] if isinstance(plan, Aggregate) else plan.inputs
    assert isinstance(group, Aggregate)
    assert [call.called for call in group.aggregates] == ["twice"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (function() + function("Twice"), "1:130: function 'Twice' is defined twice"),
        (function("abs"), "1:44: 'abs' is a function of Spark's; choose another name"),
        (function(types="x VARIANT"), "1:44: function 'twice': functions in Python take no VARIANT"),
        (function(result="BIGNT"), '1:68: Unsupported data type "BIGNT"'),
        (function().replace("return 2 *", "return (2 *"), "1:94: function 'twice': '(' was never closed"),
    ],
)
def test_refused(text: str, error: str) -> None:
    check_program_refused(TABLE + text + VIEW, error)


def scope_of(data_type: str, known: object, registered: bool = True) -> Scope:
    """In which Catalyst says this of a type and of the function."""
    answers = {
        '["column_type", "BIGINT"]': "long",
        f'["column_type", "{data_type}"]': known,
        '["register_function", "twice", ["long"], "long", false]': registered,
    }
    return Scope(source_of(""), Recorded(answers), frozenset(), frozenset())  # type: ignore[arg-type]  in its place


def test_a_function_from_python_is_kept_beside_the_text() -> None:
    scope = scope_of("BIGINT", "long")
    declare_function(scope, declared())
    assert scope.functions.declared == [declared()]
    assert scope.functions.by_name == {"twice": declared().python}


@pytest.mark.parametrize(
    ("data_type", "known", "registered", "error"),
    [
        ("BIGNT", {"error": {}}, True, "function 'twice': 'BIGNT' is no type of Spark's"),
        (
            *("VARIANT", "variant", True),
            "function 'twice': functions in Python take no VARIANT, and make none; give it to_json(v), and "
            "parse_json what it returns",
        ),
        ("BIGINT", "long", False, "'twice' is a function of Spark's; choose another name"),
    ],
)
def test_one_from_python_has_no_place_in_the_program(
    data_type: str, known: object, registered: bool, error: str
) -> None:
    with pytest.raises(Error) as raised:
        declare_function(scope_of(data_type, known, registered), declared(data_type=data_type))
    assert str(raised.value) == error
