"""Of a batch only what can't be decoded is set aside, and NULL stays NULL."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError
from dbsp.rows.avro.reading.decoder import Avro
from dbsp.rows.binary import CORRUPT, WHY, decode_batch
from tests.dbsp.rows.avro.reading.test_decoder import encoded


def test_bad_ones_alone() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
    decoder = Avro(json.dumps(schema), pa.struct([("a", pa.int64())]))
    one, two = encoded(schema, [{"a": 1}, {"a": 2}])
    values = pa.array([one, None, b"", two + b"x", two], pa.binary())
    found = decode_batch(decoder, values, True).to_pylist()
    assert found[1] is None
    assert [(r["a"], r[CORRUPT]) for r in found if r] == [(1, None), (None, ""), (None, "0478"), (2, None)]
    assert [row[WHY] for row in found if row] == [
        None,
        "it ends too early",
        "it goes on behind its last field",
        None,
    ]
    with pytest.raises(DataError, match="in hexadecimal : it ends too early"):
        decode_batch(decoder, values, False)
