"""Functions that take a lambda: TRANSFORM, FILTER, EXISTS, FORALL, ZIP_WITH and their kin of maps.

    transform(a, x -> f(x, c)) = split(f(flat(a), c[owner]))

A lambda's body is an expression over one more batch: a row for each element of every row's array, holding the
parameters and, repeated, the outer columns it reads. So it is evaluated once, vectorised, however long the
arrays are; what is said of one row's errors and NULLs holds inside too. A lambda in a body is the same again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from dbsp.circuits.columns.arrow import child_arrays, int64_array, is_true, retyped, validity
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Variable, columns_of
from dbsp.circuits.expressions.registry import Evaluate, Value, form
from dbsp.circuits.expressions.vectors.numbers import Numbers
from dbsp.circuits.expressions.vectors.spread import spread
from dbsp.circuits.functions.collections.lists import Lists, first_equals, joined, list_array, lists_of
from dbsp.circuits.functions.collections.maps import map_of


def argument(expression: Expression, rows: pa.RecordBatch, evaluate: Evaluate) -> pa.Array:
    """An argument's value as a column."""
    return spread(evaluate(expression, rows), rows.num_rows)


def apply(
    function: Expression, rows: pa.RecordBatch, owner: Numbers, values: list[pa.Array], evaluate: Evaluate
) -> pa.Array:
    """The lambda's value for each element. owner: int64[m], its row; values: what each parameter is there."""
    assert isinstance(function, Call) and function.function == "lambda_function", function
    used, body, names = _over_elements(function)
    if not len(owner):
        return pa.array([], body.type)
    indices = int64_array(np.ascontiguousarray(owner, dtype=np.int64))
    outer = [rows.column(index).take(indices) for index in used]
    columns = [*outer, *values[: len(names)]]
    names = [*(rows.schema.names[index] for index in used), *names]
    if not columns:  # a body without columns still has rows
        columns, names = [pa.nulls(len(owner))], [""]
    value = spread(evaluate(body, pa.RecordBatch.from_arrays(columns, names=names)), len(owner))
    return retyped(value, body.type)


@lru_cache(maxsize=4096)
def _over_elements(function: Call) -> tuple[tuple[int, ...], Expression, list[str]]:
    """(the outer columns that are read, the body over these and then the parameters, names of the latter)."""
    body, *parameters = function.arguments
    used = tuple(sorted(set(columns_of(body))))
    place: dict[int, Expression] = {}
    for n, parameter in enumerate(parameters):
        assert isinstance(parameter, Variable), function
        place[parameter.index] = Column(len(used) + n, parameter.type, parameter.nullable)
    columns = {index: n for n, index in enumerate(used)}
    return used, _bound(body, columns, place), [str(parameter) for parameter in parameters]


def _bound(expression: Expression, columns: dict[int, int], place: dict[int, Expression]) -> Expression:
    """Columns at their new positions, parameters as columns; a lambda inside may use a number again."""
    if isinstance(expression, Column):
        return replace(expression, index=columns[expression.index])
    if isinstance(expression, Variable):
        return place.get(expression.index, expression)
    if not isinstance(expression, Call):
        return expression
    if expression.function == "lambda_function":
        own = {each.index for each in expression.arguments[1:] if isinstance(each, Variable)}
        place = {index: column for index, column in place.items() if index not in own}
    arguments = tuple(_bound(each, columns, place) for each in expression.arguments)
    return replace(expression, arguments=arguments)


def _indexed(lists: Lists) -> list[pa.Array]:
    """What a lambda (x, i) over an array is given: the element, and its place from 0."""
    return [lists.elements, pa.array(lists.within.astype(np.int32))]


