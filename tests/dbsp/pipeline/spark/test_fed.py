"""What sources and sinks ask of a pipeline is what a pipeline has; and the session that they work in."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.fed import Fed, spark_of
from dbsp.running.inline import InlineRunner
from dbsp.running.spark.runner import SparkRunner
from tests.dbsp.build import pipeline


def test_a_pipeline_has_what_is_asked_of_it() -> None:
    with pipeline() as p:
        for name, asked in inspect.getmembers(Fed, inspect.isfunction):
            if name.startswith("_"):
                continue
            given = inspect.signature(getattr(Pipeline, name)).parameters
            assert {*inspect.signature(asked).parameters} <= {*given}, name
        for name in (*Fed.__annotations__, "last_step", "due", "queued"):
            assert hasattr(p, name), name


@pytest.mark.spark
def test_the_session_is_the_runners_else_the_pipelines_else_the_active_one(spark: Any) -> None:
    other = spark.newSession()
    fed: Any = SimpleNamespace(runner=SparkRunner(other), spark=spark)
    assert spark_of(fed) is other
    assert spark_of(SimpleNamespace(runner=InlineRunner(), spark=other)) is other  # type: ignore[arg-type]
    found = spark_of(SimpleNamespace(runner=InlineRunner(), spark=None))  # type: ignore[arg-type]
    assert found.sparkContext is spark.sparkContext
