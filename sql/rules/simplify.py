"""Cheaper expressions of the same value, for what Spark writes at length.

    x − 0 = x + 0 = x      CASE WHEN x % n < 0 THEN x % n + n ELSE x % n END = pmod(x, n)      for n > 0
    named_struct(…, a, e, …).a = e

The second is how Spark aligns a timestamp to its window.
"""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Expression, Literal
from dbsp.sql.plans.plan import Plan
from dbsp.sql.rules.traverse import bottom_up, rebuilt


def simplify(plan: Plan) -> Plan:
    return bottom_up(plan, lambda node: node.with_expressions(lambda e: rebuilt(e, _simplify)))


def _simplify(expression: Expression) -> Expression:
    if not isinstance(expression, Call):
        return expression
    match expression.function:
        case "add" | "subtract":
            return _without_zero(expression)
        case "case_when":
            return _positive_remainder(expression)
        case "get_struct_field":
            return _field(expression)
    return expression


def _without_zero(call: Call) -> Expression:
    value, zero = call.arguments
    if _is_zero(zero) and value.type == call.type:
        return value
    return call


def _is_zero(expression: Expression) -> bool:
    return isinstance(expression, Literal) and pa.types.is_integer(expression.type) and expression.value == 0


def _positive_remainder(call: Call) -> Expression:
    if len(call.arguments) != 3:
        return call
    negative, shifted, remainder = call.arguments
    if not (isinstance(remainder, Call) and remainder.function == "remainder"):
        return call
    divisor = remainder.arguments[1]
    if not (isinstance(divisor, Literal) and pa.types.is_integer(divisor.type) and _positive(divisor)):
        return call
    if not (isinstance(negative, Call) and negative.function == "less_than"):
        return call
    if not (isinstance(shifted, Call) and shifted.function == "add"):
        return call
    if negative.arguments[0] != remainder or not _is_zero(negative.arguments[1]):
        return call
    if shifted.arguments != (remainder, divisor):
        return call
    return Call("pmod", remainder.arguments, call.type, call.nullable, remainder.options, call.text)


def _positive(divisor: Literal) -> bool:
    return isinstance(divisor.value, int) and divisor.value > 0


def _field(call: Call) -> Expression:
    struct = call.arguments[0]
    if not (isinstance(struct, Call) and struct.function == "create_named_struct"):
        return call
    ordinal = call.option("ordinal")
    assert isinstance(ordinal, int), call
    value = struct.arguments[2 * ordinal + 1]
    return value if value.type == call.type else call
