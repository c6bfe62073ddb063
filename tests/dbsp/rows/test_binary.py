"""Of a batch only what can't be decoded is set aside, and NULL stays NULL."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from dbsp.circuits.errors import DataError
from dbsp.rows.avro import Avro
from dbsp.rows.binary import CORRUPT, decode_batch
from tests.dbsp.rows.avro.test_reading import encoded


def test_bad_ones_alone() -> None:
    schema = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}
    decoder = Avro(json.dumps(schema), pa.struct([("a", pa.int64())]))
    one, two = encoded(schema, [{"a": 1}, {"a": 2}])
    values = pa.array([one, None, b"", two + b"x", two], pa.binary())
    found = decode_batch(decoder, values, True).to_pylist()
    assert found[1] is None
    assert [(r["a"], r[CORRUPT]) for r in found if r] == [(1, None), (None, ""), (None, "0478"), (2, None)]
    with pytest.raises(DataError, match="can't be decoded"):
        decode_batch(decoder, values, False)
