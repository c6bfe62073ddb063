"""Of which rows the first are enough; that they are is what tests/dbsp/queries/test_answer.py asks DuckDB."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column
from dbsp.queries.leading import leading_rows
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.nodes.leaves import Scan
from dbsp.sql.plans.nodes.project import Project, selected
from dbsp.sql.plans.nodes.sets import Union
from dbsp.sql.plans.nodes.top import Top
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.schemas import Field

V = (Field("a", pa.int64()), Field("b", pa.int64()))
SCAN = Scan("v", V)
A, B = Column(0, pa.int64()), Column(1, pa.int64())


def top(below: Plan, by: Column = A, partition: tuple[Column, ...] = (), ranking: str = "row_number") -> Top:
    return Top(below, partition, (SortOrder(by, True),), ranking, 7, False, below.schema)


def test_the_first_rows_of_a_view_are_enough() -> None:
    assert leading_rows(top(SCAN, B)) == {"v": (7, (SortOrder(B, True),))}
    assert leading_rows(selected(top(SCAN), [1], V[1:])) == {"v": (7, (SortOrder(A, True),))}


def test_an_order_of_what_is_selected_is_one_of_columns_below() -> None:
    assert leading_rows(top(selected(SCAN, [1, 0], (V[1], V[0])))) == {"v": (7, (SortOrder(B, True),))}


def test_all_rows_are_needed_otherwise() -> None:
    assert leading_rows(top(SCAN, partition=(B,))) == {}
    assert leading_rows(top(SCAN, ranking="dense_rank")) == {}
    assert leading_rows(SCAN) == {}
    made = Project(SCAN, (Call("abs", (A,), pa.int64()),), V[:1])
    assert leading_rows(top(made)) == {}


def test_a_view_that_is_read_twice_is_read_whole() -> None:
    assert leading_rows(Union((top(SCAN), SCAN), V)) == {}
