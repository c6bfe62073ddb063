"""What a refresh asks, of a session."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.declared.spark.asking import Asking

pytestmark = pytest.mark.spark


def test_what_cant_be_maintained_is_computed(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "INSERT INTO t VALUES (1), (2)")
    planned = project.plan(
        "CREATE TEMPORARY VIEW v AS SELECT a, rand() < 2 AS yes FROM t;"
        "CREATE MATERIALIZED VIEW m AS SELECT a FROM v WHERE yes;"
        "CREATE MATERIALIZED VIEW r AS SELECT a, rand() AS x FROM t;"
    )
    around = Asking(project.spark)
    view, _, stored = sorted(planned.project.datasets, key=lambda one: "vmr".index(one.name[-2]))
    rows, count = around.recompute(planned.project, view)
    assert (rows.count(), count) == (2, 0)
    rows, count = around.recompute(planned.project, stored)
    assert (rows.count(), count) == (2, 2)
    assert around.directory(stored, ours=False).name == "r"
    table = planned.project.tables[0]
    assert around.look(table, pa.schema([("a", pa.int32())]), {}, compared=False).how == "appended"
    around.written(stored, repaired=False)
    assert len(project.rows("r")) == 2
