"""What a session says of how queries are meant is told from what a program has."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.sql.catalyst.jvm.meaning import MEANING, other_meaning


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({}, None),
        ({"spark.sql.ansi.enabled": "TRUE", "spark.sql.shuffle.partitions": "2"}, None),
        ({"spark.sql.ansi.enabled": False}, ("spark.sql.ansi.enabled = False", "true")),
        ({"spark.sql.caseSensitive": "true"}, ("spark.sql.caseSensitive = true", "false")),
    ],
)
def test_the_first_that_is_another(said: dict[str, object], found: object) -> None:
    assert other_meaning(said.get) == found


@pytest.mark.spark
def test_sparks_defaults_are_those(spark: Any) -> None:
    assert {name: spark.conf.get(name) for name in MEANING} == MEANING
