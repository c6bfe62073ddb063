"""What another client reads is what was written, in text, in binary, and through COPY into a real server."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.serving.postgres import values
from dbsp.serving.postgres.values import data_rows
from tests.dbsp.serving.postgres.connected import Served, connected
from tests.dbsp.serving.postgres.test_transaction import writing
from tests.servers.postgres import Server, postgres

pytestmark = pytest.mark.slow  # clients and servers of others

TYPES = {
    "truth": "BOOLEAN",
    "tiny": "TINYINT",
    "small": "SMALLINT",
    "mid": "INT",
    "large": "BIGINT",
    "single": "FLOAT",
    "double": "DOUBLE",
    "exact": "DECIMAL(38, 9)",
    "few": "DECIMAL(5, 0)",
    "words": "STRING",
    "raw": "BINARY",
    "day": "DATE",
    "clock": "TIME",
    "moment": "TIMESTAMP",
    "local": "TIMESTAMP_NTZ",
}
ARROW = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DECIMAL(38, 9)": pa.decimal128(38, 9),
    "DECIMAL(5, 0)": pa.decimal128(5, 0),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIME": pa.time64("ns"),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
}
POSTGRES = {
    "BOOLEAN": "boolean",
    "TINYINT": "smallint",
    "SMALLINT": "smallint",
    "INT": "integer",
    "BIGINT": "bigint",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    "DECIMAL(38, 9)": "numeric(38, 9)",
    "DECIMAL(5, 0)": "numeric(5)",
    "STRING": "text",
    "BINARY": "bytea",
    "DATE": "date",
    "TIME": "time",
    "TIMESTAMP": "timestamptz",
    "TIMESTAMP_NTZ": "timestamp",
}
PROGRAM = f"""
CREATE TABLE given (number INT PRIMARY KEY, {", ".join(f"{name} {kind}" for name, kind in TYPES.items())});
CREATE VIEW held AS SELECT * FROM given;
"""
_LOW, _HIGH = dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)
UTC = st.just(dt.UTC)
SINGLE = 1 + list(TYPES).index("single")
SINGLES = st.floats(width=32, allow_nan=False)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "truth": st.booleans(),
    "tiny": st.integers(-128, 127),
    "small": st.integers(-(2**15), 2**15 - 1),
    "mid": st.integers(-(2**31), 2**31 - 1),
    "large": st.integers(-(2**63), 2**63 - 1),
    "single": SINGLES,
    "double": st.floats(allow_nan=False),
    "exact": st.decimals(-(10**28), 10**28, places=9),
    "few": st.integers(-99999, 99999).map(Decimal),
    "words": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    "raw": st.binary(max_size=20),
    "day": st.dates(),
    "clock": st.times(),
    "moment": st.datetimes(_LOW, _HIGH, timezones=UTC),
    "local": st.datetimes(_LOW, _HIGH),
}
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | value for name, value in VALUES.items()}), max_size=6
)


@pytest.fixture(scope="module")
def open_port() -> Any:
    with connected(program=PROGRAM) as served:
        yield served


@pytest.fixture(scope="module")
def real() -> Any:
    with postgres() as server:
        yield server


def _held(served: Served, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Make the view hold them."""
    pipeline = served.serving.pipeline
    numbered = [{"number": i, **row} for i, row in enumerate(rows)]
    with pipeline.turn:
        pipeline.replace("given", numbered)
        pipeline.step()
    return [(row["number"], *(row[name] for name in TYPES)) for row in numbered]


