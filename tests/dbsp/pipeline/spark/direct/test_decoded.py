"""Of a unit of messages what is decoded here, and the pieces that are left to Spark."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from dbsp.pipeline.spark.direct import decoded
from dbsp.pipeline.spark.direct.columns import RecordColumns
from dbsp.pipeline.spark.direct.decoded import Decoder
from dbsp.pipeline.spark.direct.messages import Messages
from dbsp.pipeline.spark.direct.placed import Placed
from dbsp.pipeline.spark.staging import Rows, Staging
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import table

FIELDS = (Field("n", pa.int64()),)


def unit(values: list[str]) -> Messages:
    held = pa.array([value.encode() for value in values], pa.large_binary())
    return Messages("t", 0, held, pa.nulls(len(held), pa.large_binary()), np.arange(len(held)))


@pytest.mark.parametrize("bad", [set(), {5}, {0, 63}, {*range(64)}, {*range(0, 64, 7)}])
def test_what_is_not_vouched_for_is_left_in_few_pieces(
    bad: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoded, "_LEAST", 4)
    of = table("t", FIELDS)
    decoder = Decoder(
        RecordColumns(of, FIELDS, "UTC"), Staging("", 0, Placed(Rows(of, 1, "UTC"))), {"x": "y"}, 1.0
    )
    refused: list[Messages] = []
    none: list[pa.RecordBatch] = []
    values = ["{" if at in bad else f'{{"n": {at}}}' for at in range(64)]
    rows = [*decoder.rows(unit(values), refused, none)]
    found = [n for _, part in rows for n in part.column("n").to_pylist()]
    left = [at for piece in refused for at in piece.offsets.tolist()]
    assert sorted(found + left) == [*range(64)] and bad <= {*left} and none == []
    assert [order for order, _ in rows] == sorted(order for order, _ in rows)
    edges = [(int(piece.offsets[0]), int(piece.offsets[-1])) for piece in refused]
    assert all(end + 1 < first for (_, end), (first, _) in pairwise(edges))
    if len(bad) < 3:
        assert len(left) <= 8 * len(bad)
