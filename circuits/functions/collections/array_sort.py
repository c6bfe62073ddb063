"""ARRAY_SORT: by a comparator, which is a lambda (left, right) → negative, 0 or positive.

    place(x) = |{y : y < x}| + |{y before x : y = x}|

Without a comparator of the user's, Spark writes the natural order as one, NULLs last; this is recognised and
is a sort by rank. Any other is asked for all pairs of an array's elements at once: quadratic in the length of
an array, linear in the number of arrays.

A comparator that contradicts itself (typically where an element is NULL) has no order; what the JVM's sort
makes of it then is what Spark gives, and is repeated here, array by array of these.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import int64_array, validity
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.columns.sorting import ranks
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Expression
from dbsp.circuits.expressions.registry import Evaluate, Value, form
from dbsp.circuits.expressions.vectors.numbers import Numbers, vector
from dbsp.circuits.functions.collections.array_order import in_order
from dbsp.circuits.functions.collections.lambdas import apply, argument
from dbsp.circuits.functions.collections.lists import Lists, list_array, lists_of


@form("array_sort")
def array_sort(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    lists = lists_of(argument(call.arguments[0], rows, evaluate))
    comparator = call.arguments[1]
    if _is_natural(comparator, lists.elements):
        places = ranks(lists.elements, nulls_last=True)
    else:
        places = _places(comparator, rows, lists, evaluate)
    return list_array(call.type, in_order(lists, places))


def _places(comparator: Expression, rows: pa.RecordBatch, lists: Lists, evaluate: Evaluate) -> Numbers:
    """int64[m]: how many elements of its row come before each."""
    owner, counts = lists.owner, lists.lengths[lists.owner]
    starts = lists.starts[owner]
    left, right = expand_ranges(starts, starts + counts)
    sides = [lists.elements.take(int64_array(np.ascontiguousarray(side))) for side in (left, right)]
    answer = apply(comparator, rows, owner[left], sides, evaluate)
    missing = ~validity(answer)
    if missing.any():
        row = int(owner[left[np.argmax(missing)]])
        raise EvaluationError("COMPARATOR_RETURNS_NULL", "the comparator of array_sort is NULL", row)
    order = np.sign(vector(answer).values.astype(np.int64))
    above = np.bincount(left[order > 0], minlength=len(owner))
    before = (order > 0) | ((order == 0) & (right < left))
    places = np.bincount(left[before], minlength=len(owner))
    contradicted = np.sign(above[left] - above[right]) != order
    if contradicted.any():
        for row in np.unique(owner[left[contradicted]]).tolist():
            start, count = int(lists.starts[row]), int(lists.lengths[row])
            pairs = order[np.searchsorted(left, start) :][: count * count].reshape(count, count)
            places[start : start + count][_insertion_sorted(pairs)] = np.arange(count)
    return places


def _insertion_sorted(order: Numbers) -> list[int]:
    """What java.util.TimSort makes of up to 31 elements: the first run, then the others inserted.

    order: int64[n, n], how element i compares with element j.
    """
    count, run = len(order), 1
    sorted_: list[int] = list(range(count))
    if count > 1 and order[1, 0] < 0:
        while run < count and order[run, run - 1] < 0:
            run += 1
        sorted_[:run] = reversed(range(run))
    else:
        while run < count and order[run, run - 1] >= 0:
            run += 1
    for pivot in range(run, count):
        low, high = 0, pivot
        while low < high:
            middle = (low + high) // 2
            if order[pivot, sorted_[middle]] < 0:
                high = middle
            else:
                low = middle + 1
        del sorted_[pivot]
        sorted_.insert(low, pivot)
    return sorted_


# What Spark writes for array_sort(a), 0 and 1 being the lambda's parameters.
_VALUES = ("if", ("less_than", 0, 1), "-1", ("if", ("greater_than", 0, 1), "1", "0"))
_NULLS_LAST = (
    "if",
    ("and", ("is_null", 0), ("is_null", 1)),
    "0",
    ("if", ("is_null", 0), "1", ("if", ("is_null", 1), "-1", _VALUES)),
)


def is_by_value(comparator: Expression) -> bool:
    """Whether it is the order of values, so that what ties is equal."""
    return _compared(comparator) in (_NULLS_LAST, _VALUES)


def _is_natural(comparator: Expression, elements: pa.Array) -> bool:
    shape = _compared(comparator)
    return shape == _NULLS_LAST or (shape == _VALUES and not elements.null_count)


def _compared(comparator: Expression) -> object:
    assert isinstance(comparator, Call), comparator
    body, *parameters = comparator.arguments
    return _shape(body, {parameter: n for n, parameter in enumerate(parameters)})


def _shape(expression: Expression, parameters: dict[Expression, int]) -> object:
    if isinstance(expression, Call):
        return (expression.function, *(_shape(each, parameters) for each in expression.arguments))
    return parameters.get(expression, str(expression))
