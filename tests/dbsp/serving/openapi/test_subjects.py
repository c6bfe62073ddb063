"""Schemas of what a path is of: a view's rows, a table's in three ways."""

from __future__ import annotations

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.serving.openapi.subjects import subjects_of

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE t (id BIGINT PRIMARY KEY, n INT NOT NULL, s STRING);
CREATE TABLE `a b` (x INT);
CREATE LOCAL VIEW inner_one AS SELECT id FROM t;
CREATE VIEW v AS SELECT i.id, x FROM inner_one i JOIN `a b` ON i.id = x;
"""


def test_each_way_to_write_has_its_rows() -> None:
    with Pipeline(sql=PROGRAM, runner="inline") as pipeline:
        subjects = subjects_of(pipeline.program)
    ((view,), (table, odd), (none,)) = subjects.values()
    assert [name for name, _ in view.schemas()] == ["view.v"]
    schemas = dict(table.schemas())
    assert schemas["table.t"]["required"] == schemas["change.t"]["required"] == ["id", "n"]
    assert schemas["key.t"]["required"] == ["id"]
    marks = schemas["change.t"]["properties"].keys() - schemas["table.t"]["properties"].keys()
    assert marks == {"__weight", "__op"}
    assert (odd.name, odd.id) == ("a b", "a_b_2")
    assert odd.rows("key") == {"$ref": "#/components/schemas/key.a_b_2"}
    assert [*none.schemas()] == []
