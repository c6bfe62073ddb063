"""What the JVM has, as Python has it."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.declared.spark.scala import columns_of, each, name_of, option, pairs, spelled

pytestmark = pytest.mark.spark


def test_collections_options_names_and_columns(spark: Any) -> None:
    jvm = spark._jvm
    assert [*each(jvm.PythonUtils.toSeq(["a", "b"]))] == ["a", "b"]
    assert [*each(())] == []
    assert option(jvm.scala.Option.apply(3)) == 3
    assert option(jvm.scala.Option.apply(None)) is None
    assert pairs(jvm.PythonUtils.toScalaMap({"x": "1"})) == {"x": "1"}
    some, none = jvm.scala.Option.apply("my db"), jvm.scala.Option.apply(None)
    identifier = jvm.org.apache.spark.sql.catalyst.TableIdentifier
    assert name_of(identifier("t", some, none)) == "`my db`.`t`"
    assert spelled(identifier("t", some, none)) == "my db.t"
    schema = spark.sql("SELECT 1 AS a, array('x') AS b")._jdf.schema()
    assert columns_of(schema) == {"a": "INT", "b": "ARRAY<STRING>"}
