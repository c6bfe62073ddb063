"""Dumped expressions as ours.

Any Catalyst class C becomes Call(snake_case(C)) over its children, with the remaining constructor
parameters as options. What the registry of kernels does not know is refused here, where its place is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, Variable
from dbsp.circuits.expressions.registry import snake_case
from dbsp.circuits.functions.library import find
from dbsp.circuits.functions.spark.expression import NAME
from dbsp.sql.catalyst.reading.by_spark import given_to_spark, is_sparks
from dbsp.sql.catalyst.reading.clock import MARK, clock_value
from dbsp.sql.catalyst.reading.literals import broken_text, literal_value
from dbsp.sql.catalyst.reading.query import Node, Query
from dbsp.sql.plans.expressions.intervals import day_time
from dbsp.sql.plans.parameters import parameter
from dbsp.sql.plans.types import UnsupportedType, intervals_in

Special = Callable[[Node], Expression | None]

# of Parameters.java
_LEAST = -16
# They only inform Spark's optimiser, and are the value of their child.
_TRANSPARENT = {
    "Alias",
    "KnownNullable",
    "KnownNotNull",
    "KnownFloatingPointNormalized",
    "KnownNotContainsNull",
    "TempResolvedColumn",
}
# Parameters that say nothing our types and kernels don't.
_SILENT = {"class", "inputTypes", "propagateNull", "returnNullable", "isDeterministic", "hideSeed"}
_REFUSED = {
    "ScalarSubquery": "a scalar subquery here",
    "Exists": "an EXISTS subquery that is not correlated",
    "InSubquery": "IN (SELECT ...) here",
    "OuterReference": "a correlated subquery of this shape",
    "PythonUDF": "Python functions registered in a Spark session",
    "ScalaUDF": "functions registered in a Spark session",
    "GroupingSets": "GROUPING SETS here",
}


def expression(
    query: Query, node: Node, position: Mapping[int, int], special: Special = lambda _: None
) -> Expression:
    """position: Catalyst's expression id → column of the input. special: asked first, at each node.

    Raises ProgramError for what is not covered.
    """
    answer = special(node)
    if answer is not None:
        return answer
    name = node["c"]
    if name == "AttributeReference":
        assert node["id"] in position, (
            f"{node['name']}#{node['id']} is no column of the input: {query.slice.text}"
        )
        return Column(position[node["id"]], query.value_type(node), node["n"])
    if name == "ScalarSubquery" and node["id"] in position:
        return Column(position[node["id"]], query.value_type(node), True)
    if name == "Literal":
        type_ = query.value_type(node)
        if pa.types.is_string(type_) and isinstance(node["v"], dict):
            return broken_text(node["v"])
        try:
            return Literal(literal_value(node["v"], type_), type_)
        except UnsupportedType as error:
            raise query.refuse(node, str(error)) from None
    if name in _TRANSPARENT:
        return expression(query, node["k"][0], position, special)
    if name == MARK:
        return clock_value(query, node)
    if name == "Parameter":
        number, negative = divmod(_LEAST - node["o"]["ordinal"], 2)
        return parameter(number, bool(negative), query.value_type(node), query.spelled(node))
    if name == "ScalaUDF" and node["o"]["udfName"].lower() in {"", *query.functions}:
        return _python_call(query, node, position, special)
    if name in _REFUSED:
        raise query.refuse(node, _REFUSED[name])
    if name == "LambdaFunction":
        return _lambda(query, node, position, special)
    return _call(query, node, position, special)


class _Scope:
    """Where a lambda's parameters have a meaning. variables: by Catalyst's id, this lambda's and those of the
    lambdas around it."""

    def __init__(self, around: Special, query: Query, parameters: list[Node]) -> None:
        self._around = around
        outer = around._variables if isinstance(around, _Scope) else {}
        own = (
            (p["id"], Variable(len(outer) + n, query.value_type(p), p["n"], p["name"]))
            for n, p in enumerate(parameters)
        )
        self._variables: dict[int, Variable] = outer | dict(own)

    def __call__(self, node: Node) -> Expression | None:
        if node["c"] == "NamedLambdaVariable":
            return self._variables[node["id"]]
        return self._around(node)


def _lambda(query: Query, node: Node, position: Mapping[int, int], special: Special) -> Call:
    """`Call("lambda_function", (body, *parameters))`, which only the function it is given to evaluates."""
    body, *parameters = node["k"]
    scope = _Scope(special, query, parameters)
    parts = tuple(expression(query, part, position, scope) for part in (body, *parameters))
    return Call("lambda_function", parts, parts[0].type, parts[0].nullable, text=query.spelled(node))


def _call(query: Query, node: Node, position: Mapping[int, int], special: Special) -> Call:
    children = [child for child in node["k"] if query.spark_type(child) != "object"]
    interval = _interval(query, node)
    if interval is None or not all(map(query.is_a_value, children)):
        return _by_spark(query, node, position, special)
    arguments = [expression(query, child, position, special) for child in children]
    if node["c"] == "TimestampAddInterval":
        arguments = [day_time(one) if isinstance(one, Literal) else one for one in arguments]
    call = Call(
        _function(query, node),
        tuple(arguments),
        query.value_type(node),
        node["n"],
        tuple(sorted((*_options(node), *interval))),
        query.spelled(node),
    )
    if is_sparks(call) or _uncovered(call) is not None:
        return _by_spark(query, node, position, special, call)
    return call


# Spark's plan for it numbers the left rows by uuid(), and of rows as near as each other takes any
_NEAREST = (
    "not supported yet: NEAREST ... BY; write a join and QUALIFY row_number() OVER (PARTITION BY the left "
    "row's key ORDER BY the distance, a key of the right rows) <= k, or of times ASOF JOIN"
)


def _by_spark(
    query: Query, node: Node, position: Mapping[int, int], special: Special, call: Call | None = None
) -> Call:
    """The call as one that Spark evaluates. call: what no kernel covers, where it has values of ours."""
    if node["c"] == "Uuid":  # none that is written comes so far
        raise query.error(node, _NEAREST)
    refused = call is not None and _uncovered(call)
    type_ = query.value_type(node) if call is None else call.type
    return by_spark(query, node, position, type_, special, refused or "")


def by_spark(
    query: Query,
    node: Node,
    position: Mapping[int, int],
    type_: pa.DataType,
    special: Special = lambda _: None,
    refused: str = "",
) -> Call:
    """The node as a call, of that type, that Spark evaluates. refused: why no kernel of ours covers it.

    Raises ProgramError where Spark can't be given it.
    """
    text = query.spelled(node)
    call = Call(_function(query, node), (), type_, node["n"], (), text)
    # of what an expression became: XPathStringEvaluator.evaluate
    name = _named(node, call).removeprefix("static_invoke.").removesuffix("Evaluator.evaluate")
    given = given_to_spark(query, node, name)
    if isinstance(given, str):
        raise _unsupported(query, node, call, refused or (given and f" with {given}"))
    function, inside = given
    arguments = tuple(expression(query, child, position, special) for child in inside)
    return Call(NAME, arguments, type_, node["n"], (("expression", function),), text)


def _python_call(query: Query, node: Node, position: Mapping[int, int], special: Special) -> Expression:
    """See Functions.Stub: a struct of the arguments, each below a call of nothing."""
    (inner,) = node["k"]
    name = node["o"]["udfName"]
    if not name:
        return expression(query, inner, position, special)
    arguments = tuple(expression(query, child, position, special) for child in inner["k"][1::2])
    options = (("function", query.functions[name.lower()]),)
    text = query.spelled(node)
    return Call("python_function", arguments, query.value_type(node), node["n"], options, text)


def check_covered(query: Query, node: Node, call: Call) -> None:
    """Raises ProgramError where no kernel covers the call."""
    why = _uncovered(call)
    if why is not None:
        raise _unsupported(query, node, call, why)


def _unsupported(query: Query, node: Node, call: Call, why: str) -> ProgramError:
    """By the function that the user calls, or by all that is written where that is no call."""
    # what became an invocation of Java has the place of more than itself
    if call.text and not _called(call.text) and node["c"] not in ("StaticInvoke", "Invoke"):
        return query.error(node, f"'{call.text}' is not supported yet{why}")
    shown = f": {call.text}" if call.text else ""
    return query.error(node, f"function '{_named(node, call)}' is not supported yet{why}{shown}")


def _uncovered(call: Call) -> str | None:
    """Why no kernel covers it, after 'not supported yet'; None where one does."""
    function = find(call.function)
    reason = None if function is None else function.refuse(call)
    return "" if function is None else reason and f" with {reason}"


def _named(node: Node, call: Call) -> str:
    """The function as the user calls it: by the text, if that is one call, else as Spark shows it."""
    if called := _called(call.text):
        return called
    if node["c"] == "StaticInvoke":
        return snake_case(node["o"]["functionName"])
    pretty = str(node.get("pretty", ""))
    return call.function if pretty in ("", "invoke", "staticinvoke") else pretty


def _called(text: str) -> str:
    """The function that a text is one call of; '' where it isn't."""
    match = re.match(r"(\w+)\s*\(", text)
    is_call = match is not None and _closes(text, match.end() - 1) == len(text) - 1
    return match[1].lower() if match is not None and is_call else ""


