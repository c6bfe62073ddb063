"""A translated plan with Catalyst's name of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Literal
from dbsp.sql.plans.plan import Plan, Values
from dbsp.sql.plans.schemas import Field

# One row, for SELECT without FROM. A batch without columns has no rows, so there is one that nobody reads.
ONE_ROW = Values(((Literal(True, pa.bool_()),),), (Field("one", pa.bool_(), nullable=False),))


@dataclass(frozen=True)
class Relation:
    """ids: Catalyst's expression id of each column of the plan."""

    plan: Plan
    ids: tuple[int, ...]

    @property
    def position(self) -> Mapping[int, int]:
        return {id_: index for index, id_ in enumerate(self.ids)}
