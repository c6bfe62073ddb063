"""Which OPTIONS need nothing of Spark's planning."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.pipeline.spark.direct.reading import PLANNING
from dbsp.pipeline.spark.direct.subscribed import Subscribed, subscribed
from tests.dbsp.build import VOTES, table

WHERE = table("t", VOTES)
NAMED = f"{WHERE.location}: table 't'"


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"subscribe": "a"}, Subscribed(NAMED, ("a",), False, None)),
        (
            {"Subscribe": "a, b", "startingOffsets": "Earliest", "maxOffsetsPerTrigger": "7"},
            Subscribed(NAMED, ("a", "b"), True, 7),
        ),
        ({"subscribe": "a", "minPartitions": "7"}, Subscribed(NAMED, ("a",), False, None)),
        ({"subscribePattern": "a.*"}, None),
        ({"subscribe": "a", "startingOffsets": '{"a": {"0": 5}}'}, None),
        ({"subscribe": "a", "startingTimestamp": "1000"}, None),
        ({"subscribe": "a", "minOffsetsPerTrigger": "7"}, None),
        ({"assign": '{"a": [0]}'}, None),
    ],
)
def test_what_is_read_ahead(options: dict[str, str], wanted: Subscribed | None) -> None:
    assert subscribed(replace(WHERE, options=options), PLANNING) == wanted
