"""What goes wrong has PostgreSQL's number, and no path."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.errors import DataError, NotKept
from dbsp.serving.answers import Refused
from dbsp.serving.postgres.answers import fields_of, state_of
from dbsp.serving.postgres.language.wrong import Wrong
from dbsp.serving.postgres.wire import BadMessage, Field


def test_numbers() -> None:
    assert state_of(Wrong("0A000", "no"), "/x") == ("0A000", "no")
    assert state_of(DataError("in /x/y"), "/x") == ("22000", "in the state/y")
    assert state_of(NotKept("gone"), "/x")[0] == "55000"
    assert state_of(Refused(503, "busy"), "/x")[0] == "57014"
    assert state_of(BadMessage("what"), "/x")[0] == "08P01"
    code, said = state_of(ValueError("secret"), "/x")
    assert code == "XX000" and "secret" not in said and "server's log" in said


def test_columns() -> None:
    schema = pa.schema([("a", pa.int32()), ("b", pa.string()), ("c", pa.decimal128(10, 2))])
    assert fields_of(schema) == [Field("a", 23, 4), Field("b", 25), Field("c", 1700, -1, (10 << 16) + 2 + 4)]
