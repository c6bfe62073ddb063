"""Comparisons and logic are Spark's on all pairs of interesting values."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.functions.evaluate import evaluate
from dbsp.circuits.functions.logic.comparison import normalized
from tests.generators.columns.interesting import interesting_rows
from tests.oracles.against_spark import AgainstSpark

OPERATORS = ["=", "<", "<=", ">", ">=", "<>", "<=>"]
FLAT = ["b", "i8", "i16", "i32", "i64", "f", "d", "m", "w", "s", "dt", "ts", "tn"]


@pytest.mark.spark
def test_flat_types(spark: Any) -> None:
    against = AgainstSpark(spark, interesting_rows(rows=250))
    against.check([f"{x} {operator} {x}2" for x in FLAT for operator in OPERATORS])
    against.check([f"{function}({x}, {x}2)" for x in FLAT for function in ("greatest", "least")])
    against.check([f"{x} IS {test}" for x in FLAT for test in ("NULL", "NOT NULL")])


@pytest.mark.spark
def test_mixed_types_and_constants(spark: Any) -> None:
    AgainstSpark(spark, interesting_rows(rows=250)).check(
        [
            "i32 = i64", "i8 < d", "m = w", "m < w", "w >= m", "i64 = m", "f = d", "ts > tn", "dt < ts",
            "d = double('NaN')", "d < double('NaN')", "double('NaN') <= d", "d = 0.0D", "d > -0.0D",
            "s = 'a'", "s >= ''", "m BETWEEN 0 AND 1.505", "s NOT BETWEEN 'a' AND 'b'",
            "dt = DATE '1970-01-01'", "ts < TIMESTAMP '2024-02-29 10:00:00'", "isnan(d)", "isnan(f)",
            "i32 IN (1, 2, -5)", "i32 IN (1, NULL)", "d IN (double('NaN'), 0.0D)", "d NOT IN (1.0D, -0.0D)",
            "s IN ('a', '', '日本')", "s NOT IN ('a', NULL)", "m IN (1.5, -2.250)", "m IN (1.5, m2)",
            "i32 IN (i322, 1)", "i32 IN (i322, NULL)", "b IN (true)",
            "ts IN (TIMESTAMP '1970-01-01 00:00:00')", "dt IN (DATE '1970-01-01', NULL)", "NULL IN (i32)",
            "greatest(i8, i32, i64)", "least(m, w, i32)", "greatest(d, double('NaN'), 1)",
            "nullif(i32, i322)", "nvl(s, 'x')", "nvl2(s, 1, 2)", "nanvl(d, d2)", "nullif(d, d2)",
            "i32 <=> NULL",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_logic(spark: Any) -> None:
    AgainstSpark(spark, interesting_rows("b", "i32")).check(
        [
            "b AND b2", "b OR b2", "NOT b", "b AND NULL", "b OR NULL", "b <> b2 OR b IS NULL",
            "b = b2 AND NOT b", "i32 <> 0 AND 10 DIV i32 > 1", "i32 = 0 OR 10 % i32 = 1",
            "i32 > 0 AND (i322 = 0 OR i32 DIV i322 < 5)",
        ]
    )  # fmt: skip


@pytest.mark.spark
def test_nested(spark: Any) -> None:
    nan = float("nan")
    structs = [
        {"a": 1, "b": 0.0},
        {"a": 1, "b": -0.0},
        {"a": 1, "b": nan},
        {"a": None, "b": nan},
        {"a": 2, "b": None},
        None,
    ]
    lists = [[], [1.0], [nan], [0.0], [-0.0, None], [1.0, 2.0], [None], None]
    pairs = [(a, b, c, d) for a in structs for b in structs for c in lists for d in lists]
    kinds = [pa.struct([("a", pa.int32()), ("b", pa.float64())])] * 2 + [pa.list_(pa.float64())] * 2
    columns = [
        pa.array(column, data_type) for column, data_type in zip(zip(*pairs, strict=True), kinds, strict=True)
    ]
    rows = pa.RecordBatch.from_arrays(columns, names=["x", "y", "l", "k"])
    against = AgainstSpark(spark, rows)
    against.check([f"{a} {operator} {b}" for a, b in ("xy", "lk") for operator in OPERATORS])
    against.check(["greatest(x, y)", "least(l, k)", "x IN (y)", "x IN (y, named_struct('a', 1, 'b', 0.0D))"])
    against.check(["x = named_struct('a', 1, 'b', 0.0D)", "array(1.0D) < l"])


def test_laziness_of_and() -> None:
    rows = pa.record_batch({"x": pa.array([0, 1, None], pa.int64())})
    x = Column(0, pa.int64())
    nonzero = Call("not", (Call("equal_to", (x, Literal(0, pa.int64())), pa.bool_()),), pa.bool_())
    inverse = Call("integral_divide", (Literal(4, pa.int64()), x), pa.int64())
    test = Call("equal_to", (inverse, Literal(4, pa.int64())), pa.bool_())
    both = Call("and", (nonzero, test), pa.bool_())
    assert evaluate(both, rows).to_pylist() == [False, True, None]


def test_no_rows() -> None:
    rows = pa.record_batch({"x": pa.array([], pa.int64())})
    failing = Call("integral_divide", (Literal(1, pa.int64()), Literal(0, pa.int64())), pa.int64())
    assert evaluate(failing, rows).to_pylist() == []


def test_equal_numbers_are_one_wherever_they_are() -> None:
    """Also in values of maps, cut out of others, and beside NULLs: GROUP BY goes by bytes."""
    kinds: list[tuple[pa.DataType, Any]] = [
        (pa.float64(), lambda x: x),
        (pa.list_(pa.float64()), lambda x: [x, None]),
        (pa.struct({"x": pa.float64()}), lambda x: {"x": x}),
        (pa.map_(pa.string(), pa.float64()), lambda x: [("k", x), ("l", None)]),
        (pa.map_(pa.string(), pa.list_(pa.float32())), lambda x: [("k", [x])]),
        (pa.list_(pa.map_(pa.int32(), pa.float64())), lambda x: [[(1, x)], None]),
    ]
    for data_type, of in kinds:
        values = pa.array([of(1.0), None, of(-0.0), of(0.0), None, of(-0.0)], data_type)
        for column in (values, values.slice(1), values.slice(2, 3)):
            found = normalized(column)
            assert found.type == data_type and found.equals(column) and len(found) == len(column)
            assert "-0.0" not in str(found.to_pylist())
