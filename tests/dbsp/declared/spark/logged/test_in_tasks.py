from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbsp.circuits.errors import DataError
from dbsp.declared.logs.pieces import Piece, Pieces
from dbsp.declared.spark.logged.in_tasks import in_tasks
from dbsp.pipeline.pipeline import Pipeline

pytestmark = pytest.mark.spark
SCHEMA = pa.schema([("a", pa.int64()), ("unread", pa.string()), ("p", pa.string())])
TEXT = "CREATE TABLE t (a BIGINT NOT NULL, unread STRING, p STRING); CREATE VIEW v AS SELECT a, p FROM t;"


def pieces(folder, numbers):
    return Pieces(str(folder), SCHEMA, tuple(Piece(f"{n}.parquet", {"p": f"p{n}"}) for n in numbers))


def test_rows_are_those_of_the_pieces(spark, tmp_path):
    for number in range(20):
        rows = pa.table({"a": [number] * number, "unread": ["x"] * number})
        pq.write_table(rows, tmp_path / f"{number}.parquet", row_group_size=3)
    with Pipeline(sql=TEXT, spark=spark) as p:
        p.insert("t", in_tasks(spark, pieces(tmp_path, range(20))))
        assert p.queued == {"t": 190}
        p.step()
        p.delete("t", in_tasks(spark, pieces(tmp_path, (3, 4))))
        p.step()
        left = Counter({(n, f"p{n}"): n for n in range(20) if n not in (3, 4)})
        assert Counter((row["a"], row["p"]) for row in p["v"].batch().to_pylist()) == +left
        p.replace("t", in_tasks(spark, pieces(tmp_path, (5,))))
        p.step()
        assert p["v"].batch().to_pylist() == [{"a": 5, "p": "p5"}] * 5
        p.insert("t", in_tasks(spark, pieces(tmp_path, ())))
        assert p.queued == {}


def test_what_is_wrong_is_said_as_it_is_here(spark, tmp_path):
    pq.write_table(pa.table({"a": [1, None]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "2.parquet")
    with Pipeline(sql=TEXT, spark=spark) as p:
        with pytest.raises(DataError, match=r"table 't'.*column 'a'"):
            p.insert("t", in_tasks(spark, pieces(tmp_path, (1,))))
        with pytest.raises(DataError, match=r"2\.parquet: column 'a' is string, not int64"):
            p.insert("t", in_tasks(spark, pieces(tmp_path, (2,))))
        assert p.queued == {}
