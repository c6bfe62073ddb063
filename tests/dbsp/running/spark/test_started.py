"""The session that a user asks for: with settings, or the one that runs."""

from __future__ import annotations

from typing import Any

import pytest

import dbsp
from dbsp.circuits.errors import Error

pytestmark = pytest.mark.spark


def test_the_session_that_runs_is_taken_if_it_has_the_settings(spark: Any) -> None:
    same = dbsp.session(master="local[2]", conf={"spark.sql.shuffle.partitions": "2"})
    assert same.sparkContext is spark.sparkContext
    with pytest.raises(Error, match=r"already, without spark[.]jars[.]packages = g:a:1; stop"):
        dbsp.session(packages=["g:a:1"])
