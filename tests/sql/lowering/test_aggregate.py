"""GROUP BY, lowered: one row a group, as recomputed from the rows in plain Python. No Spark, no SQL text."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.circuit import Circuit
from dbsp.circuits.columns.hashing import FOUR_BITS
from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.circuits.operators.groups.aggregate import Aggregate
from dbsp.circuits.operators.groups.aggregates.extremes import OrderedExtreme
from dbsp.circuits.operators.groups.aggregates.finalized import Finalized
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.schemas import Field
from dbsp.testing.bags import identity, same_rows
from tests.circuits.engine import Engine, Options
from tests.generators.columns.zsets import VALUES, Row, kinds, naive_of, plus, values_of, zset_of
from tests.generators.values import ARROW
from tests.laws.operators_laws import hash_seeds, options

NUMBERS = [ARROW[name] for name in ("TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10,2)")]
NESTED = (pa.types.is_list, pa.types.is_map, pa.types.is_struct)
ORDERED = [kind for kind in VALUES if not any(test(kind) for test in NESTED)]
DOUBLES = [
    0.0,
    -0.0,
    1.5,
    -2.25,
    1e16,
    -1e16,
    0.1,
    math.nan,
    math.inf,
    -math.inf,
    1e-300,
    1e300,
    5e-324,
    3e153,
]


def domain(data_type: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_float64(data_type):
        return st.sampled_from([*DOUBLES, None])
    if pa.types.is_int64(data_type):
        return st.sampled_from([0, 1, -1, 2**58, -(2**58), None])  # 25 of them fit in a BIGINT
    return values_of(data_type)


def result_type(function: str, data_type: pa.DataType) -> pa.DataType:
    """Spark's type of an aggregate."""
    if function == "count":
        return pa.int64()
    if function in ("min", "max"):
        return data_type
    if pa.types.is_decimal(data_type):
        extra = (10, 0) if function == "sum" else (4, 4)
        return pa.decimal128(data_type.precision + extra[0], data_type.scale + extra[1])
    return pa.float64() if function == "avg" or pa.types.is_floating(data_type) else pa.int64()


@st.composite
def groupings(draw: st.DrawFn, least: int = -1, append_only: bool = False) -> tuple[p.Aggregate, list[Any]]:
    """A grouping of table t by up to two keys, and deltas of t that keep weights at zero or above."""
    keys = draw(st.lists(kinds, max_size=2))
    calls: list[AggregateCall] = []
    arguments: list[pa.DataType] = []
    for _ in range(draw(st.integers(1, 3))):
        function = draw(st.sampled_from(["count(*)", "count", "sum", "avg", "min", "max", "distinct"]))
        data_type = draw(
            st.sampled_from(
                NUMBERS if function in ("sum", "avg") else ORDERED if function[0] == "m" else list(VALUES)
            )
        )
        at = len(keys) + len(arguments)
        arguments.append(data_type)
        condition = None
        if draw(st.integers(0, 3)) == 3:
            condition = Call(
                "is_not_null", (Column(draw(st.integers(0, at)), data_type),), pa.bool_(), nullable=False
            )
        if function == "count(*)":
            calls.append(AggregateCall("count", (), pa.int64(), False, condition))
            continue
        name = "count" if function == "distinct" else function
        distinct = function == "distinct" or (function in ("sum", "avg") and draw(st.booleans()))
        calls.append(
            AggregateCall(
                name, (Column(at, data_type),), result_type(name, data_type), True, condition, distinct
            )
        )
    types = [*keys, *arguments]
    for call in [call for call in calls if call.distinct]:  # the same arguments under another condition
        for _ in range(draw(st.integers(0, 2))):
            column = Column(draw(st.integers(0, len(types) - 1)), pa.bool_())
            condition = Call("is_not_null", (column,), pa.bool_(), nullable=False)
            calls.append(replace(call, filter=draw(st.sampled_from([None, condition]))))
    # a FILTER reads any column, of its own type
    calls = [_retyped(call, types) for call in calls]
    fields = tuple(Field(f"c{i}", data_type) for i, data_type in enumerate(types))
    output = tuple(
        Field(f"r{i}", data_type) for i, data_type in enumerate([*keys, *(call.type for call in calls)])
    )
    by = tuple(Column(i, data_type) for i, data_type in enumerate(keys))
    plan = p.Aggregate(p.Scan("t", fields), by, tuple(calls), output)
    return plan, draw(legal_deltas(types, append_only))