@given(rows=ROWS, binary=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_client_reads_what_was_written(open_port: Served, rows: list[dict[str, Any]], binary: bool) -> None:
    expected = _held(open_port, rows)
    with open_port.connect() as one, one.cursor(binary=binary) as cursor:
        cursor.execute("SELECT * FROM held")
        assert sorted(map(_singled, cursor.fetchall())) == expected


@pytest.mark.parametrize("form", ["text", "csv", "binary"])
@given(rows=ROWS)
@settings(max_examples=12, deadline=None)
def test_a_real_server_takes_what_copy_gives(
    open_port: Served, real: Server, form: str, rows: list[dict[str, Any]]
) -> None:
    """COPY of the view into a table of PostgreSQL, which then holds the same."""
    expected = _held(open_port, rows)
    columns = ", ".join(f"{name} {POSTGRES[kind]}" for name, kind in TYPES.items())
    with open_port.connect() as source, psycopg.connect(real.url) as target:
        target.execute("SET TIME ZONE 'UTC'")
        target.execute(f"CREATE TEMP TABLE held (number INT, {columns})")
        with (
            source.cursor().copy(f"COPY held TO STDOUT (FORMAT {form})") as reading,
            target.cursor().copy(f"COPY held FROM STDIN (FORMAT {form})") as writing,
        ):
            for piece in reading:
                writing.write(piece)
        found = target.execute("SELECT * FROM held ORDER BY number").fetchall()
        target.rollback()
    assert [*map(_singled, found)] == expected


def _singled(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A text of a FLOAT has the digits that tell it from other FLOATs, and psycopg reads it as a DOUBLE."""
    value = row[SINGLE]
    return row if value is None else (*row[:SINGLE], float(np.float32(value)), *row[SINGLE + 1 :])


def test_what_isnt_a_number_and_what_has_no_type_there() -> None:
    program = """
    CREATE TABLE given (id INT PRIMARY KEY, d DOUBLE, a ARRAY<INT>, i INTERVAL DAY TO SECOND);
    CREATE VIEW held AS SELECT * FROM given;
    """
    with connected(program=program) as served:
        rows = [
            {"id": 1, "d": "NaN", "a": [1, None], "i": 90_000_000},
            {"id": 2, "d": "-Infinity", "a": None, "i": None},
        ]
        served.http.posted("given", rows)
        for binary in (False, True):
            with served.connect() as one, one.cursor(binary=binary) as cursor:
                found = cursor.execute("SELECT * FROM held ORDER BY id").fetchall()
                assert str(found[0][1]) == "nan" and found[0][2] == [1, None] and found[1][1] == float("-inf")
                assert found[0][3] == "0 00:01:30"
                assert found[1][2:] == (None, None)


def test_many_rows_are_one_after_the_other() -> None:
    rows = pa.RecordBatch.from_pydict({"a": [1, None], "b": ["x", ""]})
    first = b"D" + (4 + 2 + 5 + 5).to_bytes(4, "big") + b"\0\2" + b"\0\0\0\x011" + b"\0\0\0\x01x"
    second = b"D" + (4 + 2 + 4 + 4).to_bytes(4, "big") + b"\0\2" + b"\xff\xff\xff\xff" + b"\0\0\0\0"
    assert data_rows(rows, [0, 0]) == first + second
    assert data_rows(rows.slice(1), [0, 0]) == second
    assert data_rows(rows.slice(2), [0, 0]) == b""


@given(ROWS, st.data())
def test_few_rows_are_spelled_as_many(rows: list[dict[str, Any]], drawn: st.DataObject) -> None:
    """One by one, or all at once by Arrow."""
    schema = pa.schema([(name, ARROW[kind]) for name, kind in TYPES.items()])
    batch = pa.RecordBatch.from_pylist(rows, schema=schema)
    formats = drawn.draw(st.lists(st.sampled_from([0, 1]), min_size=len(TYPES), max_size=len(TYPES)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "_FEW", -1)
        expected = data_rows(batch, formats)
    assert b"".join(data_rows(batch.slice(i, 1), formats) for i in range(len(rows))) == expected


def test_a_text_that_is_no_text_is_sent_as_it_is() -> None:
    """Whose bytes Spark keeps, too."""
    broken = pa.array([b"a\xff"], pa.binary()).view(pa.string())
    batch = pa.RecordBatch.from_arrays([broken], names=["words"])
    assert data_rows(batch, [0]) == b"D\0\0\0\x0c\0\1\0\0\0\2a\xff"


def test_variants_and_times_of_day_by_every_door() -> None:
    """JSON in and out by HTTP, by INSERT and by COPY; what is in a variant can be asked for."""
    program = """
    CREATE TABLE given (id INT PRIMARY KEY, v VARIANT, c TIME);
    CREATE VIEW held AS SELECT id, v, v:a::INT AS a, c FROM given;
    """
    with connected(program=program) as served:
        served.http.posted(
            "given", [{"id": 1, "v": {"a": 5, "b": [1, None]}, "c": "10:00"}, {"id": 2, "v": None}]
        )
        with writing(served) as one, one.cursor() as cursor:
            cursor.execute("INSERT INTO given VALUES (3, parse_json('{\"a\": 7}'), '11:11:00.5')")
            cursor.execute("INSERT INTO given VALUES (4, parse_json(%s), %s)", ("[1]", dt.time(12, 0, 0, 5)))
            with cursor.copy("COPY given FROM STDIN") as copy:
                copy.write_row((5, '{"a": 1.0}', "13:00"))
            cursor.execute("UPDATE given SET c = '14:14' WHERE v:a::INT = 7")
            one.commit()
        held = [
            (1, {"a": 5, "b": [1, None]}, 5, dt.time(10)),
            (2, None, None, None),
            (3, {"a": 7}, 7, dt.time(14, 14)),
            (4, [1], None, dt.time(12, 0, 0, 5)),
            (5, {"a": 1.0}, 1, dt.time(13)),
        ]
        assert served.asked("SELECT * FROM held ORDER BY id") == held
        assert served.asked("SELECT id FROM held WHERE c = '14:14' OR v:a::INT = 5 ORDER BY id") == [
            (1,),
            (3,),
        ]
        found = served.http.get("/views/held", params={"c": "10:00"}).json()["rows"]
        assert found == [{"id": 1, "v": {"a": 5, "b": [1, None]}, "a": 5, "c": "10:00:00"}]
        shown = served.http.get("/openapi.json").json()["components"]["schemas"]["view.held"]["properties"]
        assert (shown["v"], shown["c"]["description"]) == ({"description": "VARIANT"}, "TIME(6)")
