"""Which runner a name is: in process without a word of Spark, else the session's."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from dbsp.pipeline.runners import runner_of
from dbsp.running.inline import InlineRunner
from dbsp.running.spark.runner import SparkRunner

ASKED = """
import sys
from dbsp.pipeline.runners import runner_of
runner_of("inline", None)
print([name for name in sys.modules if name.split(".")[0] in ("pyspark", "py4j")])
"""


@pytest.mark.slow
def test_the_inline_runner_does_not_pay_for_spark() -> None:
    assert isinstance(runner_of("inline", None), InlineRunner)
    ran = subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.spark
def test_the_other_runs_in_the_session(spark: Any) -> None:
    runner = runner_of("spark", spark)
    assert isinstance(runner, SparkRunner)
    assert runner.session is spark