def _retyped(call: AggregateCall, types: list[pa.DataType]) -> AggregateCall:
    if call.filter is None:
        return call
    column: Any = call.filter.arguments[0]  # type: ignore[union-attr]
    condition = Call("is_not_null", (Column(column.index, types[column.index]),), pa.bool_(), nullable=False)
    return AggregateCall(call.function, call.arguments, call.type, call.nullable, condition, call.distinct)


@st.composite
def legal_deltas(draw: st.DrawFn, types: list[pa.DataType], append_only: bool) -> list[list[tuple[Row, int]]]:
    held: list[Row] = []
    steps = []
    for _ in range(draw(st.integers(1, 5))):
        changes: list[tuple[Row, int]] = []
        for _ in range(draw(st.integers(0, 5))):
            if held and not append_only and draw(st.integers(0, 2)) == 2:
                changes.append((held.pop(draw(st.integers(0, len(held) - 1))), -1))
            else:
                changes.append((draw(st.tuples(*map(domain, types))), 1))
                held.append(changes[-1][0])
        steps.append(changes)
    return steps


def circuit_of(plan: Plan, seed: int, append_only: bool = False) -> Circuit:
    assert isinstance(plan, p.Aggregate)
    table = Table("t", plan.input.schema, (), append_only, False, None, {}, "t.sql:1:1")
    view = View("v", plan.schema, "view", plan, False, "t.sql:2:1")
    return lower({"t": table}, {"v": view}, seed)


def grouped(plan: p.Aggregate, rows: Sequence[Row]) -> list[Row]:
    """The query, by the book."""
    groups: dict[Any, list[Row]] = {} if plan.keys else {(): []}
    for row in rows:
        groups.setdefault(identity(row[: len(plan.keys)]) if plan.keys else (), []).append(row)
    return [
        (
            *(members[0][: len(plan.keys)] if members else ()),
            *(_aggregate(call, members) for call in plan.aggregates),
        )
        for members in groups.values()
    ]


def _aggregate(call: AggregateCall, rows: Sequence[Row]) -> Any:
    if call.filter is not None:
        at = call.filter.arguments[0].index  # type: ignore[union-attr]
        rows = [row for row in rows if row[at] is not None]
    if not call.arguments:
        return len(rows)
    at = call.arguments[0].index  # type: ignore[union-attr]
    values = [row[at] for row in rows if row[at] is not None]
    if call.distinct:
        values = list({identity(value): value for value in values}.values())
    if call.function == "count":
        return len(values)
    if not values:
        return None
    if call.function in ("min", "max"):
        best = min if call.function == "min" else max
        return best(
            values, key=lambda v: (math.isnan(v), 0.0 if math.isnan(v) else v) if isinstance(v, float) else v
        )
    return _total(call, values)


def _total(call: AggregateCall, values: list[Any]) -> Any:
    if isinstance(values[0], float):
        special = {v for v in values if not math.isfinite(v)}
        if special:
            total = sum(special)
        else:
            exact: Fraction = sum(map(Fraction, values), Fraction(0))
            total = float(exact) if abs(exact) < Fraction(2) ** 1024 else math.inf * (1 if exact > 0 else -1)
        return total / len(values) if call.function == "avg" else total
    total = sum(values)
    if isinstance(total, Decimal):
        if call.function == "sum":
            return total
        return (total / len(values)).quantize(Decimal(1).scaleb(-call.type.scale), ROUND_HALF_UP)
    return total / len(values) if call.function == "avg" else total