@form("array_transform")
def transform(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    lists = lists_of(argument(call.arguments[0], rows, evaluate))
    made = apply(call.arguments[1], rows, lists.owner, _indexed(lists), evaluate)
    return list_array(call.type, Lists(made, lists.lengths, lists.valid))


@form("array_filter")
def array_filter(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """The elements for which the lambda is TRUE."""
    lists = lists_of(argument(call.arguments[0], rows, evaluate))
    kept = is_true(apply(call.arguments[1], rows, lists.owner, _indexed(lists), evaluate))
    return list_array(call.type, lists.chosen(kept))


def _counts(lists: Lists, answer: pa.Array) -> tuple[Numbers, Numbers, Numbers]:
    """int64[n] each: how many of a row's answers are TRUE, FALSE, NULL."""
    rows = len(lists.lengths)
    true, is_null = is_true(answer), ~validity(answer)
    trues = np.bincount(lists.owner[true], minlength=rows)
    nulls = np.bincount(lists.owner[is_null], minlength=rows)
    return trues, lists.lengths - trues - nulls, nulls


@form("array_exists")
def exists(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """TRUE if the lambda is for some element, else NULL if it is NULL for one (not without three values)."""
    lists = lists_of(argument(call.arguments[0], rows, evaluate))
    answer = apply(call.arguments[1], rows, lists.owner, _indexed(lists)[:1], evaluate)
    trues, _, nulls = _counts(lists, answer)
    unknown = (trues == 0) & (nulls > 0) & (call.option("followThreeValuedLogic", True) is True)
    return pa.array(trues > 0, mask=unknown | ~lists.valid)


@form("array_for_all")
def forall(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """FALSE if the lambda is for some element, else NULL if it is NULL for one."""
    lists = lists_of(argument(call.arguments[0], rows, evaluate))
    answer = apply(call.arguments[1], rows, lists.owner, _indexed(lists)[:1], evaluate)
    _, falses, nulls = _counts(lists, answer)
    return pa.array(falses == 0, mask=((falses == 0) & (nulls > 0)) | ~lists.valid)


@form("zip_with")
def zip_with(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """The lambda of what stands at the same place of both arrays, NULL behind the end of the shorter one."""
    left, right = (lists_of(argument(each, rows, evaluate)) for each in call.arguments[:2])
    valid = left.valid & right.valid
    lengths = np.where(valid, np.maximum(left.lengths, right.lengths), 0)
    zipped = Lists(pa.nulls(int(lengths.sum())), lengths, valid)
    owner, within = zipped.owner, zipped.within
    sides = []
    for side in (left, right):
        inside = within < side.lengths[owner]
        sides.append(
            side.elements.take(pa.array(np.where(inside, side.starts[owner] + within, 0), mask=~inside))
        )
    made = apply(call.arguments[2], rows, owner, sides, evaluate)
    return list_array(call.type, Lists(made, lengths, valid))


@form("array_aggregate")
def aggregate(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """arguments: array, zero, (acc, x) -> acc, acc -> result.

    The first elements of all rows are merged at once, then the second ones of the rows that have any ...:
    as many rounds as the longest array has elements, each over the rows still going and no others.
    """
    array, zero, merge, finish = call.arguments
    lists = lists_of(argument(array, rows, evaluate))
    state = retyped(argument(zero, rows, evaluate), merge.type)
    going = np.flatnonzero(lists.valid)
    state = state.take(int64_array(going))
    ended: list[tuple[Numbers, pa.Array]] = []
    for place in range(int(lists.lengths.max(initial=0))):
        goes_on = lists.lengths[going] > place
        if not goes_on.all():
            ended.append((going[~goes_on], state.filter(pa.array(~goes_on))))
            going, state = going[goes_on], state.filter(pa.array(goes_on))
        elements = lists.elements.take(int64_array(lists.starts[going] + place))
        state = apply(merge, rows, going, [state, elements], evaluate)
    ended.append((going, state))
    there = np.concatenate([row for row, _ in ended])
    order = np.argsort(there)
    state = pa.concat_arrays([state for _, state in ended]).take(int64_array(order))
    value = apply(finish, rows, there[order], [state], evaluate)
    if lists.valid.all():
        return value
    position = np.maximum(np.cumsum(lists.valid) - 1, 0)
    return value.take(pa.array(position, mask=~lists.valid))


# --- maps


def _entries(lists: Lists) -> list[pa.Array]:
    keys, items = child_arrays(lists.elements)
    return [keys, items]


@form("map_filter")
def map_filter(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """The pairs for which the lambda is TRUE."""
    lists = lists_of(argument(call.arguments[0], rows, evaluate))
    kept = is_true(apply(call.arguments[1], rows, lists.owner, _entries(lists), evaluate))
    return list_array(call.type, lists.chosen(kept))


@form("transform_values")
def transform_values(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    lists = lists_of(argument(call.arguments[0], rows, evaluate))
    keys, items = _entries(lists)
    made = apply(call.arguments[1], rows, lists.owner, [keys, items], evaluate)
    return map_of(call.type, keys, made, lists)


@form("transform_keys")
def transform_keys(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """Fails where a key becomes NULL, or two become the same."""
    lists = lists_of(argument(call.arguments[0], rows, evaluate))
    keys, items = _entries(lists)
    made = apply(call.arguments[1], rows, lists.owner, [keys, items], evaluate)
    return map_of(call.type, made, items, lists)


@form("map_zip_with")
def map_zip_with(call: Call, rows: pa.RecordBatch, evaluate: Evaluate) -> Value:
    """The lambda of each key and its value in either map, or NULL; the first map's keys first."""
    left, right = (lists_of(argument(each, rows, evaluate)) for each in call.arguments[:2])
    sides = [(*_entries(left), left), (*_entries(right), right)]
    both, source = joined([Lists(keys, lists.lengths, lists.valid) for keys, _, lists in sides])
    owner, within = both.owner, both.within
    first = first_equals(owner, both.elements)
    kept = first == np.arange(len(first))
    values = []
    for side, (_, items, lists) in enumerate(sides):
        mine = source == side
        place = np.full(len(first), -1, np.int64)
        before = left.lengths[owner] if side else 0
        place[first[mine]] = (lists.starts[owner] + within - before)[mine]
        values.append(items.take(pa.array(np.maximum(place, 0), mask=place < 0)).filter(pa.array(kept)))
    chosen = both.chosen(kept)
    made = apply(call.arguments[2], rows, chosen.owner, [chosen.elements, *values], evaluate)
    return map_of(call.type, chosen.elements, made, chosen)
