"""The inputs of one Aggregate, as its functions ask for them: integrals of accumulators, and other traces.

Functions with the same argument share what they read of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.circuits.operators.distinct import Distinct
from dbsp.circuits.operators.groups.aggregate import Aggregate, Result
from dbsp.circuits.operators.groups.aggregates.sums import Doubles
from dbsp.circuits.operators.groups.combine import Combine, CombineParts
from dbsp.circuits.operators.groups.combine_expanded import CombineExpanded
from dbsp.circuits.operators.groups.frequencies import Frequencies
from dbsp.circuits.operators.groups.state.accumulators import Accumulator, Greatest, Least, Values
from dbsp.circuits.operators.groups.state.members import Split
from dbsp.circuits.operators.linear import Filter
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.expanded import shared_parts
from dbsp.sql.lowering.presence import ADDED_UP, Expressions, conditions_of, if_, present, schema_of
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.aggregate_functions import required
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.schemas import arrow_schema

Columns = tuple[int, ...]  # of the grouping's input: the keys come first, then the arguments


@dataclass
class _Accumulated:
    """One Combine over `node` (the keys, then the arguments) and the accumulators asked of it.

    node: None: the grouping's input.
    """

    node: int | None = None
    accumulators: list[Accumulator] = field(default_factory=list)


@dataclass(frozen=True)
class Counted:
    """An argument, or the distinct ones of each group. state: which integral of accumulators has them.

    column: of its rows. values: counts them; None: every row has one.
    """

    state: int
    column: int
    values: Values | None
    data_type: pa.DataType


class Grouping:
    """The inputs of one Aggregate: a function asks for those that it reads."""

    def __init__(self, lowering: Lowering, plan: p.Aggregate) -> None:
        self.lowering, self.builder, self.plan = lowering, lowering.builder, plan
        self.keys = tuple(range(len(plan.keys)))
        self.append_only = lowering.append_only(plan.input)
        self.arguments: list[Expression] = []
        self.base = _Accumulated()
        self.distinct: dict[Columns, _Accumulated] = {}
        self.conditions = conditions_of(plan.aggregates)
        self.traces: list[int] = []

    def columns(self, arguments: Expressions) -> Columns:
        """Where its input has them. All are asked for before anything is made of them."""
        for argument in arguments:
            if argument not in self.arguments:
                self.arguments.append(argument)
        return tuple(len(self.keys) + self.arguments.index(argument) for argument in arguments)

    def input(self) -> int:
        """The node of the keys, then the arguments, for a function that reads more than accumulators."""
        if self.base.node is None:
            columns = (*self.plan.keys, *self.arguments)
            if not columns:  # count(*) over everything: a row needs a column
                columns = (Literal(True, pa.bool_()),)
            node = self.lowering.plan(self.plan.input)
            self.base.node = self.lowering.map(node, columns, schema_of(columns))
        return self.base.node

    def accumulate(self, state: int, accumulators: Sequence[Accumulator]) -> None:
        """They are there, each once."""
        part = self._accumulated[state]
        part.accumulators += [a for a in accumulators if a not in part.accumulators]

    def aggregate(self, results: tuple[Result, ...], distinct: bool) -> int:
        """The Aggregate over all that was asked for. distinct: some function's arguments are."""
        # traces that are searched by group need rows to lie by exactly the keys; one alone takes any subset
        within = not (self.traces or distinct)
        integrals = [self._integrate(part, within) for part in self._accumulated]
        accumulated = tuple(tuple(part.accumulators) for part in self._accumulated)
        operator = Aggregate(len(self.keys), accumulated, results, arrow_schema(self.plan.schema))
        return self.builder.add(operator, *integrals, *self.traces)

    @property
    def _accumulated(self) -> list[_Accumulated]:
        return [self.base, *self.distinct.values()]

    def _integrate(self, part: _Accumulated, within: bool) -> int:
        if not self.keys and not part.accumulators:
            # count(*) of the global group: the weight is all there is, but rows need a column
            part.accumulators.append(Values(0))
        combined = self._expanded(part) if part.node is None else None
        if combined is None:
            node = self.input() if part.node is None else part.node
            combined = self.builder.add(Combine(len(self.keys), tuple(part.accumulators)), node)
        placed = self.builder.placed(combined, self.keys, within=within)
        keys = len(self.keys)
        minima = tuple(keys + i for i, a in enumerate(part.accumulators) if isinstance(a, Least))
        maxima = tuple(keys + i for i, a in enumerate(part.accumulators) if isinstance(a, Greatest))
        sums = tuple(
            i for i in range(keys, keys + len(part.accumulators)) if i not in minima and i not in maxima
        )
        trace = Integrate(self.builder.placement(placed), sums=sums, minima=minima, maxima=maxima)
        return self.builder.add(trace, placed)

    def _expanded(self, part: _Accumulated) -> int | None:
        """What the accumulators are of expanded rows, where they can be combined before they are."""
        expand = self.plan.input
        if not isinstance(expand, p.Expand) or not self.keys:
            return None
        shared = shared_parts(expand.projections, self.plan.keys, tuple(self.arguments))
        if shared is None:
            return None
        keys = pa.schema([pa.field(f"c{i}", key.type) for i, key in enumerate(self.plan.keys)])
        operator = CombineExpanded(
            keys, shared.projections, shared.shared, shared.arguments, tuple(part.accumulators)
        )
        return self.builder.add(operator, self.lowering.plan(expand.input))

    def argument(self, column: int) -> Expression:
        return self.arguments[column - len(self.keys)]

    def is_conditional(self, call: AggregateCall) -> bool:
        """Whether it adds up distinct arguments that others add up under other conditions."""
        return call.distinct and call.function in ADDED_UP and call.arguments in self.conditions

    def counted(self, call: AggregateCall, columns: Columns) -> Counted:
        """The argument of an aggregate of accumulators; of distinct arguments none is NULL."""
        argument, first = self.argument(columns[0]), columns[0]
        if not call.distinct:
            values = Values(first) if argument.nullable else None
            return Counted(0, first, values, argument.type)
        if self.is_conditional(call):
            return self._counted_where(call, columns[: len(call.arguments)])
        if columns not in self.distinct:
            nullable = tuple(i for i, column in enumerate(columns) if self.argument(column).nullable)
            node = self._without_nulls(self._selected(columns), nullable)
            self.distinct[columns] = _Accumulated(self._distinct_rows(node))
        state = 1 + list(self.distinct).index(columns)
        return Counted(state, len(self.keys), None, argument.type)

    def _counted_where(self, call: AggregateCall, columns: Columns) -> Counted:
        """The distinct arguments under one of several conditions: they have one trace."""
        conditions = self.conditions[call.arguments]
        if columns not in self.distinct:
            selection = self._selection(columns)
            tested = [None if c is None else Column(self._column(c), pa.bool_()) for c in conditions]
            node = present(self.lowering, self.input(), selection, len(self.keys), tested)
            # beside each mark the value of a sum; a count of several arguments reads none
            value = replace(selection[len(self.keys)], index=len(self.keys))
            marks = [Column(len(selection) + i, pa.bool_()) for i in range(len(conditions))]
            made = (*self._key_columns(), *(e for mark in marks for e in (mark, if_(mark, value))))
            self.distinct[columns] = _Accumulated(self.lowering.map(node, made, schema_of(made)))
        state = 1 + list(self.distinct).index(columns)
        mark = len(self.keys) + 2 * conditions.index(call.filter)
        return Counted(state, mark + 1, Values(mark), self.argument(columns[0]).type)

    def _column(self, argument: Expression) -> int:
        return len(self.keys) + self.arguments.index(argument)

    def ordered(self, columns: Columns, needed: int = 0) -> int:
        """The trace of (keys, values…) by the first value; its number. needed: which value isn't NULL."""
        node = self._selected(columns)
        if self.argument(columns[needed]).nullable:
            node = self._without_nulls(node, (needed,))
        return self._trace(Integrate(self.keys, order=len(self.keys)), self.builder.placed(node, self.keys))

    def doubles(self, counted: Counted) -> int:
        """The trace of the parts of an exact sum of doubles; its number."""
        node = self.input() if counted.state == 0 else self._accumulated[counted.state].node
        assert node is not None
        data_type = self.builder.nodes[node].schema.field(counted.column).type
        columns = (*self._key_columns(), Column(counted.column, data_type))
        return self._parts(self.lowering.map(node, columns, schema_of(columns)), Doubles())

    def rows(self, call: AggregateCall, columns: Columns, split: Split | None, ordered: bool = False) -> int:
        """The trace of the values that take part, or of their parts; its number. ordered: by the first."""
        node = self._taking_part(call, columns)
        if call.distinct:
            node = self._distinct_rows(node)
        if split is not None:
            return self._parts(node, split)
        order = len(self.keys) if ordered else None
        return self._trace(Integrate(self.keys, order=order), self.builder.placed(node, self.keys))

    def frequencies(self, call: AggregateCall, columns: Columns, greatest: bool) -> int:
        """The trace of the values that take part by how often they do; its number."""
        node = self.builder.placed(self._taking_part(call, columns), self.keys)
        rows = self.builder.add(Integrate(self.builder.placement(node)), node)
        ranked = self.builder.add(Frequencies(len(self.keys), greatest), rows)
        return self._trace(Integrate(self.keys, order=len(self.keys)), self.builder.placed(ranked, self.keys))

    def _taking_part(self, call: AggregateCall, columns: Columns) -> int:
        """The keys, then the values that take part.

        A FILTER takes rows away: NULL in their place might be a value.
        """
        node = self._selected(columns)
        if call.filter is not None:
            selected = self._selection(columns)
            node = self.builder.add(Filter(Column(len(selected) - 1, pa.bool_())), node)
            kept = tuple(Column(i, c.type, c.nullable) for i, c in enumerate(selected[:-1]))
            node = self.lowering.map(node, kept, schema_of(kept))
        nullable = (i for i in required(call) if self.argument(columns[i]).nullable)
        return self._without_nulls(node, tuple(nullable))

    def _parts(self, node: int, split: Split) -> int:
        keys = len(self.keys)
        parts = self.builder.placed(self.builder.add(CombineParts(keys, split), node), self.keys)
        return self._trace(Integrate(self.keys, sums=(keys + len(split.index),)), parts)

    def _distinct_rows(self, node: int) -> int:
        node = self.builder.placed(node, self.keys)
        rows = self.builder.add(Integrate(self.builder.placement(node)), node)
        return self.builder.add(Distinct(), rows)

    def _selected(self, columns: Columns) -> int:
        """The keys, then these arguments."""
        selection = self._selection(columns)
        return self.lowering.map(self.input(), selection, schema_of(selection))

    def _selection(self, columns: Columns) -> tuple[Column, ...]:
        return (*self._key_columns(), *(Column(i, self.argument(i).type) for i in columns))

    def _key_columns(self) -> tuple[Column, ...]:
        return tuple(Column(i, key.type, key.nullable) for i, key in enumerate(self.plan.keys))

    def _without_nulls(self, node: int, values: Columns) -> int:
        """values: positions after the keys."""
        for i in values:
            index = len(self.keys) + i
            column = Column(index, self.builder.nodes[node].schema.field(index).type)
            condition = Call("is_not_null", (column,), pa.bool_(), nullable=False)
            node = self.builder.add(Filter(condition), node)
        return node

    def _trace(self, operator: Integrate, node: int) -> int:
        trace = self.builder.add(operator, node)
        if trace not in self.traces:
            self.traces.append(trace)
        return self.traces.index(trace)