def check(plan: p.Aggregate, steps: list[Any], way: Options, seed: int, append_only: bool = False) -> None:
    schema = pa.schema([pa.field(f.name, f.type) for f in plan.input.schema])
    with tempfile.TemporaryDirectory() as root:
        engine = Engine(circuit_of(plan, seed, append_only), Path(root), way)
        held: list[Row] = []
        view: Counter[Any] = Counter()
        for changes in steps:
            for row, weight in changes:
                if weight > 0:
                    held.append(row)
                else:
                    held.pop(next(i for i, h in enumerate(held) if identity(h) == identity(row)))
            delta = engine.step({"t": zset_of(schema, changes)})["v"]
            view = plus(view, naive_of(delta))
            now = engine.view("v")
            assert naive_of(now) == view
            rows = list(zip(*(column.to_pylist() for column in now.rows.columns), strict=True))
            expected = [tuple(map(_plain, row)) for row in grouped(plan, held)]
            assert not (difference := same_rows([tuple(map(_plain, row)) for row in rows], expected)), (
                difference
            )
            assert (now.weights == 1).all()
        assert not len(engine.step({"t": ZSet.empty(schema)})["v"]), "empty in, empty out"
        if not append_only:
            engine.step({"t": zset_of(schema, [(row, -1) for row in held])})
            assert len(engine.view("v")) == (not plan.keys)
            if way.small and plan.keys:
                assert not sum(engine.state.rows().values()), "nothing in, nothing kept"


def _plain(value: Any) -> Any:
    """Hashable."""
    return identity(value) if isinstance(value, list | dict) else value


@given(groupings(), options, hash_seeds)
def test_grouping(case: Any, way: Options, seed: int) -> None:
    plan, steps = case
    check(plan, steps, way, seed)


@given(groupings(append_only=True), options, hash_seeds)
def test_grouping_of_append_only_input(case: Any, way: Options, seed: int) -> None:
    plan, steps = case
    check(plan, steps, way, seed, append_only=True)


def test_some_value_of_many_is_the_least() -> None:
    """Of text; it isn't listed. Of doubles it is: the least of -0.0 alone is shown as 0.0."""
    fields = (Field("k", pa.int64()), Field("x", pa.string()), Field("d", pa.float64()))
    calls = tuple(
        AggregateCall("any_value", (Column(at, fields[at].type),), fields[at].type, True) for at in (1, 2)
    )
    output = (Field("k", pa.int64()), Field("s", pa.string()), Field("e", pa.float64()))
    circuit = circuit_of(p.Aggregate(p.Scan("t", fields), (Column(0, pa.int64()),), calls, output), 0)
    (aggregate,) = [node.operator for node in circuit.nodes if isinstance(node.operator, Aggregate)]
    assert [type(result.function) for result in aggregate.results] == [OrderedExtreme, Finalized]


def test_one_group_of_many_values(tmp_path: Path) -> None:
    """An extreme below hundreds of retracted ones is found."""
    fields = (Field("k", pa.int64()), Field("x", pa.string()))
    calls = tuple(
        AggregateCall(function, (Column(1, pa.string()),), pa.string(), True) for function in ("min", "max")
    )
    output = (Field("k", pa.int64()), Field("low", pa.string()), Field("high", pa.string()))
    plan = p.Aggregate(p.Scan("t", fields), (Column(0, pa.int64()),), calls, output)
    rows = [((i % 3, f"same prefix {i:04}"), 1) for i in range(900)]
    steps = [rows, [(row, -1) for row, _ in rows[:897]], [(row, 1) for row, _ in rows[::7]]]
    check(plan, steps, Options(small=0), 0)
    check(plan, steps, Options(), FOUR_BITS)


def test_sums_out_of_range_say_so(tmp_path: Path) -> None:
    fields = (Field("x", pa.int64()),)
    call = AggregateCall("sum", (Column(0, pa.int64()),), pa.int64(), True)
    plan = p.Aggregate(p.Scan("t", fields), (), (call,), (Field("s", pa.int64()),))
    engine = Engine(circuit_of(plan, 0), tmp_path)
    schema = pa.schema([("x", pa.int64())])
    most = ((2**63 - 1,), 1)
    engine.step({"t": zset_of(schema, [most])})
    before = engine.state
    with pytest.raises(EvaluationError, match="ARITHMETIC_OVERFLOW"):
        engine.step({"t": zset_of(schema, [((1,), 1)])})
    assert engine.state is before
    # above and below within one step, the sum fits
    engine.step({"t": zset_of(schema, [((1,), 1), ((-1,), 1)])})
    assert engine.view("v").rows.to_pydict() == {"s": [2**63 - 1]}
