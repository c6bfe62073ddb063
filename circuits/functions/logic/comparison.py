"""Comparisons in Spark's order: NaN equals NaN and is the greatest number, −0.0 equals 0.0.

Strings and bytes compare byte by byte, FALSE < TRUE, structs and arrays lexicographically. A comparison with
NULL is NULL; inside structs and arrays NULL is the least value and equals itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.arrow import child_arrays, int64_array, is_true, retyped, validity
from dbsp.circuits.columns.sorting import compare
from dbsp.circuits.expressions.nodes import Call, Expression, Literal
from dbsp.circuits.expressions.partial import evaluate_where
from dbsp.circuits.expressions.registry import Evaluate, Value, form, kernel
from dbsp.circuits.expressions.vectors.numbers import result, vector
from dbsp.circuits.expressions.vectors.spread import spread

Test = Callable[[Value, Value], Value]


def _is_nested(data_type: pa.DataType) -> bool:
    """True for structs and arrays."""
    return bool(pt.is_struct(data_type) or pt.is_list(data_type) or pt.is_large_list(data_type))


def _has_map(data_type: pa.DataType) -> bool:
    return pt.is_map(data_type) or any(_has_map(data_type.field(i).type) for i in range(data_type.num_fields))


def no_maps(call: Call) -> str | None:
    """The `refuse` of what compares its arguments: maps have no order and no equality."""
    return "over maps" if any(_has_map(argument.type) for argument in call.arguments) else None


def equal(a: Value, b: Value) -> Value:
    """a = b as boolean values, NULL where an operand is."""
    return _compare(a, b, pc.equal, pc.and_, lambda order: order == 0)


def less(a: Value, b: Value) -> Value:
    """a < b"""
    return _compare(
        a, b, pc.less, lambda a_nan, b_nan: pc.and_(pc.invert(a_nan), b_nan), lambda order: order < 0
    )


def less_or_equal(a: Value, b: Value) -> Value:
    """a <= b"""
    return _compare(a, b, pc.less_equal, lambda a_nan, b_nan: b_nan, lambda order: order <= 0)


def _compare(
    a: Value, b: Value, arrow: Test, with_nan: Test, nested: Callable[[np.ndarray], np.ndarray]
) -> Value:
    """arrow: the test over flat values. with_nan: what NaN adds to it. nested: the test over an order."""
    data_type = a.type
    if pt.is_null(data_type) or pt.is_null(b.type):
        return _no_answer(a, b)
    if _is_nested(data_type):
        return _compare_nested(a, b, nested)
    if pt.is_decimal(data_type) and data_type != b.type:
        wide = pa.decimal256(76, max(data_type.scale, b.type.scale))
        a, b = a.cast(wide), b.cast(wide)
    answer = arrow(a, b)
    if pt.is_floating(data_type):
        a_nan, b_nan = pc.is_nan(a), pc.is_nan(b)
        if _any(a_nan) or _any(b_nan):
            answer = pc.or_(answer, with_nan(a_nan, b_nan))
    return answer


def _any(mask: Value) -> bool:
    return bool(mask.as_py() if isinstance(mask, pa.Scalar) else pc.any(mask).as_py())


def _no_answer(a: Value, b: Value) -> Value:
    for side in (a, b):
        if not isinstance(side, pa.Scalar):
            return pa.nulls(len(side), pa.bool_())
    return pa.scalar(None, pa.bool_())


def _compare_nested(a: Value, b: Value, test: Callable[[np.ndarray], np.ndarray]) -> Value:
    rows = next((len(side) for side in (a, b) if not isinstance(side, pa.Scalar)), 1)
    left, right = spread(a, rows), retyped(spread(b, rows), a.type)  # their fields' names may differ
    answer = pa.array(test(compare(left, right)), pa.bool_(), mask=~(validity(left) & validity(right)))
    return answer[0] if isinstance(a, pa.Scalar) and isinstance(b, pa.Scalar) else answer


@kernel("equal_to", refuse=no_maps)
def equal_to(call: Call, a: Value, b: Value) -> Value:
    return equal(a, b)


@kernel("equal_null_safe", refuse=no_maps)
def equal_null_safe(call: Call, a: Value, b: Value) -> Value:
    """TRUE where both are NULL, FALSE where one is."""
    return pc.or_(pc.fill_null(equal(a, b), False), pc.and_(pc.is_null(a), pc.is_null(b)))


@kernel("less_than", refuse=no_maps)
def less_than(call: Call, a: Value, b: Value) -> Value:
    return less(a, b)


@kernel("less_than_or_equal", refuse=no_maps)
def less_than_or_equal(call: Call, a: Value, b: Value) -> Value:
    return less_or_equal(a, b)


@kernel("greater_than", refuse=no_maps)
def greater_than(call: Call, a: Value, b: Value) -> Value:
    return less(b, a)


@kernel("greater_than_or_equal", refuse=no_maps)
def greater_than_or_equal(call: Call, a: Value, b: Value) -> Value:
    return less_or_equal(b, a)


@kernel("greatest", refuse=no_maps)
def greatest(call: Call, *values: Value) -> Value:
    """The greatest that isn't NULL."""
    return _choose(values, less)


