"""A plan is legal if each of its nodes is; one that isn't names itself."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.plans.nodes import Distinct, Filter, Join, Project, Union
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.verify import verify
from dbsp.sql.rules import apply_rules
from tests.sql.hand_made import INT, T, column, positive, project, schema

BROKEN = [
    Project(T, (Column(4, INT),), schema("x")),
    Project(T, (Column(0, pa.string()),), (Field("x", pa.string()),)),
    Project(T, (column(0),), (Field("x", pa.string()),)),
    Filter(T, column(0)),
    Join(T, T, "inner", (column(0),), (), (False,), None, (*T.schema, *T.schema)),
    Join(T, T, "inner", (), (), (), column(8), (*T.schema, *T.schema)),
    Union((T, T), schema("a")),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_plan_is_refused(broken: Plan) -> None:
    with pytest.raises(AssertionError, match=type(broken).__name__):
        apply_rules(broken)


@pytest.mark.parametrize("broken", BROKEN)
def test_also_below_legal_nodes(broken: Plan) -> None:
    with pytest.raises(AssertionError, match=type(broken).__name__):
        verify(Distinct(Distinct(broken)))


def test_a_legal_plan_passes() -> None:
    verify(Distinct(Filter(project(T, column(1), column(0)), positive(1))))
