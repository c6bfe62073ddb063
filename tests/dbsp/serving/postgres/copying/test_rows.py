"""What a real server copies out is what comes in, of every type; and what comes in is what was copied out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import given

from dbsp.serving.postgres.copying import rows as module
from tests.dbsp.serving.postgres.connected import Served, connected
from tests.dbsp.serving.postgres.test_transaction import writing
from tests.dbsp.serving.postgres.test_values import POSTGRES, PROGRAM, ROWS, TYPES, _singled
from tests.effort import examples
from tests.servers.postgres import postgres

pytestmark = pytest.mark.slow  # clients and servers of others
NESTED = """
CREATE TABLE given (id INT PRIMARY KEY, a ARRAY<INT>, m MAP<STRING, DATE>,
  s STRUCT<x: DECIMAL(5, 2), y: STRING>,
  i INTERVAL DAY TO SECOND, j INTERVAL YEAR TO MONTH, t TIMESTAMP, b BINARY);
CREATE VIEW held AS SELECT * FROM given;
"""


@pytest.fixture(scope="module")
def port() -> Iterator[Served]:
    with connected(program=PROGRAM) as served:
        yield served


@pytest.fixture(scope="module")
def real() -> Iterator[psycopg.Connection[Any]]:
    columns = ", ".join(f"{name} {POSTGRES[kind]}" for name, kind in TYPES.items())
    with postgres() as server, psycopg.connect(server.url, autocommit=True) as one:
        one.execute("SET TIME ZONE 'UTC'")
        one.execute(f"CREATE TABLE given (number INT, {columns})")
        yield one


def _through(source: psycopg.Connection[Any], target: psycopg.Connection[Any], form: str) -> None:
    with (
        source.cursor().copy(f"COPY given TO STDOUT {form}".encode()) as reading,
        target.cursor().copy(f"COPY given FROM STDIN {form}".encode()) as writing,
    ):
        for piece in reading:
            writing.write(piece)


@pytest.mark.parametrize(
    "form",
    [
        *("", "(DELIMITER '|')", "(FORMAT csv, HEADER)", "(FORMAT csv, DELIMITER '-', NULL '1')"),
        "(FORMAT binary)",
    ],
)
@given(rows=ROWS)
@examples(10)
def test_both_ways(
    port: Served, real: psycopg.Connection[Any], form: str, rows: list[dict[str, Any]]
) -> None:
    numbered = [{"number": i, **row} for i, row in enumerate(rows)]
    expected = [(row["number"], *(row[name] for name in TYPES)) for row in numbered]
    places = ", ".join(["%s"] * (1 + len(TYPES)))
    pipeline = port.serving.pipeline
    with pipeline.turn:
        pipeline.replace("given", [])
        pipeline.step()
    real.execute("TRUNCATE given")
    with real.cursor() as cursor, pytest.MonkeyPatch.context() as patch, writing(port, True) as one:
        patch.setattr(module, "_AT_ONCE", 40)  # bytes, so that it comes in pieces
        if rows:
            cursor.executemany(f"INSERT INTO given VALUES ({places})".encode(), expected)
        _through(real, one, form)
        assert sorted(map(_singled, port.asked("SELECT * FROM held"))) == expected
        cursor.execute("TRUNCATE given")
        _through(one, real, form)
        assert [*map(_singled, real.execute("SELECT * FROM given ORDER BY number"))] == expected


def test_what_has_no_type_there_comes_back() -> None:
    rows = [
        {"id": 1, "a": [1, None], "m": [["x\ty", "2024-01-02"]], "s": {"x": "1.50", "y": 'a "b"'}},
        {"id": 2, "i": 90_061_000_001, "j": -13, "t": "2024-01-02T03:04:05.000006Z", "b": "AP8="},
        {"id": 3, "a": [], "m": [], "s": {"x": None, "y": None}, "i": -1, "b": ""},
    ]
    with connected(program=NESTED) as served, writing(served, True) as one:
        served.http.posted("given", rows)
        before = one.execute("SELECT * FROM held ORDER BY id").fetchall()
        for form in ("", "(FORMAT csv)", "(FORMAT binary)"):
            with one.cursor().copy(f"COPY given TO STDOUT {form}".encode()) as reading:
                data = b"".join(map(bytes, reading))
            one.execute("DELETE FROM given")
            with one.cursor().copy(f"COPY given FROM STDIN {form}".encode()) as copy:
                copy.write(data)
            assert one.execute("SELECT * FROM held ORDER BY id").fetchall() == before


def test_where_a_value_doesn_t_fit_is_said() -> None:
    wrong = {
        "id": "1.5",
        "a": "[1",
        "s": '{"x": "1234.5"}',
        "t": "noon",
        "b": "\\\\x0",
    }
    with connected(program=NESTED) as served, writing(served, True) as one:
        for column, value in wrong.items():
            lines = [f"{i}\t\\N\n" for i in range(5)] if column != "id" else ["1\n"]
            lines.append(f"7\t{value}\n" if column != "id" else f"{value}\n")
            names = "id" if column == "id" else f"id, {column}"
            with (
                pytest.raises(
                    psycopg.errors.BadCopyFileFormat,
                    match=f"row {len(lines)}: .* doesn't fit column '{column}'",
                ),
                one.cursor().copy(f"COPY given ({names}) FROM STDIN".encode()) as copy,
            ):
                copy.write("".join(lines))
        assert one.execute("SELECT count(*) FROM held").fetchall() == [(0,)]
