"""Nobody who asks for no traces pays for them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dbsp.circuits.errors import DataError
from dbsp.running.observed import Observed

STEPS = """
import sys
from dbsp.pipeline.pipeline import Pipeline

with Pipeline(sql="CREATE TABLE t (x INT); CREATE VIEW v AS SELECT x FROM t;", runner="inline") as pipeline:
    pipeline.insert("t", [(1,)])
    pipeline.step()
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""


def test_what_fails_fails_all_the_same() -> None:
    with pytest.raises(DataError, match="no row"), Observed(None).attempt(1):
        raise DataError("no row")


@pytest.mark.spark
def test_nothing_of_opentelemetry_is_imported() -> None:
    subprocess.run([sys.executable, "-c", STEPS], check=True)
