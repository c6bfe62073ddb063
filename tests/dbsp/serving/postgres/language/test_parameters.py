"""Values that clients bind, of every type, in text and binary: what is asked for is found."""

from __future__ import annotations

import asyncio
import datetime as dt
import struct
from decimal import Decimal
from typing import Any

import asyncpg
import psycopg
import pytest

from dbsp.circuits.errors import DataError
from dbsp.serving.postgres.language.parameters import Value, values_of
from dbsp.serving.postgres.language.types import (
    BYTEA,
    DAY,
    INT4,
    INT8,
    INTERVAL,
    JSONB,
    NUMERIC,
    TIME,
    TIMETZ,
    UUID,
)
from tests.dbsp.serving.postgres.connected import connected
from tests.dbsp.serving.postgres.test_values import PROGRAM, TYPES

pytestmark = pytest.mark.slow  # clients and servers of others

ROW: dict[str, Any] = {
    "truth": True,
    "tiny": -5,
    "small": -300,
    "mid": 70_000,
    "large": 2**40,
    "single": 1.5,
    "double": -2.25,
    "exact": Decimal("-12345678901234567890.000000012"),
    "few": Decimal("-20000"),
    "words": "it's \\ $1",
    "raw": b"\0\xff",
    "day": dt.date(1999, 12, 31),
    "moment": dt.datetime(1969, 12, 31, 23, 59, 59, 5, tzinfo=dt.UTC),
    "local": dt.datetime(2024, 2, 29, 1, 2, 3),
    "clock": dt.time(23, 59, 59, 5),
}


def test_each_type_is_found_by_its_value() -> None:
    async def by_asyncpg(port: int) -> list[str]:
        one = await asyncpg.connect(host="127.0.0.1", port=port, user="me", database="dbsp")
        try:
            found = []
            for name in TYPES:
                rows = await one.fetch(f"SELECT {name} AS it FROM held WHERE {name} = $1", ROW[name])
                assert [row["it"] for row in rows] == [ROW[name]], name
                found.append(name)
            return found
        finally:
            await one.close()

    with connected(program=PROGRAM) as served:
        with served.serving.pipeline.turn:
            served.serving.pipeline.insert("given", [{"number": 1, **ROW}, {"number": 2}])
            served.serving.pipeline.step()
        assert asyncio.run(by_asyncpg(served.port)) == list(TYPES)
        for name, value in ROW.items():
            for mark in ("%s", "%b", "%t"):
                query = f"SELECT {name} FROM held WHERE {name} = {mark}"
                assert served.asked(query, (value,)) == [(value,)], (name, mark)
            assert served.asked(f"SELECT {name} FROM held WHERE {name} = %s", (None,)) == []


def test_types_that_are_spelled_as_others() -> None:
    key = "12345678-1234-5678-1234-567812345678"
    assert values_of([UUID], [1], [bytes.fromhex(key.replace("-", ""))]) == [Value(UUID, key)]
    assert values_of([UUID], [0], [key.replace("-", "").upper().encode()]) == [Value(UUID, key)]
    assert values_of([JSONB], [1], [b"\1{}"]) == [Value(JSONB, "{}")]
    assert Value(JSONB, "{}").spark == "'{}'"
    sent = struct.pack("!qi", 36_000_000_000, -3600)
    assert values_of([TIMETZ], [1], [sent])[0].spark == "CAST('10:00:00' AS TIME)"
    assert Value(TIME, "23:59:59.999+00").spark == "CAST('23:59:59.999' AS TIME)"  # as JDBC sends it
    assert Value(INTERVAL, None).spark == "CAST(NULL AS INTERVAL DAY TO SECOND)"
    assert Value(BYTEA, "a\\000").spark == "X'6100'"


def test_a_value_that_doesnt_fit_is_said() -> None:
    assert values_of([INT4], [1], [b"\xff\xff\xff\xfe"]) == [Value(INT4, "-2")]
    with pytest.raises(DataError, match=r"parameter \$1 is no value of type number 23"):
        values_of([INT4], [1], [b"x"])
    assert values_of([TIME], [1], [struct.pack("!q", DAY - 1)]) == [Value(TIME, "23:59:59.999999")]
    with pytest.raises(DataError, match=r"parameter \$1 is no value of type number 1083"):
        values_of([TIME], [1], [struct.pack("!q", DAY)])  # 24:00, which Spark hasn't
    with pytest.raises(DataError, match=r"parameter \$1 is no value of type number 2950"):
        values_of([UUID], [1], [b"x"])
    with pytest.raises(DataError, match="'x' is no uuid"):
        values_of([UUID], [0], [b"x"])
    with pytest.raises(DataError, match="'1; DROP' is no number"):
        _ = Value(INT8, "1; DROP").spark
    with pytest.raises(DataError, match="'1e' is no number"):
        _ = Value(NUMERIC, "1e").spark
    with (
        connected() as served,
        pytest.raises(psycopg.errors.DataException, match="no number"),
        served.connect() as one,
    ):
        one.execute("SELECT * FROM latest WHERE id = %s", ("x",))
