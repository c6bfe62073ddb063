"""Functions that take a lambda, against Python's, with outer columns and lambdas inside of lambdas."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, Variable
from dbsp.circuits.functions.evaluate import evaluate

INT, BOOL = pa.int64(), pa.bool_()
INTS, MAPS = pa.list_(INT), pa.map_(pa.string(), INT)
X, Y, KEY = Variable(0, INT), Variable(1, INT), Variable(0, pa.string())
ARRAY, OTHER, C = Column(0, INTS), Column(1, INTS), Column(2, INT)


def call(name: str, *arguments: Expression, to: pa.DataType = INT, **options: object) -> Call:
    return Call(name, arguments, to, True, tuple(sorted({"evalMode": "ANSI", **options}.items())))


def function(body: Expression, *parameters: Variable) -> Call:
    return call("lambda_function", body, *parameters, to=body.type)


def plus(a: Expression, b: Expression) -> Call:
    return call("add", a, b)


element = st.one_of(st.none(), st.integers(-3, 3))
array = st.one_of(st.none(), st.lists(element, max_size=4))
Rows = list[tuple[Any, Any, Any]]
rows = st.lists(st.tuples(array, array, element), min_size=1, max_size=5)


def run(expression: Expression, listed: Rows) -> list[Any]:
    columns = [pa.array([row[i] for row in listed], t) for i, t in enumerate((INTS, INTS, INT))]
    found: list[Any] = evaluate(
        expression, pa.RecordBatch.from_arrays(columns, names=["a", "b", "c"])
    ).to_pylist()
    return found


def total(*values: int | None) -> int | None:
    return None if None in values else sum(values)  # type: ignore[arg-type]


@given(rows)
def test_transform(listed: Rows) -> None:
    index = Variable(1, pa.int32())
    body = plus(plus(X, C), call("cast", index, to=INT, timeZoneId="UTC"))
    found = run(call("array_transform", ARRAY, function(body, X, index), to=INTS), listed)
    assert found == [None if a is None else [total(x, c, i) for i, x in enumerate(a)] for a, _, c in listed]


def above(a: int | None, b: int | None) -> bool | None:
    return None if a is None or b is None else a > b


@given(rows)
def test_filter_exists_and_forall(listed: Rows) -> None:
    body = function(call("greater_than", X, C, to=BOOL), X)
    answers = [None if a is None else [above(x, c) for x in a] for a, _, c in listed]
    kept = [None if a is None else [x for x in a if above(x, c)] for a, _, c in listed]
    assert run(call("array_filter", ARRAY, body, to=INTS), listed) == kept
    some = [None if a is None else True if True in a else None if None in a else False for a in answers]
    every = [None if a is None else False if False in a else None if None in a else True for a in answers]
    assert run(call("array_exists", ARRAY, body, to=BOOL), listed) == some
    assert run(call("array_for_all", ARRAY, body, to=BOOL), listed) == every
    two_valued = call("array_exists", ARRAY, body, to=BOOL, followThreeValuedLogic=False)
    assert run(two_valued, listed) == [None if a is None else True in a for a in answers]


@given(rows)
def test_zip_with(listed: Rows) -> None:
    found = run(call("zip_with", ARRAY, OTHER, function(plus(X, Y), X, Y), to=INTS), listed)
    assert found == [
        None if a is None or b is None else [total(x, y) for x, y in zip_longest(a, b)] for a, b, _ in listed
    ]


@given(rows)
def test_aggregate(listed: Rows) -> None:
    """acc · 2 + x from c on, and one more at the end: the order of elements counts."""
    merge = function(plus(call("multiply", X, Literal(2, INT)), Y), X, Y)
    finish = function(plus(X, Literal(1, INT)), X)

    def folded(a: list[Any], acc: int | None) -> int | None:
        for x in a:
            acc = None if acc is None or x is None else acc * 2 + x
        return None if acc is None else acc + 1

    found = run(call("array_aggregate", ARRAY, C, merge, finish), listed)
    assert found == [None if a is None else folded(a, c) for a, _, c in listed]


@given(rows)
def test_a_lambda_inside_of_a_lambda(listed: Rows) -> None:
    """transform(a, x -> aggregate(b, 0, (acc, y) -> acc + y, acc -> acc + x)): x is outer to both."""
    acc, y = Variable(1, INT), Variable(2, INT)
    known = function(call("is_not_null", y, to=BOOL), y)
    inner = call(
        "array_aggregate",
        call("array_filter", OTHER, known, to=INTS),
        Literal(0, INT),
        function(plus(acc, y), acc, y),
        function(plus(acc, X), acc),
    )
    found = run(call("array_transform", ARRAY, function(inner, X), to=INTS), listed)
    sums = [None if b is None else sum(y for y in b if y is not None) for _, b, _ in listed]
    expected = [
        None if a is None else [total(s, x) for x in a] for (a, _, _), s in zip(listed, sums, strict=True)
    ]
    assert found == expected


entries = st.one_of(st.none(), st.dictionaries(st.sampled_from("abc"), element, max_size=3))


def over_maps(expression: Expression, *columns: list[Any]) -> list[Any]:
    arrays = [pa.array([None if m is None else list(m.items()) for m in column], MAPS) for column in columns]
    made = evaluate(
        expression, pa.RecordBatch.from_arrays(arrays, names=["m", "n"][: len(arrays)])
    ).to_pylist()
    return [None if m is None else dict(m) for m in made]


M, N, ITEM, THIRD = Column(0, MAPS), Column(1, MAPS), Variable(1, INT), Variable(2, INT)


@given(st.lists(entries, max_size=4))
def test_maps(listed: list[Any]) -> None:
    positive = function(call("greater_than", ITEM, Literal(0, INT), to=BOOL), KEY, ITEM)
    kept = [None if m is None else {k: v for k, v in m.items() if v is not None and v > 0} for m in listed]
    assert over_maps(call("map_filter", M, positive, to=MAPS), listed) == kept
    doubled = function(plus(ITEM, ITEM), KEY, ITEM)
    expected = [None if m is None else {k: total(v, v) for k, v in m.items()} for m in listed]
    assert over_maps(call("transform_values", M, doubled, to=MAPS), listed) == expected
    upper = function(call("upper", KEY, to=pa.string()), KEY, ITEM)
    expected = [None if m is None else {k.upper(): v for k, v in m.items()} for m in listed]
    assert over_maps(call("transform_keys", M, upper, to=MAPS), listed) == expected


@given(st.lists(st.tuples(entries, entries), max_size=4))
def test_maps_together(listed: list[tuple[Any, Any]]) -> None:
    body = function(call("coalesce", plus(ITEM, THIRD), ITEM, THIRD), KEY, ITEM, THIRD)

    def both(m: dict[str, Any], n: dict[str, Any]) -> dict[str, Any]:
        pairs = {k: (m.get(k), n.get(k)) for k in {**m, **n}}
        return {k: v if w is None else w if v is None else v + w for k, (v, w) in pairs.items()}

    found = over_maps(call("map_zip_with", M, N, body, to=MAPS), *([p[i] for p in listed] for i in range(2)))
    assert found == [None if m is None or n is None else both(m, n) for m, n in listed]


def test_keys_that_become_one() -> None:
    same = function(Literal("k", pa.string()), KEY, ITEM)
    with pytest.raises(EvaluationError, match="DUPLICATED_MAP_KEY"):
        over_maps(call("transform_keys", M, same, to=MAPS), [{"a": 1, "b": 2}])
    assert over_maps(call("transform_keys", M, same, to=MAPS), [{"a": 1}]) == [{"k": 1}]


def test_an_error_inside() -> None:
    body = function(call("integral_divide", Literal(1, INT), X), X)
    with pytest.raises(EvaluationError, match="DIVIDE_BY_ZERO"):
        run(call("array_transform", ARRAY, body, to=INTS), [([1], None, None), ([2, 0], None, None)])
    assert run(call("array_transform", ARRAY, body, to=INTS), [([1], None, None)]) == [[1]]
