"""What a module asks of its session, without a JVM."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.declared.spark.modules.planning import planning


def test_a_session_is_active_while_modules_run_and_no_longer():
    from pyspark.errors import utils  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415
    from pyspark.sql.connect.session import SparkSession as Connect  # noqa: PLC0415

    built, cached = SparkSession.Builder.getOrCreate, utils._enable_debugging_cache
    with planning({}) as session:
        assert Connect.active() is session
        assert SparkSession.builder.appName("x").getOrCreate() is session
        with pytest.raises(ProgramError, match=r"SparkSession.builder with a.b; set it in the spec's"):
            SparkSession.builder.config("a.b", "1").getOrCreate()
    assert (SparkSession.Builder.getOrCreate, utils._enable_debugging_cache) == (built, cached)
    assert Connect.getActiveSession() is None


def test_settings_of_the_project_are_known():
    with planning({"shop.least": "3", "spark.sql.shuffle.partitions": "7"}) as session:
        assert session.conf.get("shop.least") == "3"
        assert session.conf.get("shop.most", "9") == "9"
        assert session.conf.get("spark.sql.shuffle.partitions") == "7"
        with pytest.raises(ProgramError, match=r"no setting 'shop.most' .*there are: shop.least, spark.sql"):
            session.conf.get("shop.most")
        with pytest.raises(
            ProgramError, match=r"the setting spark\.sql\.ansi.enabled is known where the pipe"
        ):
            session.conf.get("spark.sql.ansi.enabled", "true")


def test_queries_are_plans_and_what_a_server_would_answer_is_refused():
    with planning({}) as session:
        plan = session.sql("SELECT 1 AS a")._plan.to_proto(session.client)
        assert plan.root.sql.query == "SELECT 1 AS a"
        for ask, said in (
            (
                lambda: session.sql("  -- first\n DROP TABLE t"),
                r"UNSUPPORTED_PIPELINE_SPARK_SQL_COMMAND.*'DROP'",
            ),
            (lambda: session.table("t").columns, "asks Spark while it is read"),
            (lambda: session.table("t").collect(), "asks Spark while it is read"),
            (lambda: session.range(3).toPandas(), "asks Spark while it is read"),
            (session.catalog.listTables, "asks Spark while it is read"),
        ):
            with pytest.raises(ProgramError, match=said):
                ask()
