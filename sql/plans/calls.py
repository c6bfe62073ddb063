"""What plan nodes compute of their inputs' columns: aggregates, functions over windows, orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.circuits.operators.groups.windows.calls import WHOLE, Frame, Gathered

Change = Callable[[Expression], Expression]


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """function: 'count', 'sum', 'avg', 'min', 'max' or a key of `dbsp.sql.plans.aggregate_functions`; no
    argument: count(*).

    options: what is not an expression, as sorted (name, value) pairs.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: pa.DataType
    nullable: bool
    filter: Expression | None = None
    distinct: bool = False
    options: tuple[tuple[str, object], ...] = ()

    def option(self, name: str, default: object = None) -> object:
        return dict(self.options).get(name, default)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Everything it reads."""
        return self.arguments if self.filter is None else (*self.arguments, self.filter)

    def with_expressions(self, change: Change) -> AggregateCall:
        """`change` on every expression."""
        condition = None if self.filter is None else change(self.filter)
        return replace(self, arguments=tuple(map(change, self.arguments)), filter=condition)

    @property
    def called(self) -> str:
        """What a user calls the function."""
        function = self.option("expression", self.option("function"))
        return function.name if isinstance(function, PythonFunction | SparkExpression) else self.function


@dataclass(frozen=True, slots=True)
class SortOrder:
    """One item of an ORDER BY list."""

    expression: Expression
    descending: bool = False
    nulls_last: bool = False


def reordered(order: Sequence[SortOrder], change: Change) -> tuple[SortOrder, ...]:
    """`change` on every expression of an ORDER BY list."""
    return tuple(replace(by, expression=change(by.expression)) for by in order)


@dataclass(frozen=True, slots=True)
class WindowCall:
    """function: a name in `dbsp.circuits.operators.groups.windows.functions`; the other fields as in
    `WindowFunction` there.

    order, arguments and the bounds of a RANGE frame: over the columns of the input.
    """

    function: str
    arguments: tuple[Expression, ...]
    type: pa.DataType
    nullable: bool
    order: tuple[SortOrder, ...] = ()
    frame: Frame = WHOLE
    number: int = 0
    ignore_nulls: bool = False
    filtered: bool = False
    lenient: bool = False
    text: str = field(default="", compare=False)
    values: Gathered | None = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Everything it reads."""
        edges = (edge for edge in (self.frame.lower, self.frame.upper) if isinstance(edge, Expression))
        return (*self.arguments, *(order.expression for order in self.order), *edges)

    def with_expressions(self, change: Change) -> WindowCall:
        """`change` on every expression."""
        frame = self.frame
        lower, upper = (change(e) if isinstance(e, Expression) else e for e in (frame.lower, frame.upper))
        return replace(
            self,
            arguments=tuple(map(change, self.arguments)),
            order=reordered(self.order, change),
            frame=replace(frame, lower=lower, upper=upper),
        )
