"""Which runner a pipeline's steps go to, and which session reads its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbsp.running.runner import Runner
from dbsp.sql.plans.program import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbsp.evolution.evolve import ReadAgain


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


def read_again(program: Program, runner: Runner, spark: SparkSession | None) -> ReadAgain:
    """Reads sources by the runner's session; for the inline runner by the one that is given, or a new one."""
    from dbsp.pipeline.spark.backfill.reread import Rereading  # noqa: PLC0415
    from dbsp.pipeline.spark.fed import session_of  # noqa: PLC0415  as above

    return Rereading(session_of(runner, spark), program)
