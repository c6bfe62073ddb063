from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbsp.declared.logs.pieces import Piece, Pieces
from dbsp.declared.spark.logged.frames import frame_of

pytestmark = pytest.mark.spark


def test_rows_are_those_of_the_pieces(spark, tmp_path):
    for number in range(20):
        pq.write_table(pa.table({"a": [number] * number}), tmp_path / f"{number}.parquet")
    schema = pa.schema([("a", pa.int64()), ("p", pa.string())])
    pieces = Pieces(str(tmp_path), schema, tuple(Piece(f"{n}.parquet", {"p": f"p{n}"}) for n in range(20)))
    frame = frame_of(spark, pieces, "a BIGINT, p STRING")
    assert sorted(map(tuple, frame.collect())) == [(n, f"p{n}") for n in range(20) for _ in range(n)]
    assert frame_of(spark, Pieces(str(tmp_path), schema, ()), "a BIGINT, p STRING").collect() == []
