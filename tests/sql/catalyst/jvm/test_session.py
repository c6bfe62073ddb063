"""Catalyst in a session of its own, which leaves the given one as it is."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import Error
from dbsp.sql.catalyst import Catalyst


def test_a_session_without_a_jvm_is_refused() -> None:
    with pytest.raises(Error, match=r"the session is one of Spark Connect.* make a classic session"):
        Catalyst(object())  # type: ignore[arg-type]  as a Connect session is


@pytest.mark.spark
def test_types_and_what_is_none(spark: Any) -> None:
    catalyst = Catalyst(spark, "UTC")
    assert catalyst.column_type("DECIMAL(5, 2)") == "decimal(5,2)"
    assert catalyst.column_type("ARRAY<INT>")["elementType"] == "integer"
    assert "error" in catalyst.column_type("INTEGR")


@pytest.mark.spark
def test_a_relation_is_a_leaf_by_its_name(spark: Any) -> None:
    catalyst = Catalyst(spark, "UTC")
    catalyst.register("my `t`", [("a", "long", False)])
    dumped = catalyst.query("SELECT a + 1 AS x FROM `my ``t```")
    assert dumped["names"] == ["x"]
    (leaf,) = dumped["plan"]["k"]
    assert leaf["op"] == "LogicalRDD"
    name, _, type_, nullable, metadata = leaf["out"][0]
    assert (name, dumped["types"][type_], nullable, metadata) == (
        "a",
        "long",
        False,
        {"dbsp.relation": "my `t`"},
    )
    # the user's session knows nothing of it
    assert "my `t`" not in [table.tableName for table in spark.sql("SHOW TABLES").collect()]


@pytest.mark.spark
def test_an_error_is_dumped_with_its_place(spark: Any) -> None:
    error = Catalyst(spark, "UTC").query("SELECT nothing")["error"]
    assert error["condition"].startswith("UNRESOLVED_COLUMN")
    assert int(error["index"]) == 7


@pytest.mark.spark
def test_functions_have_names_that_spark_has_not(spark: Any) -> None:
    catalyst = Catalyst(spark, "UTC")
    assert catalyst.register_function("mine", ["long"], "string", False)
    assert not catalyst.register_function("abs", ["long"], "long", False)
    dumped = catalyst.query("SELECT mine(1) AS x")
    assert dumped["types"][dumped["plan"]["out"][0][2]] == "string"


@pytest.mark.spark
def test_formats_and_their_options(spark: Any) -> None:
    catalyst = Catalyst(spark, "UTC")
    assert catalyst.has_format("parquet")
    assert not catalyst.has_format("no.such.format")
    assert {"header", "basePath"} <= {*catalyst.options("csv")}
    assert catalyst.options("kafka") == []


@pytest.mark.spark
def test_a_text_is_no_way_to_what_the_process_knows(spark: Any) -> None:
    """Spark would put an environment variable, a property, a setting in its place, whoever asks."""
    texts = "${env:PATH}", "${system:java.home}", "${spark.app.id}", "${hiveconf:spark.app.id}"
    dumped = Catalyst(spark, "UTC").query("SELECT " + ", ".join(f"'{text}'" for text in texts))
    assert tuple(dumped["names"]) == texts