def _closes(text: str, opened: int) -> int:
    """Where the parenthesis that opens there is closed; −1 if it isn't."""
    depth = 0
    for i in range(opened, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return -1


def _function(query: Query, node: Node) -> str:
    """`Cast` → `cast`; a StaticInvoke of `Base64.encode` → `static_invoke.Base64.encode`."""
    if node["c"] == "StaticInvoke":
        return f"static_invoke.{node['o']['staticObject']}.{node['o']['functionName']}"
    if node["c"] == "Invoke":
        target = node["k"][0]
        owner = target["v"] if query.spark_type(target) == "object" else query.spark_type(target)
        return f"static_invoke.{owner}.{node['o']['functionName']}"
    return snake_case(node["c"])


def _options(node: Node) -> tuple[tuple[str, object], ...]:
    options: dict[str, object] = {}
    if node["c"] in ("StaticInvoke", "Invoke"):
        # of what is invoked, not of how
        _flatten(node["k"][0].get("o", {}) if node["c"] == "Invoke" else {}, options)
    else:
        _flatten(node["o"], options)
    # only the exceptional value says anything
    if options.get("allowDecimalPrecisionLoss") is True:
        del options["allowDecimalPrecisionLoss"]
    return tuple(sorted(options.items()))


def _interval(query: Query, node: Node) -> tuple[tuple[str, object], ...] | None:
    """Of a CAST from or to an interval its type, of which ours says less: the parts it is spelled in.

    None where that is inside of a nested type.
    """
    if node["c"] != "Cast":
        return ()
    before, after = query.spark_type(node["k"][0]), query.spark_type(node)
    if isinstance(before, dict) or isinstance(after, dict):
        return () if intervals_in(before) == intervals_in(after) else None
    named = [*intervals_in(after), *intervals_in(before)]
    return (("interval", named[0]),) if named else ()


def _flatten(parameters: Mapping[str, Any], into: dict[str, object]) -> None:
    for name, value in parameters.items():
        if name in _SILENT or value is None or value == []:
            continue
        if isinstance(value, dict):
            _flatten(value, into)
        else:
            into[name] = _frozen(value)


def _frozen(value: Any) -> object:
    if isinstance(value, dict):  # an entry of a map, or what else Scala has tuples for
        return tuple(_frozen(item) for name, item in value.items() if name != "class")
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def normalized(query: Query, node: Node, key: Expression) -> Expression:
    """A key in which equal values are equal bytes: one NaN, and 0.0 for -0.0 (A3).

    node: where the key stands, for the error.
    """
    if not _holds_float(key.type):
        return key
    call = Call("normalize_na_n_and_zero", (key,), key.type, key.nullable)
    check_covered(query, node, call)
    return call


def under_names_of(type_: pa.DataType, value: Expression) -> Expression:
    """A value of a type that is alike but for the names of fields, as a value of that type."""
    if value.type == type_ or not pa.types.is_nested(type_):
        return value
    return Call("fields_renamed", (value,), type_, value.nullable)


def _holds_float(type_: pa.DataType) -> bool:
    if pa.types.is_nested(type_):
        return any(_holds_float(type_.field(i).type) for i in range(type_.num_fields))
    return bool(pa.types.is_floating(type_))
