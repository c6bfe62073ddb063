"""Which runner a pipeline's steps go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbsp.running.runner import Runner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def runner_of(name: str, spark: SparkSession | None) -> Runner:
    """name: 'inline' or 'spark'."""
    runner: Runner
    if name == "inline":
        from dbsp.running.inline import InlineRunner  # noqa: PLC0415

        runner = InlineRunner()
    else:
        from dbsp.running.spark.runner import SparkRunner  # noqa: PLC0415  the inline runner must not pay for it

        runner = SparkRunner(spark)
    return runner
