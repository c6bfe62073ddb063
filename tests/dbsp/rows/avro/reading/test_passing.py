"""Fields without a column: what follows them is read as if they weren't there, whatever they are."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from dbsp.rows.avro.reading.decoder import Avro
from tests.dbsp.rows.avro.reading.test_decoder import encoded
from tests.dbsp.rows.avro.reading.test_resolution import PASSED, record


@pytest.mark.parametrize(("type_", "value"), [*PASSED, ("int", -5), ("bytes", b"ab"), ("float", 0.5)])
def test_what_is_passed(type_: Any, value: Any) -> None:
    fields = [{"name": "x", "type": type_}, {"name": "maybe", "type": ["null", "string"]}]
    schema = record([*fields, {"name": "a", "type": "int"}])
    messages = encoded(schema, [{"x": value, "maybe": (None, "y")[i % 2], "a": i} for i in range(5)])
    found, why = Avro(json.dumps(schema), pa.struct([("a", pa.int32())])).decode(
        pa.array(messages, pa.binary())
    )
    assert [row["a"] for row in found.to_pylist()] == [0, 1, 2, 3, 4], why