@kernel("least", refuse=no_maps)
def least(call: Call, *values: Value) -> Value:
    """The least that isn't NULL."""
    return _choose(values, lambda best, value: less(value, best))


def _choose(values: tuple[Value, ...], better: Test) -> Value:
    best = values[0]
    for value in values[1:]:
        take = pc.fill_null(pc.or_kleene(pc.is_null(best), better(best, value)), False)
        best = pc.if_else(take, value, best)
    return best


@form("in", refuse=no_maps)
def is_in(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """value = a ∨ value = b ∨ ..., stopping at the first that is true, so that later ones can't fail."""
    value = evaluate(call.arguments[0], rows)
    candidates = call.arguments[1:]
    if all(isinstance(candidate, Literal) for candidate in candidates) and not _is_nested(value.type):
        return _in_constants(value, candidates)
    answer: Value = pa.scalar(False)
    for candidate in candidates:
        undecided = np.broadcast_to(~_true(answer), (rows.num_rows,))
        answer = pc.or_kleene(answer, equal(value, evaluate_where(candidate, rows, undecided, evaluate)))
    return answer


@form("in_set", refuse=lambda call: None if len(call.arguments) > 1 else "without its list of values")
def is_in_set(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    return is_in(call, rows, evaluate)


def _true(answer: Value) -> np.ndarray:
    if isinstance(answer, pa.Scalar):
        return np.array([bool(answer.as_py())])
    return is_true(answer)


def _in_constants(value: Value, candidates: tuple[Expression, ...]) -> Value:
    members, has_null = _member_set(candidates, value.type)
    found = pc.is_in(normalized(value), value_set=members)
    # not found is NULL if a NULL is in the list, or the value is NULL
    unknown = pc.is_null(value)
    if has_null:
        unknown = pc.or_(unknown, pc.invert(found))
    return pc.if_else(unknown, pa.scalar(None, pa.bool_()), found)


@lru_cache(maxsize=256)
def _member_set(candidates: tuple[Expression, ...], data_type: pa.DataType) -> tuple[pa.Array, bool]:
    values = [candidate.value for candidate in candidates if isinstance(candidate, Literal)]
    present = [value for value in values if value is not None]
    return normalized(pa.array(present, data_type)), len(present) < len(values)


def normalized(value: Value) -> Value:
    """Of equal numbers one: −0.0 becomes 0.0, and NaN the NaN; also inside structs, arrays and maps."""
    if pt.is_nested(value.type):
        return _normalized_inside(value)
    if not pt.is_floating(value.type):
        return value
    positive = pc.add(value, pa.scalar(0.0, value.type))
    return pc.if_else(pc.is_nan(positive), pa.scalar(float("nan"), value.type), positive)


def _normalized_inside(value: Value) -> Value:
    if isinstance(value, pa.Scalar):
        return _normalized_inside(pa.repeat(value, 1))[0]
    mask = pc.is_null(value) if value.null_count else None
    if pt.is_struct(value.type):
        fields = [normalized(field) for field in child_arrays(value)]
        return pa.StructArray.from_arrays(fields, fields=list(value.type), mask=mask)
    offsets = value.offsets
    if mask is not None and value.offset:  # Arrow takes a mask only beside offsets that start at 0
        value = value.take(int64_array(np.arange(len(value))))
        offsets = value.offsets
    if pt.is_map(value.type):
        parts = normalized(value.keys), normalized(value.items)
        return pa.MapArray.from_arrays(offsets, *parts, type=value.type, mask=mask)
    return pa.ListArray.from_arrays(offsets, normalized(value.values), type=value.type, mask=mask)


@kernel("normalize_na_n_and_zero")
def normalize_nan_and_zero(call: Call, value: Value) -> Value:
    """What keys of GROUP BY and joins go through."""
    return normalized(value)


@kernel("known_floating_point_normalized")
def known_floating_point_normalized(call: Call, value: Value) -> Value:
    return value


@kernel("known_not_null")
def known_not_null(call: Call, value: Value) -> Value:
    return value


@kernel("known_nullable")
def known_nullable(call: Call, value: Value) -> Value:
    return value


@kernel("is_null")
def is_null(call: Call, value: Value) -> Value:
    return pc.is_null(value)


@kernel("is_not_null")
def is_not_null(call: Call, value: Value) -> Value:
    return pc.is_valid(value)


@kernel("is_na_n")
def is_nan(call: Call, value: Value) -> Value:
    """FALSE of NULL."""
    return pc.fill_null(pc.is_nan(value), False)


@kernel("at_least_n_non_nulls")
def at_least_n_non_nulls(call: Call, *values: Value) -> Value:
    """Whether n of the values are neither NULL nor NaN."""
    columns = [vector(_present(value)) for value in values]
    count = np.add.reduce(np.broadcast_arrays(*(column.values.astype(np.int64) for column in columns)))
    wanted = call.option("n")
    assert isinstance(wanted, int), call
    return result(call, count >= wanted, *columns)


def _present(value: Value) -> Value:
    if pt.is_floating(value.type):
        return pc.fill_null(pc.invert(pc.is_nan(value)), False)
    return pc.is_valid(value)
