"""A translated plan with Catalyst's name of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dbsp.sql.plans.nodes import Project, Values
from dbsp.sql.plans.nodes.project import ONE, TRUE, only_rows
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import columns_of_schema

# One row, for SELECT without FROM.
ONE_ROW = Values(((TRUE,),), ONE)
_NONE = -1  # the id of the column of a relation of which none is left


@dataclass(frozen=True)
class Relation:
    """ids: Catalyst's expression id of each column of the plan."""

    plan: Plan
    ids: tuple[int, ...]

    @property
    def position(self) -> Mapping[int, int]:
        return {id_: index for index, id_ in enumerate(self.ids)}


def without_columns(plan: Plan) -> Relation:
    """The plan's rows, of which no column is left."""
    return Relation(only_rows(plan), (_NONE,))


def with_columns(relation: Relation) -> Relation:
    """The relation, where it has columns, without those that nobody reads."""
    kept = [i for i, id_ in enumerate(relation.ids) if id_ != _NONE]
    if len(kept) in (0, len(relation.ids)):
        return relation
    columns, schema = columns_of_schema(relation.plan.schema), relation.plan.schema
    plan = Project(relation.plan, tuple(columns[i] for i in kept), tuple(schema[i] for i in kept))
    return Relation(plan, tuple(relation.ids[i] for i in kept))
