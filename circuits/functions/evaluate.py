"""Evaluate an expression over a batch: one vectorised kernel per call, no loop over rows."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.allowance import may_go_on
from dbsp.circuits.columns.arrow import retyped
from dbsp.circuits.columns.forms.broken_text import Wrapping, decoded, is_broken
from dbsp.circuits.columns.forms.json_text import described
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of
from dbsp.circuits.expressions.registry import Function, Value


def evaluate(expression: Expression, rows: pa.RecordBatch) -> pa.Array:
    """The expression's value for each row, of `expression.type`.

    Raises EvaluationError, with the expression and an example row in the message.
    """
    value = evaluate_value(expression, rows)
    if not isinstance(value, pa.Array):
        value = pa.repeat(value, rows.num_rows) if isinstance(value, pa.Scalar) else value.combine_chunks()
    return value if value.type == expression.type else retyped(value, expression.type)


def evaluate_value(expression: Expression, rows: pa.RecordBatch) -> Value:
    """Like `evaluate`, but a constant stays a scalar."""
    if isinstance(expression, Column):
        return rows.column(expression.index)
    if isinstance(expression, Literal):
        return pa.scalar(expression.value, expression.type)
    assert isinstance(expression, Call), f"a lambda's parameter outside of its lambda: {expression}"
    may_go_on()
    if not rows.num_rows:  # constants fail only where there is a row to compute them for
        return pa.array([], expression.type)
    function, _ = _known(expression)
    assert function is not None, f"unregistered function {expression.function}: {expression}"
    if function.is_form:
        return function.run(expression, rows, evaluate_value)
    arguments = [evaluate_value(argument, rows) for argument in expression.arguments]
    try:
        return _run(function, expression, arguments)
    except EvaluationError as error:
        raise _located(error, expression, rows) from None


# of so many calls, which are held
_REMEMBERED = 4096
# what UTF8String does by its characters
_BY_CHARACTER = {
    *("length", "substring", "string_l_pad", "string_r_pad", "string_trim", "string_trim_left"),
    *("string_trim_right", "reverse", "string_instr", "string_locate", "string_replace", "substring_index"),
    *("overlay", "string_repeat", "concat", "concat_ws", "contains", "starts_with"),
    "ends_with",
}
# of these, what looks for bytes
_BY_BYTE = {"substring_index"}
# what it makes a Java string for, where Arrow would take the bytes as they are
_BY_JAVA = {
    *("reg_exp_replace", "reg_exp_extract", "reg_exp_extract_all", "reg_exp_in_str", "r_like", "like"),
    *("string_split", "string_split_sql", "string_translate", "static_invoke.Encode.encode"),
}


def _run(function: Function, call: Call, arguments: list[Value]) -> Value:
    """The kernel's value. Text that isn't UTF-8 it is given as text."""
    if may_break(call) and any(map(is_broken, arguments)):
        if function.name in _BY_CHARACTER:
            return _by_character(function, call, arguments)
        if function.name in _BY_JAVA:
            return function.run(call, *map(decoded, arguments))
    try:
        return function.run(call, *arguments)
    except (UnicodeDecodeError, pa.ArrowInvalid):
        if not any(map(is_broken, arguments)):
            raise
        if function.name in _BY_CHARACTER:
            return _by_character(function, call, arguments)
        return function.run(call, *map(decoded, arguments))


def _by_character(function: Function, call: Call, arguments: list[Value]) -> Value:
    wrapping = Wrapping(by_byte=function.name in _BY_BYTE)
    return wrapping.unwrapped(function.run(call, *map(wrapping.wrapped, arguments)))


# by identity: to hash a tree costs more than most kernels take for a small delta
_KNOWN: dict[int, tuple[Call, tuple[Function | None, bool]]] = {}


def _known(call: Call) -> tuple[Function | None, bool]:
    """Its function, None of a lambda; and whether bytes become text in it, which nobody checks."""
    known = _KNOWN.get(id(call))
    if known is not None and known[0] is call:
        return known[1]
    from dbsp.circuits.functions.library import find  # noqa: PLC0415  most of a start, where nothing is computed

    of_bytes = call.function == "cast" and pa.types.is_binary(call.arguments[0].type)
    found = find(call.function), of_bytes or any(map(may_break, call.arguments))
    if len(_KNOWN) >= _REMEMBERED:
        _KNOWN.clear()
    _KNOWN[id(call)] = call, found
    return found


def may_break(expression: Expression) -> bool:
    """Whether bytes become text in it, which nobody checks."""
    return isinstance(expression, Call) and _known(expression)[1]


def _located(error: EvaluationError, call: Call, rows: pa.RecordBatch) -> EvaluationError:
    """The same error, after the innermost failing expression and an example row."""
    if error.expression is not None:
        return error
    example = ""
    if error.row is not None and error.row < rows.num_rows:
        read = sorted(set(columns_of(call)))
        example = f" where {described(rows, error.row, read)}" if read else ""
    error.expression = str(call)
    return error.within(f"{call}{example}")
