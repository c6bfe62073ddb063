"""Rows in an order that they don't tell."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column
from dbsp.queries.arranged import Arranged
from dbsp.sql.plans.calls import SortOrder
from dbsp.views.view import Contents
from tests.generators.columns.zsets import zset_of

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.int64())])


def test_each_row_has_its_own_place() -> None:
    rows = zset_of(SCHEMA, [(("x", 3), 2), (("y", 2), 1), (("x", 1), 1), (("z", 4), 0)])
    wide = Contents("q", SCHEMA, [rows], order=[SortOrder(Column(1, pa.int64()))], step=7)
    found = Arranged(wide, 1)
    expected = [{"a": "x"}, {"a": "y"}, {"a": "x"}, {"a": "x"}]
    assert found.batch().to_pylist() == found.rows() == found.in_order(None).to_pylist() == expected
    assert found.page(1, 2)[0].to_pylist() == expected[1:3]
    assert (found.page(0, 9)[1], len(found), found.step, found.schema.names) == (4, 4, 7, ["a"])
    by = [SortOrder(Column(0, pa.string()), True)]
    assert found.page(0, 2, by)[0].to_pylist() == [{"a": "y"}, {"a": "x"}]
    assert found.in_order(by).to_pylist() == [{"a": "y"}, {"a": "x"}, {"a": "x"}, {"a": "x"}]
    assert found.where({"a": "x"}).rows() == [{"a": "x"}] * 3
