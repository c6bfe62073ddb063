"""Lowering of GROUP BY: which integrals an aggregation needs, and what each result is made of.

count, sum, avg         accumulators, added up before rows move          (linear)
sum, avg of DOUBLE      the limbs of exact sums                          (linear)
statistics, bits        parts that add up                                (linear)
percentile, listagg, …  all values of the touched groups
max_by, min_by          values ordered within the group
min, max                an accumulator over append-only input, else values ordered within the group
DISTINCT                the same over the distinct arguments of each group
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.columns.order_codes import has_order_bits
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.groups.aggregate import Aggregate, Result
from dbsp.circuits.operators.groups.aggregates.members import Finalizer, Split
from dbsp.circuits.operators.groups.combine import Accumulator, Combine, CombineParts, Doubles
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.aggregate_functions import finalizer_of, required
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.shown.spelling import spell_call

_BY = ("max_by", "min_by")


def lower_aggregate(lowering: Lowering, plan: p.Aggregate) -> int:
    """The node whose stream is the change of one row a group: the keys, then the aggregates."""
    return _Grouping(lowering, plan).lower()


@dataclass
class _Accumulated:
    """One Combine over `node` (the keys, then the arguments) and the accumulators asked of it."""

    node: int
    accumulators: list[Accumulator] = field(default_factory=list)

    def accumulator(self, kind: str, column: int) -> int:
        """Its position among the accumulators."""
        wanted = Accumulator(kind, column)
        if wanted not in self.accumulators:
            self.accumulators.append(wanted)
        return self.accumulators.index(wanted)


class _Grouping:
    def __init__(self, lowering: Lowering, plan: p.Aggregate) -> None:
        self.lowering, self.builder, self.plan = lowering, lowering.builder, plan
        self.keys = len(plan.keys)
        self.append_only = lowering.append_only(plan.input)
        self.arguments: list[Expression] = []
        self.others: list[int] = []

    def lower(self) -> int:
        calls = [(call, self._arguments(call)) for call in self.plan.aggregates]
        columns = (*self.plan.keys, *self.arguments)
        if not columns:  # count(*) over everything: a row needs a column
            columns = (Literal(True, pa.bool_()),)
        self.input = self.lowering.map(self.lowering.plan(self.plan.input), columns, _schema(columns))
        self.base = _Accumulated(self.input)
        self.distinct: dict[tuple[int, ...], _Accumulated] = {}
        # traces that are searched by group need rows to lie by exactly the keys; one alone takes any subset
        self.within = not any(call.distinct or self._is_searched(call) for call, _ in calls)
        results = [self._result(call, positions) for call, positions in calls]
        accumulated = [self._integrate(part) for part in (self.base, *self.distinct.values())]
        # the accumulators come first; results refer to them by position, to the others from the end
        shifted = tuple(self._shift(result, len(accumulated)) for result in results)
        operator = Aggregate(self.keys, shifted, _output(self.plan.schema))
        return self.builder.add(operator, *accumulated, *self.others)

    def _arguments(self, call: AggregateCall) -> tuple[int, ...]:
        """The columns of the call's arguments; where its FILTER isn't true, an argument is NULL."""
        arguments = call.arguments
        if finalizer_of(call) is not None:
            return self._columns((*arguments, *((call.filter,) if call.filter is not None else ())))
        if call.function in _BY:  # without an ordering a row takes no part
            ordering, value = arguments
            return self._columns((ordering if call.filter is None else _if(call.filter, ordering), value))
        if call.filter is not None:
            arguments = arguments or (Literal(True, pa.bool_()),)
            arguments = tuple(_if(call.filter, argument) for argument in arguments)
        if len(arguments) > 1 and not call.distinct:  # count(a, b): rows without any NULL
            arguments = (_all_valid(arguments),)
        return self._columns(arguments)

    def _columns(self, arguments: tuple[Expression, ...]) -> tuple[int, ...]:
        for argument in arguments:
            if argument not in self.arguments:
                self.arguments.append(argument)
        return tuple(self.keys + self.arguments.index(argument) for argument in arguments)

    def _is_searched(self, call: AggregateCall) -> bool:
        if call.function in ("min", "max"):
            return not self._extreme_accumulates(call)
        if finalizer_of(call) is not None or call.function in _BY:
            return True
        return call.function in ("sum", "avg") and pt.is_floating(call.arguments[0].type)

    def _extreme_accumulates(self, call: AggregateCall) -> bool:
        return self.append_only and has_order_bits(call.arguments[0].type)

    def _result(self, call: AggregateCall, positions: tuple[int, ...]) -> Result:
        text = spell_call(call, self.plan.input.schema)
        finalizer = finalizer_of(call)
        if finalizer is not None:
            return Result(
                call.function,
                call.type,
                self._rows(call, positions, finalizer),
                finalizer=finalizer,
                text=text,
            )
        if call.function in _BY:
            return Result(call.function, call.type, self._ordered(*positions), ordered=True, text=text)
        if not positions:
            return Result("weight", call.type, text=text)
        if call.function in ("min", "max") and not self._extreme_accumulates(call):
            return Result(call.function, call.type, self._ordered(positions[0]), ordered=True, text=text)
        argument = self._argument(positions[0])
        if call.distinct and call.function not in ("min", "max"):
            index, part, positions = self._distinct(positions)
        else:
            index, part = 0, self.base
        count = None
        if index == 0 and argument.nullable:
            count = self.keys + part.accumulator("count", positions[0])
        if call.function == "count":
            return Result("weight" if count is None else "count", call.type, index, count, text=text)
        if call.function in ("min", "max"):
            kinds: tuple[str, ...] = (call.function,)
        elif pt.is_floating(argument.type):
            limbs = self._limbs(part.node, positions[0])
            return Result(call.function, call.type, index, count, limbs=limbs, text=text)
        else:
            kinds = _limb_kinds(argument.type)
        parts = tuple(self.keys + part.accumulator(kind, positions[0]) for kind in kinds)
        scale = call.type.scale - argument.type.scale if pt.is_decimal(argument.type) else 0
        lenient = call.option("evalMode") == "TRY"
        return Result(call.function, call.type, index, count, parts, scale, text=text, lenient=lenient)

    def _argument(self, position: int) -> Expression:
        return self.arguments[position - self.keys]

    def _integrate(self, part: _Accumulated) -> int:
        keys = tuple(range(self.keys))
        if not self.keys and not part.accumulators:
            # count(*) of the global group: the weight is all there is, but rows need a column
            part.accumulators.append(Accumulator("count", 0))
        combined = self.builder.add(Combine(self.keys, tuple(part.accumulators)), part.node)
        placed = self.builder.placed(combined, keys, within=self.within)
        columns = {"min": [], "max": []}  # type: dict[str, list[int]]
        for i, accumulator in enumerate(part.accumulators):
            columns.setdefault(accumulator.kind, []).append(self.keys + i)
        minima, maxima = tuple(columns.pop("min")), tuple(columns.pop("max"))
        sums = tuple(sorted(i for positions in columns.values() for i in positions))
        trace = Integrate(self.builder.placement(placed), sums=sums, minima=minima, maxima=maxima)
        return self.builder.add(trace, placed)

    def _ordered(self, *positions: int) -> int:
        """The trace of (keys, values…) by the first value; its place among the other inputs, from -1 down."""
        columns = (*self._key_columns(), *(Column(i, self._argument(i).type) for i in positions))
        node = self.lowering.map(self.input, columns, _schema(columns))
        if self._argument(positions[0]).nullable:
            node = self._without_nulls(node, (self.keys,))
        keys = tuple(range(self.keys))
        return self._other(Integrate(keys, order=self.keys), self.builder.placed(node, keys))

    def _limbs(self, node: int, position: int) -> int:
        columns = (
            *self._key_columns(),
            Column(position, self.builder.nodes[node].schema.field(position).type),
        )
        return self._parts(self.lowering.map(node, columns, _schema(columns)), Doubles())

    def _parts(self, node: int, split: Split) -> int:
        """The trace of the parts of (keys, values…); its position among the other inputs."""
        keys = tuple(range(self.keys))
        parts = self.builder.placed(self.builder.add(CombineParts(self.keys, split), node), keys)
        return self._other(Integrate(keys, sums=(self.keys + len(split.index),)), parts)

    def _rows(self, call: AggregateCall, positions: tuple[int, ...], finalizer: Finalizer) -> int:
        """The trace of what `finalizer` reads; its position among the other inputs.

        A FILTER takes rows away: NULL in their place might be a value.
        """
        columns = (*self._key_columns(), *(Column(i, self._argument(i).type) for i in positions))
        node = self.lowering.map(self.input, columns, _schema(columns))
        if call.filter is not None:
            node = self.builder.add(Filter(Column(len(columns) - 1, pa.bool_())), node)
            columns = columns[:-1]
            kept = tuple(Column(i, column.type, column.nullable) for i, column in enumerate(columns))
            node = self.lowering.map(node, kept, _schema(kept))
        nullable = [i for i in required(call) if self._argument(positions[i]).nullable]
        node = self._without_nulls(node, tuple(self.keys + i for i in nullable))
        if call.distinct:
            node = self._distinct_rows(node)
        if finalizer.split is not None:
            return self._parts(node, finalizer.split)
        keys = tuple(range(self.keys))
        return self._other(Integrate(keys), self.builder.placed(node, keys))

    def _distinct_rows(self, node: int) -> int:
        keys = tuple(range(self.keys))
        node = self.builder.placed(node, keys)
        rows = self.builder.add(Integrate(self.builder.placement(node)), node)
        return self.builder.add(Distinct(), rows)

    def _distinct(self, positions: tuple[int, ...]) -> tuple[int, _Accumulated, tuple[int, ...]]:
        """(input, its accumulators, argument columns) for the distinct arguments of each group."""
        if positions not in self.distinct:
            columns = (*self._key_columns(), *(Column(i, self._argument(i).type) for i in positions))
            node = self.lowering.map(self.input, columns, _schema(columns))
            nullable = tuple(self.keys + i for i, a in enumerate(positions) if self._argument(a).nullable)
            node = self._without_nulls(node, nullable)
            self.distinct[positions] = _Accumulated(self._distinct_rows(node))
        index = 1 + list(self.distinct).index(positions)
        return index, self.distinct[positions], tuple(range(self.keys, self.keys + len(positions)))

    def _key_columns(self) -> tuple[Column, ...]:
        return tuple(Column(i, key.type, key.nullable) for i, key in enumerate(self.plan.keys))

    def _without_nulls(self, node: int, columns: tuple[int, ...]) -> int:
        for i in columns:
            column = Column(i, self.builder.nodes[node].schema.field(i).type)
            condition = Call("is_not_null", (column,), pa.bool_(), nullable=False)
            node = self.builder.add(Filter(condition), node)
        return node

    def _other(self, operator: Integrate, node: int) -> int:
        trace = self.builder.add(operator, node)
        if trace not in self.others:
            self.others.append(trace)
        return -1 - self.others.index(trace)

    def _shift(self, result: Result, accumulated: int) -> Result:
        """Positions among the other inputs become positions among all inputs."""
        position = result.input if result.input >= 0 else accumulated - 1 - result.input
        limbs = None if result.limbs is None else accumulated - 1 - result.limbs
        return replace(result, input=position, limbs=limbs)


def _limb_kinds(data_type: pa.DataType) -> tuple[str, ...]:
    """The accumulators of an exact sum."""
    if pt.is_decimal(data_type):
        return ("limb0", "limb1", "limb2", "limb3")
    return ("limb0", "limb1") if data_type.bit_width == 64 else ("value",)


def _if(condition: Expression, value: Expression) -> Call:
    return Call("if", (condition, value, Literal(None, value.type)), value.type, nullable=True)


def _all_valid(arguments: tuple[Expression, ...]) -> Call:
    """True where no argument is NULL, else NULL."""
    condition: Expression = Literal(True, pa.bool_())
    for argument in arguments:
        valid = Call("is_not_null", (argument,), pa.bool_(), nullable=False)
        condition = Call("and", (condition, valid), pa.bool_(), nullable=False)
    return _if(condition, Literal(True, pa.bool_()))


def _schema(columns: tuple[Expression, ...]) -> Schema:
    return tuple(Field(f"c{i}", column.type, column.nullable) for i, column in enumerate(columns))


def _output(schema: Schema) -> pa.Schema:
    return pa.schema([pa.field(f.name, f.type) for f in schema])
