"""What every legal plan satisfies: positions exist, types agree, schemas follow from the inputs."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, remap
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans.calls import AggregateCall, WindowCall
from dbsp.sql.plans.conditions.clock_readings import CLOCK_COLUMN
from dbsp.sql.plans.plan import (
    JOINS,
    Aggregate,
    AsOf,
    Distinct,
    Expand,
    Filter,
    Generate,
    Join,
    Levels,
    Plan,
    Project,
    Scan,
    SetOperation,
    TemporalFilter,
    TimedProjection,
    Top,
    Union,
    Values,
    Window,
    join_schema,
    unknown,
)
from dbsp.sql.plans.schemas import Field, Schema


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """The plans a node reads."""
    match plan:
        case Join() | AsOf() | SetOperation():
            return (plan.left, plan.right)
        case Union():
            return plan.inputs
        case Levels():
            return (plan.anchor, plan.term)
        case (
            Project()
            | Filter()
            | TemporalFilter()
            | TimedProjection()
            | Aggregate()
            | Distinct()
            | Expand()
            | Generate()
            | Window()
            | Top()
        ):
            return (plan.input,)
        case Scan() | Values():
            return ()
        case _:
            raise unknown(plan, "which plans it reads")


def verify(plan: Plan) -> None:  # noqa: PLR0912  a case a plan node
    """Raises AssertionError naming the node: a broken plan is our bug, never the user's."""
    for input_ in inputs(plan):
        verify(input_)
    match plan:
        case Values():
            for row in plan.rows:
                _check_types(plan, row, plan.schema)
        case Project() | Expand():
            for row in (plan.expressions,) if isinstance(plan, Project) else plan.projections:
                _check_columns(plan, row, plan.input.schema)
                _check_types(plan, row, plan.schema)
        case Filter():
            _check_columns(plan, (plan.condition,), plan.input.schema)
            assert plan.condition.type in (pa.bool_(), pa.null()), _named(plan, "a condition is boolean")
        case TemporalFilter():
            _check_columns(plan, (bound.value for bound in plan.bounds), plan.input.schema)
            _check_columns(plan, (b.clock for b in plan.bounds), (Field(CLOCK.name, CLOCK.type, False),))
            same = all(bound.value.type == bound.clock.type for bound in plan.bounds)
            assert same and plan.bounds, _named(plan, "a value is compared with a reading of its type")
        case TimedProjection():
            _verify_timed_projection(plan)
        case Join() | AsOf():
            _verify_join(plan)
        case Aggregate():
            _verify_aggregate(plan)
        case Union() | SetOperation() | Levels():
            for input_ in inputs(plan):
                _check_schema(plan, [f.type for f in input_.schema], plan.schema)
        case Generate():
            _check_columns(plan, (plan.elements,), plan.input.schema)
            kept = [plan.input.schema[i].type for i in plan.kept]
            assert [f.type for f in plan.schema[: len(kept)]] == kept, _named(plan, "kept columns come first")
        case Window() | Top():
            _verify_window(plan)
        case Scan() | Distinct():
            pass
        case _:
            raise unknown(plan, "what is legal of it")


def _verify_join(plan: Join | AsOf) -> None:
    assert len(plan.left_keys) == len(plan.right_keys) == len(plan.null_safe), _named(
        plan, "keys come in pairs"
    )
    for left, right in zip(plan.left_keys, plan.right_keys, strict=True):
        assert left.type == right.type, _named(plan, f"key types differ: {left.type}, {right.type}")
    _check_columns(plan, plan.left_keys, plan.left.schema)
    _check_columns(plan, plan.right_keys, plan.right.schema)
    if isinstance(plan, AsOf):
        assert plan.left_time.type == plan.right_time.type, _named(plan, "types of times differ")
        _check_columns(plan, (plan.left_time,), plan.left.schema)
        _check_columns(plan, (plan.right_time,), plan.right.schema)
    elif plan.residual is not None:
        _check_columns(plan, (plan.residual,), (*plan.left.schema, *plan.right.schema))
    kinds = JOINS if isinstance(plan, Join) else ("inner", "left")
    assert plan.kind in kinds, _named(plan, f"no kind of join: {plan.kind}")
    expected = join_schema(plan.kind, plan.left.schema, plan.right.schema)
    assert plan.schema == expected, _named(plan, f"schema {plan.schema} instead of {expected}")


def _verify_timed_projection(plan: TimedProjection) -> None:
    width = len(plan.input.schema)
    clock = Field(CLOCK.name, CLOCK.type, False)
    _check_columns(plan, (crossing.value for crossing in plan.changes.crossings), plan.input.schema)
    _check_columns(plan, (*(c.clock for c in plan.changes.crossings), *plan.changes.readings), (clock,))
    same = all(crossing.value.type == crossing.clock.type for crossing in plan.changes.crossings)
    assert same, _named(plan, "a value is compared with a reading of its type")
    timed = (*plan.expressions, *([] if plan.condition is None else [plan.condition]))
    moved = (remap(e, {i: i for i in range(width)} | {CLOCK_COLUMN: width}) for e in timed)
    _check_columns(plan, moved, (*plan.input.schema, clock))
    _check_types(plan, (*plan.input.schema, *plan.expressions), plan.schema)


def _verify_aggregate(plan: Aggregate) -> None:
    columns: tuple[Expression | AggregateCall, ...] = (*plan.keys, *plan.aggregates)
    _check_types(plan, columns, plan.schema)
    _check_columns(plan, plan.keys, plan.input.schema)
    for call in plan.aggregates:
        parts = call.arguments if call.filter is None else (*call.arguments, call.filter)
        _check_columns(plan, parts, plan.input.schema)


def _verify_window(plan: Window | Top) -> None:
    _check_columns(plan, plan.expressions, plan.input.schema)
    computed: tuple[WindowCall | Field, ...]
    if isinstance(plan, Window):
        computed = plan.calls
    else:
        computed = plan.schema[len(plan.input.schema) :]
        assert len(computed) == plan.ranked and plan.order, _named(plan, "a rank, and what it orders by")
    _check_types(plan, (*plan.input.schema, *computed), plan.schema)


def _check_types(
    plan: Plan, values: Iterable[Expression | AggregateCall | WindowCall | Field], schema: Schema
) -> None:
    _check_schema(plan, [value.type for value in values], schema)


def _check_schema(plan: Plan, types: list[pa.DataType], schema: Schema) -> None:
    expected = [field.type for field in schema]
    assert types == expected, _named(plan, f"types {types} under a schema of {expected}")


def _check_columns(plan: Plan, expressions: Iterable[Expression], schema: Schema) -> None:
    for expression in expressions:
        for column in _columns(expression):
            assert 0 <= column.index < len(schema), _named(plan, f"no column {column} of {len(schema)}")
            type_ = schema[column.index].type
            assert column.type == type_, _named(plan, f"{column} is {type_}, not {column.type}")


def _columns(expression: Expression) -> Iterable[Column]:
    if isinstance(expression, Column):
        yield expression
    elif isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _columns(argument)


def _named(plan: Plan, message: str) -> str:
    return f"{type(plan).__name__}: {message}"
