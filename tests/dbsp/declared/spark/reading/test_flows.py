"""Of each flow it is known which tables it reads, and in which way."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.spark


def test_streams_tables_and_datasets_are_told_apart(project):
    project.sql("CREATE TABLE t (a INT) USING parquet", "CREATE TABLE s (a INT) USING parquet")
    read = project.plan(
        "CREATE STREAMING TABLE st AS SELECT s.a FROM STREAM s JOIN t ON s.a = t.a;"
        "CREATE MATERIALIZED VIEW m AS SELECT * FROM st UNION ALL SELECT * FROM s;"
        "SET spark.sql.shuffle.partitions = 3;"
    ).project
    flows = {flow.name.split("`")[-2]: flow for dataset in read.datasets for flow in dataset.flows}

    def names(found):
        return {name.split("`")[-2] for name in found}

    st, m = flows["st"], flows["m"]
    assert (names(st.streams), names(st.tables), names(st.as_they_are)) == ({"s"}, {"s", "t"}, {"t"})
    assert (names(m.streams), names(m.tables), names(m.inputs)) == (set(), {"s"}, {"st"})
    assert [*m.columns] == ["a"]


def test_a_function_in_python_is_a_plan_of_its_own(project):
    project.write(
        "from pyspark import pipelines as dp\n@dp.materialized_view\ndef m():\n    return spark.range(3)\n",
        "definitions.py",
    )
    read = project.plan("").project
    (flow,) = (flow for dataset in read.datasets for flow in dataset.flows)
    (name,) = read.definitions
    assert flow.query == f"SELECT * FROM `{name}`" and " in Python, " in name
