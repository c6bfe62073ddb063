"""Project: columns computed of each row; and what is made of columns elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.expressions.monotone import Bounds
from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal, columns_of, remap
from dbsp.circuits.progress.bounds import projected
from dbsp.sql.plans.calls import AggregateCall, Change
from dbsp.sql.plans.expressions.nulls import kept_columns
from dbsp.sql.plans.families import OneInput
from dbsp.sql.plans.legal import check_columns, check_types
from dbsp.sql.plans.plan import Plan, Position
from dbsp.sql.plans.schemas import Field, Key, Schema
from dbsp.sql.plans.shown.spelling import spell

# the column of rows without any
TRUE = Literal(True, pa.bool_())
ONE = (Field("one", pa.bool_(), nullable=False),)
# between timestamps and their microseconds
_ONE_TO_ONE = {"precise_timestamp_conversion", "known_not_null"}
_SAME_VALUE = {"cast", "normalize_na_n_and_zero"}


@dataclass(frozen=True, slots=True)
class Project(OneInput):
    expressions: tuple[Expression, ...]
    schema: Schema

    def with_expressions(self, change: Change) -> Project:
        return replace(self, expressions=tuple(map(change, self.expressions)))

    def verify(self) -> None:
        check_columns(self, self.expressions, self.input.schema)
        check_types(self, self.expressions, self.schema)

    def append_only(self, relations: Mapping[str, bool]) -> bool:
        """append_only(linear(a)) = append_only(a)"""
        return self.input.append_only(relations)

    def stream_key(self, relations: Mapping[str, Key]) -> Key:
        """key(π a) = key(a), where π keeps all of it: a column that it keeps is best.

        π also keeps a column that it puts into a struct, or shifts by a constant, as a window's end is.
        """
        key = self.input.stream_key(relations)
        if key is None:
            return None
        kept: dict[int, int] = {}
        for i, expression in enumerate(self.expressions):
            for column in _told_by(expression):
                if column not in kept or isinstance(expression, Column) > isinstance(
                    self.expressions[kept[column]], Column
                ):
                    kept[column] = i
        return tuple(dict.fromkeys(kept[column] for column in key)) if kept.keys() >= set(key) else None

    def asked_for(self, relations: Mapping[str, Set[int]]) -> Set[int]:
        """never(π a): the columns of never(a) that are kept, and the windows of times among them"""
        return kept_columns(self.expressions, self.input.never_null(relations))

    def monotonic(self, relations: Mapping[str, Bounds]) -> Bounds:
        return projected(self.expressions, self.input.monotonic(relations))

    def obstacle(self, growing: Set[str]) -> str | None:
        return None

    def named(self) -> Project:
        return replace(self, schema=named_columns(self.expressions, self.schema, self.input.schema))

    def pruned(self, needed: Set[int]) -> tuple[Plan, Position]:
        """need(π[e…](a)) = columns of the kept e

        Of a column that is there twice, as one that Catalyst orders by beside its alias, one is kept. What
        nobody reads isn't computed, as it may fail: where nothing is, the first column stays if it is there.
        """
        if not needed:
            below, moved = self.input.pruned(needed)
            there = self.expressions[0]
            if isinstance(there, Column) and there.index in moved:
                return Project(below, (remap(there, moved),), self.schema[:1]), {0: 0}
            return only_rows(below), {}
        first = {self._copied(i): i for i in sorted(needed, reverse=True)}
        kept = sorted(first.values())
        expressions = [self.expressions[i] for i in kept]
        below, moved = self.input.pruned(columns_in(expressions))
        schema = tuple(self.schema[i] for i in kept)
        narrower = Project(below, tuple(remap(e, moved) for e in expressions), schema)
        place = {old: new for new, old in enumerate(kept)}
        return narrower, {i: place[first[self._copied(i)]] for i in needed}

    def _copied(self, i: int) -> object:
        """The same of columns that are copies of one."""
        expression = self.expressions[i]
        return (expression, self.schema[i].nullable) if isinstance(expression, Column) else i

    @property
    def cost(self) -> str:
        return "linear"

    @property
    def spelled(self) -> str:
        parts = []
        for expression, field in zip(self.expressions, self.schema, strict=True):
            text = spell(expression, self.input.schema)
            inner = isinstance(expression, Call) and field.name == expression.function
            parts.append(text if inner or text == field.name else f"{text} AS {field.name}")
        return "project " + ", ".join(parts)


def _told_by(expression: Expression) -> set[int]:
    """The columns whose values can be told from the expression's value."""
    if isinstance(expression, Column):
        return {expression.index}
    if not isinstance(expression, Call):
        return set()
    if expression.function == "create_named_struct":
        return set[int]().union(*map(_told_by, expression.arguments[1::2]))
    if expression.function in _ONE_TO_ONE:
        return _told_by(expression.arguments[0])
    if expression.function in ("add", "subtract") and isinstance(expression.arguments[1], Literal):
        data_type = expression.type
        same = pt.is_integer(data_type) and expression.option("evalMode", "ANSI") == "ANSI"
        return _told_by(expression.arguments[0]) if same else set()
    return set()


