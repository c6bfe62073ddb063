"""What lineage asks of rows, asked of the engine: a plan over rows at hand, evaluated once.

A demand is a set of values that expressions over a relation's columns may have. The rows that meet it are a
semijoin with those values, in which NULL is NULL, as in GROUP BY:

    σ[d](a) = a ⋉[e₁ <=> v₁, e₂ <=> v₂, …] V

Tracing a row through operators by such queries is after Cui and Widom, "Practical Lineage Tracing in Data
Warehouses", ICDE 2000.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from dbsp.circuits.errors import EvaluationError
from dbsp.circuits.expressions.nodes import Column, Expression
from dbsp.circuits.steps.evaluation import evaluate
from dbsp.circuits.traces.zset import ZSet
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.nodes import Distinct, Join, Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Table, View
from dbsp.sql.plans.schemas import Field, Schema, arrow_schema, columns_of_schema

_ANSWER = "answer"


@dataclass(frozen=True, eq=False)
class Demand:
    """expressions: over a relation's columns. values: what they may be, each once; as many columns."""

    expressions: tuple[Expression, ...]
    values: ZSet

    def only(self, keep: Callable[[Expression], bool]) -> list[Demand]:
        """What follows from it for those of the expressions alone; nothing where none is."""
        kept = [i for i, expression in enumerate(self.expressions) if keep(expression)]
        if len(kept) == len(self.expressions):
            return [self]
        if not kept:
            return []
        values = ZSet(self.values.rows.select(kept), self.values.weights)
        return [Demand(tuple(self.expressions[i] for i in kept), values)]

    def over(self, expressions: Sequence[Expression]) -> Demand:
        """The same values of other expressions."""
        return Demand(tuple(expressions), self.values)


def relation(name: str, schema: Schema) -> Scan:
    """To be bound to rows when it is evaluated."""
    return Scan(name, schema)


def evaluated(plan: Plan, relations: Mapping[str, ZSet], clock: datetime | None = None) -> ZSet:
    """The plan's rows, consolidated. relations: of each that it scans, whose columns go by position.

    Raises dbsp.circuits.errors.Error for a row that has no value. Cost: of all rows.
    """
    scans: dict[str, Schema] = {}
    _scans(plan, scans)
    tables = {name: _table(name, schema) for name, schema in scans.items()}
    view = View(_ANSWER, plan.schema, "view", plan, append_only=False, location="")
    circuit = lower(tables, {_ANSWER: view})
    rows = evaluate(circuit, {name: [relations[name]] for name in scans}, clock)[_ANSWER]
    return consolidated(rows, plan.schema)


def _scans(plan: Plan, found: dict[str, Schema]) -> None:
    if isinstance(plan, Scan):
        found[plan.relation] = plan.schema
    for input_ in plan.inputs:
        _scans(input_, found)


def _table(name: str, schema: Schema) -> Table:
    return Table(name, schema, (), False, True, None, {}, "")


def consolidated(rows: ZSet, schema: Schema) -> ZSet:
    """Each row once, under these columns' names."""
    return rows.consolidate().under(arrow_schema(schema))


def empty(schema: Schema) -> ZSet:
    return ZSet.empty(arrow_schema(schema))


def matching(rows: ZSet, schema: Schema, demands: Iterable[Demand]) -> ZSet:
    """The rows that meet all demands, as far as that can be told: a computed value may be of no use for rows
    that a filter above leaves out, and then who asked has to ask once more of what it makes of them.
    """
    for demand in demands:
        if len(rows):
            try:
                rows = _met(rows, schema, demand)
            except EvaluationError:
                for plain in demand.only(lambda e: isinstance(e, Column)):
                    rows = _met(rows, schema, plain)
    return rows


def _met(rows: ZSet, schema: Schema, demand: Demand) -> ZSet:
    wanted = tuple(Field(f"v{i}", e.type) for i, e in enumerate(demand.expressions))
    join = Join(
        relation("rows", schema),
        relation("values", wanted),
        "semi",
        demand.expressions,
        columns_of_schema(wanted),
        (True,) * len(wanted),
        None,
        schema,
    )
    return evaluated(join, {"rows": rows, "values": demand.values})


def values_of(rows: ZSet, schema: Schema, expressions: Sequence[Expression]) -> ZSet:
    """What the expressions are of these rows, each combination once."""
    fields = tuple(Field(f"v{i}", e.type) for i, e in enumerate(expressions))
    if not len(rows):
        return empty(fields)
    plan = Distinct(Project(relation("rows", schema), tuple(expressions), fields))
    return evaluated(plan, {"rows": _once(rows)})


def _once(rows: ZSet) -> ZSet:
    return ZSet(rows.rows, np.ones(len(rows), dtype=np.int64))


def demand_of(rows: ZSet, schema: Schema, expressions: Sequence[Expression]) -> Demand:
    """That the expressions are what they are of some of these rows."""
    return Demand(tuple(expressions), values_of(rows, schema, expressions))


def columns(rows: ZSet, schema: Schema, first: int, last: int) -> Demand:
    """That a relation of the columns from first to last, without it, has what these rows have there."""
    there = columns_of_schema(schema)[first:last]
    own = tuple(Column(c.index - first, c.type, c.nullable) for c in there)
    return Demand(own, values_of(rows, schema, there))