def columns_in(expressions: Iterable[Expression]) -> set[int]:
    """Those that any of them reads."""
    return {column for expression in expressions for column in columns_of(expression)}


def selected(plan: Plan, columns: Sequence[int], schema: Schema | None = None) -> Plan:
    """The plan's columns in that order, under `schema`'s names; the plan itself where nothing changes."""
    schema = schema or tuple(plan.schema[i] for i in columns)
    if list(columns) == list(range(len(plan.schema))) and schema == plan.schema:
        return plan
    fields = [plan.schema[i] for i in columns]
    expressions = tuple(Column(i, f.type, f.nullable) for i, f in zip(columns, fields, strict=True))
    return Project(plan, expressions, schema)


def only_rows(plan: Plan) -> Project:
    """The plan's rows, of which no column is left. A batch without columns has no rows, so there is one."""
    return Project(plan, (TRUE,), ONE)


def narrowed(plan: Plan, needed: Set[int]) -> tuple[Plan, Position]:
    """No more than the needed columns, in their order, of copies the first; any one where none is needed."""
    pruned, position = plan.pruned(needed)
    if not needed:
        return selected(pruned, [0]), {}
    place = {at: new for new, at in enumerate(dict.fromkeys(position[i] for i in sorted(needed)))}
    return selected(pruned, [*place]), {i: place[position[i]] for i in needed}


def exactly(plan: Plan, needed: Set[int]) -> Plan:
    """The needed columns, in their order, copies too; the one of `only_rows` where none is needed."""
    pruned, position = plan.pruned(needed)
    if not needed:
        return pruned if pruned.schema == ONE else only_rows(pruned)
    return selected(pruned, [position[i] for i in sorted(needed)])


def named_columns(columns: Sequence[Expression | AggregateCall], schema: Schema, below: Schema) -> Schema:
    """A column keeps its source's name, also through a cast; another call has its function's."""
    return tuple(
        replace(field, name=_word(column, below)) for column, field in zip(columns, schema, strict=True)
    )


def _word(column: Expression | AggregateCall, below: Schema) -> str:
    if isinstance(column, Column):
        return below[column.index].name
    if isinstance(column, Call) and column.function in _SAME_VALUE:
        return _word(column.arguments[0], below)
    if isinstance(column, Call) and column.function == "precise_timestamp_conversion":
        return "window_time"
    return getattr(column, "function", "literal")


def in_other_columns(keys: Sequence[Expression], input_: Plan) -> tuple[Expression, ...]:
    """Keys over a plan's columns; one that it has just computed, over what that was made of, if it is there.

    Catalyst computes what windows are partitioned by in a projection of its own.
    """
    if not isinstance(input_, Project):
        return tuple(keys)
    passed = {e.index: i for i, e in enumerate(input_.expressions) if isinstance(e, Column)}
    made = [input_.expressions[key.index] if isinstance(key, Column) else key for key in keys]
    return tuple(
        remap(one, passed) if one is not key and passed.keys() >= {*columns_of(one)} else key
        for one, key in zip(made, keys, strict=True)
    )
